#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {

// "2026-10-01". Whether there is such a date is for Date::IsValid.
std::optional<Date> ParseDate(std::string_view text);
std::string FormatDate(const Date& date);

}  // namespace ksana::schedule
