#include "ksana/model/job/effective_policy.hpp"

namespace ksana::model {

RunPolicy EffectivePolicy(const Job* job, const RunType* type, const PolicyDefaults& defaults) {
    RunPolicy policy;
    policy.retry = defaults.retry;
    policy.timeout = defaults.timeout;
    if (type != nullptr) {
        policy.retry = type->retry.value_or(policy.retry);
        policy.timeout = type->timeout.value_or(policy.timeout);
        policy.need_manual = type->need_manual;
        policy.success_callback = !type->callbacks.success.url.empty();
        policy.error_callback = !type->callbacks.error.url.empty();
    }
    if (job != nullptr) {
        policy.retry = job->retry.value_or(policy.retry);
        policy.timeout = job->timeout.value_or(policy.timeout);
        policy.stop_grace = job->stop_grace;
        policy.overlap = job->overlap;
        policy.run_log = job->run_log;
        policy.depends = !job->depends_on.empty();
        if (policy.depends) policy.max_wait = job->max_wait;
    }
    return policy;
}

}  // namespace ksana::model
