#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/store_memory/tables.hpp"

namespace ksana::store_json {

// Returns the log text of one transaction: every row of the journal in its current state, jobs with
// all their bookkeeping, and the commit mark without which the lines do not count.
std::string LogOf(const store_memory::Tables& tables, const store_memory::Tables::Journal& journal,
                  std::int64_t seq);

// Returns the whole tables as one transaction.
std::string LogOfAll(const store_memory::Tables& tables, std::int64_t seq);

// The content of a log.
struct Replayed {
    // Bytes up to and including the last commit mark; the rest does not count.
    std::int64_t size = 0;
    std::int64_t last_seq = 0;  // of the last commit mark
    std::int64_t lines = 0;     // up to the last commit mark
    int bad_lines = 0;          // of `lines`: could not be read
    std::int64_t damaged = 0;   // the first transaction that differs from its checksum; 0: none
    std::map<std::string, model::Job> jobs;
    std::map<std::string, model::Job> dropped;  // deleted jobs, as they were before; not in `jobs`
};

// Returns how many rows the tables hold, which is about how many lines LogOfAll writes.
std::int64_t RowsOf(const store_memory::Tables& tables);

// Puts all rows except the jobs into the tables. Ignores a transaction without its commit mark, and
// a torn last line.
Replayed Replay(std::string_view log, store_memory::Tables& tables);

}  // namespace ksana::store_json
