#pragma once

#include <cstdint>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/codec/calendar/calendar_view.hpp"
#include "ksana/codec/calendar/imported_rules.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::api {

// The result of an import into a calendar.
struct CalendarChange {
    schedule::Calendar calendar;
    std::int64_t added = 0;    // number of rules
    std::int64_t removed = 0;  // number of rules
};

// Parses the text of an import as CSV or iCalendar.
Result<codec::ImportedRules> ReadImported(const codec::CalendarImport& wish,
                                          const schedule::Date& today);

// Returns the calendar with the imported rules. Rules that it has already are not added again.
// kReplace also removes the rules that the text lacks.
CalendarChange ApplyImport(schedule::Calendar calendar, const codec::CalendarImport& wish,
                           const std::vector<schedule::CalendarRule>& rules);

}  // namespace ksana::api
