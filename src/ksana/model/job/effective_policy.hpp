#pragma once

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/run_type.hpp"

namespace ksana::model {

// What the server uses where neither job nor type say otherwise (K-08, K-17).
struct PolicyDefaults {
    Duration timeout = std::chrono::seconds(10);
    RetryPolicy retry;
};

// The job's own word, else the type's, else the server's. Either may be absent.
RunPolicy EffectivePolicy(const Job* job, const RunType* type, const PolicyDefaults& defaults);

}  // namespace ksana::model
