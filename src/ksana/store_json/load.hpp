#pragma once

#include <cstdint>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/store_json/open_json.hpp"
#include "ksana/store_memory/tables.hpp"

namespace ksana::store_json {

// jobs.json → jobs.runs.jsonl
std::string LogPathOf(const std::string& jobs_path);

struct Loaded {
    std::int64_t log_size = 0;   // what of the log counts
    std::int64_t live_size = 0;  // about what of that a new log would have
    std::int64_t last_seq = 0;
    bool rewrite_log = false;  // parts of it could not be read; a copy is kept
    bool rewrite_jobs = false;
};

// Fills empty tables from both files. What only one of them can know comes from it: definitions
// from jobs.json, which people may have edited, the engine's bookkeeping from the log.
Result<Loaded> Load(const JsonOptions& options, store_memory::Tables& tables);

}  // namespace ksana::store_json
