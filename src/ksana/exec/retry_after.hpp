#pragma once

#include <optional>
#include <string_view>

#include "ksana/base/time.hpp"

namespace ksana::exec {

// Longer waits are cut to this.
inline constexpr Duration kMaxRetryAfter = std::chrono::hours(24);

// The header Retry-After: seconds, or a date as HTTP writes it ("Sun, 06 Nov 1994 08:49:37 GMT"); a
// date that has passed is no wait at all. Nothing: neither of them.
std::optional<Duration> ParseRetryAfter(std::string_view text, TimePoint now);

}  // namespace ksana::exec
