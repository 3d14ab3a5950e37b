#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {

// Parses "2026-10-01"; nullopt if the form is wrong. Does not check that the date exists: see
// Date::IsValid.
std::optional<Date> ParseDate(std::string_view text);
std::string FormatDate(const Date& date);

}  // namespace ksana::schedule
