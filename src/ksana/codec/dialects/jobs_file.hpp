#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::codec {

// jobs.json as document K describes it (K-11). A job has the documented members in the documented
// order; what those cannot say follows under the names of a definition (job_view.hpp), and only
// where it differs from the default.
//
// The file is for people and other programs. It has the definition of a job and of what the engine
// keeps only last_run_at, next_run_at, last_status and last_error (K-16). JSON inside a job (input,
// payload) stands there as JSON, so its spelling may change.
struct JobsFile {
    std::int64_t version = 1;
    TimePoint updated_at{};
    std::vector<model::Job> jobs;
    friend bool operator==(const JobsFile&, const JobsFile&) = default;
};

// Pretty, two blanks a level.
std::string JobsFileToJson(std::span<const model::Job* const> jobs, TimePoint updated_at);

// Also what people write by hand: optional members left out, "" for no time. Every fault with its
// JSON Pointer; whether the jobs make sense is for ValidateJob, and whether two have the same id
// for the store. The last state is the one that the status names; "failed" may have been another.
Result<JobsFile> JobsFileFromJson(std::string_view text);

}  // namespace ksana::codec
