#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::codec {

// Return jobs in the form of the /jobs dialect (K-14): that of jobs.json, with the effective
// timeout and retries where the job sets none (K-08).
std::string TimerJobToJson(const model::Job& job, const model::PolicyDefaults& defaults);
std::string TimerJobsToJson(std::span<const model::Job> jobs,
                            const model::PolicyDefaults& defaults);

// Reads a job that a client sends. Members that the server keeps (last_run_at, next_run_at,
// last_status, last_error) are ignored, so that a copy of an answer can be sent back.
Result<model::Job> TimerJobFromJson(std::string_view text);

// Changes a job by a merge patch (RFC 7396): members that are not named stay, null removes one. A
// schedule of another kind, or an action of another type, replaces the old one as a whole. The id
// cannot be changed.
Result<void> PatchTimerJob(model::Job& job, std::string_view patch);

// Reads the parameters of a run-now: a JSON object, or nothing. Returns compact text.
Result<std::string> RunParametersFromJson(std::string_view text);

}  // namespace ksana::codec
