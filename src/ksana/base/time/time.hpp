#pragma once

#include <chrono>

namespace ksana {

// Time inside Ksana is UTC in whole microseconds. It is converted to and from text only at the
// edges (time_text.hpp).
using Duration = std::chrono::microseconds;
using TimePoint = std::chrono::sys_time<Duration>;

// For measuring and waiting; unrelated to the calendar and never set back.
using SteadyPoint = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

}  // namespace ksana
