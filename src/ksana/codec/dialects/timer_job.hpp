#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::codec {

// Jobs as the /jobs dialect speaks of them (K-14): the shape of jobs.json, with the timeout and the
// retries that hold where the job itself has none (K-08).
std::string TimerJobToJson(const model::Job& job, const model::PolicyDefaults& defaults);
std::string TimerJobsToJson(std::span<const model::Job> jobs,
                            const model::PolicyDefaults& defaults);

// What a client sends to make a job. What the service keeps (last_run_at, next_run_at, last_status,
// last_error) may be there, as in a copy of an answer, and is not looked at.
Result<model::Job> TimerJobFromJson(std::string_view text);

// Changes a job as a merge patch (RFC 7396) says: members that are not named stay, null takes one
// away. A schedule of another kind, and an action of another type, take the place of the old one as
// a whole. The id cannot be changed.
Result<void> PatchTimerJob(model::Job& job, std::string_view patch);

// The parameters of a run-now: a JSON object, or nothing. As text, written compactly.
Result<std::string> RunParametersFromJson(std::string_view text);

}  // namespace ksana::codec
