#pragma once

#include <string>

#include "ksana/schedule/cron/cron_spec.hpp"
#include "ksana/schedule/spec.hpp"

namespace ksana::schedule {

// Describes a cron expression in an English sentence: "At 03:00 on Monday." "Every 5 minutes from
// 09:00 through 17:59 on day 1 of the month, or on Friday."
std::string DescribeCron(const CronSpec& spec);

// Describes any schedule, with zone, bounds, jitter and calendar. The spec must be valid.
std::string DescribeSchedule(const ScheduleSpec& spec);

}  // namespace ksana::schedule
