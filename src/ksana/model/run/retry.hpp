#pragma once

#include <optional>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/policy.hpp"

namespace ksana::model {

// The longest delay that a target can ask for with Retry-After.
inline constexpr Duration kMaxRetryAfter = std::chrono::hours(24);

// Returns the delay after the n-th counted failure (n from 1), or nullopt when no retry is left.
// `retry_after`, the target's request, can only lengthen the delay. `run_id` seeds the jitter,
// which is deterministic and only adds.
std::optional<Duration> RetryDelay(const RetryPolicy& policy, int failures,
                                   std::optional<Duration> retry_after, std::string_view run_id);

}  // namespace ksana::model
