#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana {

// RFC 3339, strictly: "2026-01-01T00:00:00Z", "2026-01-01T08:00:00.25+08:00". Upper-case T and Z;
// up to nine digits of a second, of which those below a microsecond are cut; an offset up to
// 23:59; no leap second; years 0000 to 9999.
Result<TimePoint> ParseTime(std::string_view text);

// "2026-01-01T00:00:00Z", with six digits of a second where they are not zero. The instant must lie
// in the years 0000 to 9999.
std::string FormatTime(TimePoint instant);

// The instants that have a text: [first, last].
TimePoint MinTime();
TimePoint MaxTime();

// Durations as Go writes them: "1h30m", "250ms", "-1.5s", "0". Units h, m, s, ms, us (or µs) and
// ns; a part finer than a microsecond is refused rather than rounded.
Result<Duration> ParseDuration(std::string_view text);

// The shortest text that reads back the same: "1h30m", "5m", "1.5s", "250ms", "0s".
std::string FormatDuration(Duration duration);

}  // namespace ksana
