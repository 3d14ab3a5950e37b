#pragma once

#include <optional>

#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/telemetry/traces/span.hpp"

namespace ksana::insight {

// Returns what an attempt did, from the detail that its executor left: "HTTP GET example.com" with
// the steps of the call, "command" with its exit code, "handler". Without ids and status. Nothing
// for a task of an agent, which is the attempt itself. `job` may be null.
std::optional<telemetry::Span> PartOfAttempt(const model::Run& run, const model::Attempt& attempt,
                                             const model::Job* job);

}  // namespace ksana::insight
