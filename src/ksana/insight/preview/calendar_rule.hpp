#pragma once

#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/schedule/calendar/calendar.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::insight {

// Returns the first rule by which a calendar excludes an instant, in words ("2026-10-01 to
// 2026-10-07", "every Saturday, Sunday"); "" if the instant is allowed.
std::string ExcludingRule(const schedule::Calendar& calendar, const schedule::Zone& zone,
                          TimePoint at);

std::string DescribeRule(const schedule::CalendarRule& rule);

}  // namespace ksana::insight
