#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/store_memory/tables.hpp"

namespace ksana::store_json {

// The text of one transaction: every row that the journal tells of, as it is now, and the mark that
// makes them count. Jobs go in with all their bookkeeping.
std::string LogOf(const store_memory::Tables& tables, const store_memory::Tables::Journal& journal,
                  std::int64_t seq);

// The whole of the tables as one transaction.
std::string LogOfAll(const store_memory::Tables& tables, std::int64_t seq);

// What a log held.
struct Replayed {
    std::int64_t size = 0;      // of what counts: up to the last mark
    std::int64_t last_seq = 0;  // of that mark
    std::int64_t lines = 0;     // up to that mark
    int bad_lines = 0;          // that could not be read and stand before that mark
    std::map<std::string, model::Job> jobs;
    std::map<std::string, model::Job> dropped;  // as they were; not among `jobs`
};

// How many rows the tables hold: about as many lines as LogOfAll writes.
std::int64_t RowsOf(const store_memory::Tables& tables);

// Puts everything but the jobs into the tables. A transaction without its mark, and a torn last
// line, never happened.
Replayed Replay(std::string_view log, store_memory::Tables& tables);

}  // namespace ksana::store_json
