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
    UuidGenerator& ids;  // for jobs that somebody wrote into the file without an id
    // The log is not written anew while it is smaller than this many bytes; tests set it low.
    std::int64_t small_log = 1 << 20;
    // Told after each time that jobs.json was written; for tests and benchmarks.
    std::function<void()> on_jobs_written;
};

// Everything in memory, and in two files: jobs.json with the jobs, for people too (K-11), and
// beside it jobs.runs.jsonl, to which everything else is appended. For small installs: each change
// of a job writes the whole of jobs.json, though many changes at a time share one write.
//
// A jobs.json that cannot be read is set aside as jobs.bad.json, and an empty one begun (K-12).
Result<std::unique_ptr<store_kit::Backend>> OpenJson(const JsonOptions& options);

}  // namespace ksana::store_json
