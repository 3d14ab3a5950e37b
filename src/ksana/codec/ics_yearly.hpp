#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/schedule/civil.hpp"

namespace ksana::codec {

// An RRULE that only repeats the day of `start` every year.
struct IcsYearly {
    std::optional<schedule::Date> until;  // the last day on which it begins
    std::string fault;                    // not empty: it is another one
};
IcsYearly ReadYearlyRule(std::string_view rule, const schedule::Date& start);

// Eight digits.
std::optional<schedule::Date> ReadIcsDate(std::string_view text);

}  // namespace ksana::codec
