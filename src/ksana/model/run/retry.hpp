#pragma once

#include <optional>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/policy.hpp"

namespace ksana::model {

// No target may put a retry off for longer than this.
inline constexpr Duration kMaxRetryAfter = std::chrono::hours(24);

// How long to wait after the n-th counted failure (n from 1), or nothing when the retries are used
// up. `retry_after` is what the target asked for: it can make the wait longer, never shorter.
// `run_id` feeds the jitter, which only adds and is the same whenever it is asked for.
std::optional<Duration> RetryDelay(const RetryPolicy& policy, int failures,
                                   std::optional<Duration> retry_after, std::string_view run_id);

}  // namespace ksana::model
