#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/schedule/calendar/calendar.hpp"

namespace ksana::codec {

// The version of a calendar, which /api/v1 shows with its rules.
struct CalendarVersion {
    std::int64_t version = 0;
    TimePoint updated_at{};
};
std::string CalendarViewToJson(const schedule::Calendar& calendar, const CalendarVersion& version);

// Reads what a client sends for the calendar of this name. Members that the server keeps are
// ignored, so that a copy of an answer can be sent back.
Result<schedule::Calendar> CalendarFromView(std::string_view text, const std::string& name);

enum class ImportFormat : std::uint8_t { kIcs, kCsv };
enum class ImportList : std::uint8_t { kExclude, kInclude };
enum class ImportMode : std::uint8_t { kMerge, kReplace };

struct CalendarImport {
    ImportFormat format = ImportFormat::kIcs;
    std::string text;
    ImportList list = ImportList::kExclude;
    ImportMode mode = ImportMode::kMerge;
    bool dry_run = false;
};
Result<CalendarImport> CalendarImportFromJson(std::string_view text);

// Asks what a calendar would do.
struct CalendarQuestion {
    schedule::Calendar calendar;  // the name may be empty
    std::optional<TimePoint> from;
    std::int32_t days = 365;
    std::vector<std::string> jobs;  // empty: the jobs that use the calendar of this name
};
inline constexpr std::int32_t kMaxQuestionDays = 400;
inline constexpr std::size_t kMaxQuestionJobs = 1'000;
Result<CalendarQuestion> CalendarQuestionFromJson(std::string_view text);

extern const NamedSchema kCalendarDefinitionSchema;
extern const NamedSchema kCalendarSchema;
extern const NamedSchema kCalendarImportSchema;
extern const NamedSchema kCalendarQuestionSchema;

}  // namespace ksana::codec

template <>
struct ksana::model::EnumNames<ksana::codec::ImportFormat> {
    static constexpr std::array<std::string_view, 2> kNames = {"ics", "csv"};
};
template <>
struct ksana::model::EnumNames<ksana::codec::ImportList> {
    static constexpr std::array<std::string_view, 2> kNames = {"exclude", "include"};
};
template <>
struct ksana::model::EnumNames<ksana::codec::ImportMode> {
    static constexpr std::array<std::string_view, 2> kNames = {"merge", "replace"};
};
