#pragma once

#include <cstdint>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/calendar/calendar_view.hpp"
#include "ksana/codec/calendar/imported_rules.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::api {

// What an import makes of a calendar.
struct CalendarChange {
    schedule::Calendar calendar;
    std::int64_t added = 0;    // rules
    std::int64_t removed = 0;  // likewise
};

Result<codec::ImportedRules> ReadImported(const codec::CalendarImport& wish,
                                          const schedule::Date& today);

// kMerge: what is there already does not come twice. kReplace: what is not in the text goes.
CalendarChange ApplyImport(schedule::Calendar calendar, const codec::CalendarImport& wish,
                           const std::vector<schedule::CalendarRule>& rules);

}  // namespace ksana::api
