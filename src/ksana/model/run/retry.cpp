#include "ksana/model/run/retry.hpp"

#include <algorithm>
#include <cstdint>

#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/hash.hpp"

namespace ksana::model {
namespace {

// Returns min(base * 2^n, cap) without overflow.
Duration Doubled(Duration base, int n, Duration cap) {
    for (; n > 0 && base < cap; --n) base *= 2;
    return std::min(base, cap);
}

Duration BaseDelay(const RetryPolicy& policy, int failures) {
    switch (policy.strategy) {
        case RetryStrategy::kNone:
            break;
        case RetryStrategy::kFixed:
            return policy.interval;
        case RetryStrategy::kSequence: {
            if (policy.sequence.empty()) return policy.interval;
            const auto index = static_cast<std::size_t>(failures - 1);
            return policy.sequence[std::min(index, policy.sequence.size() - 1)];
        }
        case RetryStrategy::kExponential:
            return Doubled(policy.interval, failures - 1, policy.max_interval);
    }
    return Duration::zero();
}

Duration Jitter(const RetryPolicy& policy, Duration delay, int failures, std::string_view run_id) {
    const double span = policy.jitter * static_cast<double>(delay.count());
    if (span < 1.0) return Duration::zero();
    const std::uint64_t hash = HashText(run_id, failures);
    return Duration(static_cast<std::int64_t>(hash % (static_cast<std::uint64_t>(span) + 1)));
}

}  // namespace

std::optional<Duration> RetryDelay(const RetryPolicy& policy, int failures,
                                   std::optional<Duration> retry_after, std::string_view run_id) {
    KSANA_CHECK(failures >= 1, "a retry follows a failure");
    if (policy.strategy == RetryStrategy::kNone || failures > policy.max_retries) {
        return std::nullopt;
    }
    Duration delay = BaseDelay(policy, failures);
    // Jitter only adds, so the delay may exceed max_interval.
    delay += Jitter(policy, delay, failures, run_id);
    if (retry_after) delay = std::max(delay, std::min(*retry_after, kMaxRetryAfter));
    return delay;
}

}  // namespace ksana::model
