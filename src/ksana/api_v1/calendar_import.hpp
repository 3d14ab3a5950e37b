#pragma once

#include <cstdint>
#include <vector>

#include "ksana/base/result.hpp"
#include "ksana/codec/calendar_view.hpp"
#include "ksana/codec/imported_rules.hpp"
#include "ksana/schedule/calendar.hpp"

namespace ksana::api_v1 {

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

}  // namespace ksana::api_v1
