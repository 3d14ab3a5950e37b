#pragma once

#include <string>
#include <string_view>

#include "ksana/base/result.hpp"
#include "ksana/base/time.hpp"

namespace ksana {

// Durations as Go writes them: "1h30m", "250ms", "-1.5s", "0". Units h, m, s, ms, us (or µs) and
// ns; a part finer than a microsecond is refused rather than rounded.
Result<Duration> ParseDuration(std::string_view text);

// The shortest text that reads back the same: "1h30m", "5m", "1.5s", "250ms", "0s".
std::string FormatDuration(Duration duration);

}  // namespace ksana
