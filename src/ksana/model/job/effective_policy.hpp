#pragma once

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/run_type.hpp"

namespace ksana::model {

// The server's defaults, used where neither the job nor the type sets a value (K-08, K-17).
struct PolicyDefaults {
    Duration timeout = std::chrono::seconds(10);
    RetryPolicy retry;
};

// Returns the policy for a run: each setting comes from the job, else from the type, else from the
// defaults. `job` and `type` may be null.
RunPolicy EffectivePolicy(const Job* job, const RunType* type, const PolicyDefaults& defaults);

}  // namespace ksana::model
