#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::codec {

// Limits of a group of jobs, as a definition file states them.
struct DefinedGroup {
    struct Rate {
        std::int64_t count = 0;
        Duration per = std::chrono::seconds(1);
        std::optional<std::int64_t> burst;
        friend bool operator==(const Rate&, const Rate&) = default;
    };
    std::string name;
    std::string description;
    std::optional<std::int32_t> max_concurrency;
    std::optional<Rate> rate;
    friend bool operator==(const DefinedGroup&, const DefinedGroup&) = default;
};

// Content of a definition file: {"jobs": […], "calendars": […], "groups": […]}, or in TOML
// [[jobs]], [[calendars]] and [[groups]].
struct Definitions {
    std::vector<model::JobDefinition> jobs;
    std::vector<schedule::Calendar> calendars;
    std::vector<DefinedGroup> groups;
    friend bool operator==(const Definitions&, const Definitions&) = default;
};

// Read a definition file and check its shape. Every fault has its JSON Pointer (and its line in
// TOML). ValidateJob and ValidateCalendar check the values.
Result<Definitions> DefinitionsFromJson(std::string_view text);
Result<Definitions> DefinitionsFromToml(std::string_view text);
std::string DefinitionsToJson(const Definitions& definitions);

Result<model::JobDefinition> JobFromJson(std::string_view text);
std::string JobToJson(const model::JobDefinition& job);
Result<schedule::Calendar> CalendarFromJson(std::string_view text);
std::string CalendarToJson(const schedule::Calendar& calendar);
// Leaves out members that are not set.
std::string GroupToJson(const DefinedGroup& group);
std::string CalendarRuleToJson(const schedule::CalendarRule& rule);

// Returns a list of texts as a JSON array, for machine-readable output.
std::string StringsToJson(const std::vector<std::string>& strings);
// Returns a text, which must be UTF-8, as a JSON string with quotes.
std::string TextToJson(std::string_view text);

}  // namespace ksana::codec
