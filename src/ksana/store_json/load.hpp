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
    std::int64_t log_size = 0;   // bytes that count
    std::int64_t live_size = 0;  // estimated bytes of a rewritten log
    std::int64_t last_seq = 0;
    bool rewrite_log = false;  // parts of the log could not be read; a copy is kept
    bool rewrite_jobs = false;
};

// Fills empty tables from both files: definitions from jobs.json, which users may have edited, and
// the engine's bookkeeping and all other rows from the log. Returns kInvalidArgument if jobs.json
// has an id twice.
Result<Loaded> Load(const JsonOptions& options, store_memory::Tables& tables);

}  // namespace ksana::store_json
