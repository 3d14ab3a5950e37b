#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana {

// Parses strict RFC 3339: "2026-01-01T00:00:00Z", "2026-01-01T08:00:00.25+08:00". T and Z are upper
// case. A second has up to nine decimals; those below a microsecond are truncated. Offsets go up to
// 23:59, years from 0000 to 9999; there is no leap second. Otherwise kInvalidArgument.
Result<TimePoint> ParseTime(std::string_view text);

// Returns "2026-01-01T00:00:00Z", with six decimals if they are not zero. The time must lie in the
// years 0000 to 9999.
std::string FormatTime(TimePoint instant);

// The first and last time that has a text.
TimePoint MinTime();
TimePoint MaxTime();

// Parses a duration in Go's notation: "1h30m", "250ms", "-1.5s", "0". The units are h, m, s, ms, us
// (or µs) and ns. A value finer than a microsecond is refused, not rounded (kInvalidArgument).
Result<Duration> ParseDuration(std::string_view text);

// Returns the shortest text that parses to the same duration: "1h30m", "5m", "1.5s", "250ms", "0s".
std::string FormatDuration(Duration duration);

}  // namespace ksana
