#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::store_json {

struct JsonOptions {
    std::string path = "data/jobs.json";
    Clock& clock;
    UuidGenerator& ids;  // for jobs that a user added to the file without an id
    // The log is not rewritten while it is smaller than this many bytes; tests set it low.
    std::int64_t small_log = 1 << 20;
    // Opens a damaged log with the lines of it that can be read, and keeps a copy.
    bool accept_damage = false;
    // Called each time jobs.json was written; for tests and benchmarks.
    std::function<void()> on_jobs_written;
};

// Opens a driver that keeps everything in memory and in two files: jobs.json with the definitions
// of the jobs, which users may edit (K-11), and beside it jobs.runs.jsonl, a log of every change.
// For small installs: each change of a job rewrites jobs.json, although concurrent changes share
// one write. `clock` and `ids` must outlive it. Returns kUnavailable if another process uses the
// files.
//
// Returns kDataLoss if the log is damaged: a transaction differs from its checksum, or an end that
// was not torn cannot be read. Nothing is changed then.
//
// A jobs.json that cannot be read is renamed to jobs.bad.json, and an empty one begun (K-12).
Result<std::unique_ptr<store_kit::Backend>> OpenJson(const JsonOptions& options);

}  // namespace ksana::store_json
