#pragma once

#include "ksana/model/job/effective_policy.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/run/run_type.hpp"

namespace ksana::model {

// Returns the type of the job's runs; empty: none.
std::string RunTypeOf(const JobDefinition& job);

// Makes a run of a job, for a trigger other than a fire or as the template of a fire's run: the
// job's settings with its current effective policy. `type` may be null. Sets no id, nominal time or
// ready time.
Run RunOf(const Job& job, const RunType* type, const PolicyDefaults& defaults);

}  // namespace ksana::model
