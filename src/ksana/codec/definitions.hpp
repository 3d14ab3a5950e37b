#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/result.hpp"
#include "ksana/model/job.hpp"
#include "ksana/schedule/calendar.hpp"

namespace ksana::codec {

// What a definition file holds: {"jobs": […], "calendars": […]}, or in TOML [[jobs]] and
// [[calendars]].
struct Definitions {
    std::vector<model::Job> jobs;
    std::vector<schedule::Calendar> calendars;
    friend bool operator==(const Definitions&, const Definitions&) = default;
};

// The shape is checked here, every fault with its JSON Pointer (and its line in TOML); what the
// values mean is for ValidateJob and ValidateCalendar.
Result<Definitions> DefinitionsFromJson(std::string_view text);
Result<Definitions> DefinitionsFromToml(std::string_view text);
std::string DefinitionsToJson(const Definitions& definitions);

Result<model::Job> JobFromJson(std::string_view text);
std::string JobToJson(const model::Job& job);
Result<schedule::Calendar> CalendarFromJson(std::string_view text);
std::string CalendarToJson(const schedule::Calendar& calendar);
std::string CalendarRuleToJson(const schedule::CalendarRule& rule);

// A list of texts as a JSON array, for machine-readable output.
std::string StringsToJson(const std::vector<std::string>& strings);
// One text, quoted. It must be UTF-8.
std::string TextToJson(std::string_view text);

}  // namespace ksana::codec
