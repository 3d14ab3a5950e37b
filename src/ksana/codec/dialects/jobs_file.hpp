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

// Content of jobs.json as document K describes it (K-11). A job has the documented members in the
// documented order. What those cannot express follows under the names of a definition
// (v1/job_fields.hpp), if it differs from the default.
//
// The file is for users and other programs. It holds the definition of a job, and of its state only
// last_run_at, next_run_at, last_status and last_error (K-16). JSON inside a job (input, payload)
// is written as JSON, so its spelling may change.
struct JobsFile {
    std::int64_t version = 1;
    TimePoint updated_at{};
    std::vector<model::Job> jobs;
    friend bool operator==(const JobsFile&, const JobsFile&) = default;
};

// Returns the file with two blanks of indentation per level.
std::string JobsFileToJson(std::span<const model::Job* const> jobs, TimePoint updated_at);

// Also reads files written by hand: optional members may be absent, and "" means no time. Every
// fault has its JSON Pointer. ValidateJob checks the values, the store checks for repeated ids. The
// last state is the one that the status names: several states are written as "failed".
Result<JobsFile> JobsFileFromJson(std::string_view text);

}  // namespace ksana::codec
