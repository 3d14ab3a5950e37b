#include "ksana/codec/calendar/ics_event.hpp"

#include <fmt/core.h>

#include "ksana/codec/calendar/ics_lines.hpp"

namespace ksana::codec {
namespace {

using schedule::CalendarRule;
using schedule::Date;
using schedule::kSecondsPerDay;

constexpr std::int64_t kLongestSpan = 3'660;  // days
constexpr std::int64_t kLongestYearly = 31;   // days; each becomes a rule
constexpr Date kLastDate{9999, 12, 31};

// Reads six digits as a second of the day.
std::optional<int> ReadTime(std::string_view text) {
    if (text.size() != 6) return std::nullopt;
    int parts[3] = {};
    for (std::size_t i = 0; i < 6; ++i) {
        if (text[i] < '0' || text[i] > '9') return std::nullopt;
        parts[i / 2] = parts[i / 2] * 10 + (text[i] - '0');
    }
    if (parts[0] > 23 || parts[1] > 59 || parts[2] > 59) return std::nullopt;
    return (parts[0] * 60 + parts[1]) * 60 + parts[2];
}

// Reads a duration of RFC 5545, 3.3.6 (P2W, P3D, PT1H30M) in seconds. None: malformed, negative, or
// years long.
std::optional<std::int64_t> ReadDuration(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    if (!text.starts_with('P') || text.size() < 3) return std::nullopt;
    std::int64_t total = 0;
    std::int64_t number = 0;
    bool digits = false;
    for (const char c : text.substr(1)) {
        if (c >= '0' && c <= '9') {
            number = number * 10 + (c - '0');
            digits = true;
            if (number > 10'000'000) return std::nullopt;
            continue;
        }
        if (c == 'T' && !digits) continue;
        const std::int64_t unit = c == 'W'   ? 7 * kSecondsPerDay
                                  : c == 'D' ? kSecondsPerDay
                                  : c == 'H' ? 3600
                                  : c == 'M' ? 60
                                  : c == 'S' ? 1
                                             : 0;
        if (unit == 0 || !digits) return std::nullopt;
        total += number * unit;
        number = 0;
        digits = false;
    }
    if (digits) return std::nullopt;
    return total;
}

Date Plus(const Date& date, std::int64_t days) { return schedule::DateOf(date.DayNumber() + days); }

}  // namespace

IcsEvent::When IcsEvent::ReadWhen(const IcsLine& line) {
    When when;
    std::string_view value = line.value;
    const auto date = ReadIcsDate(value.substr(0, 8));
    if (!date) return when;
    when.date = *date;
    value.remove_prefix(8);
    when.readable = value.empty();
    if (when.readable) return when;
    when.zoned = line.Parameter("TZID").has_value() || value.ends_with('Z');
    if (value.ends_with('Z')) value.remove_suffix(1);
    if (value.starts_with('T')) when.second = ReadTime(value.substr(1));
    when.readable = when.second.has_value();
    return when;
}

void IcsEvent::Read(const IcsLine& line) {
    if (line.name == "DTSTART") {
        start_ = ReadWhen(line);
    } else if (line.name == "DTEND") {
        end_ = ReadWhen(line);
    } else if (line.name == "DURATION") {
        duration_ = line.value;
    } else if (line.name == "RRULE") {
        if (rule_) unknown_ = "a second RRULE";
        rule_ = line.value;
    } else if (line.name == "RDATE" || line.name == "EXDATE" || line.name == "EXRULE" ||
               line.name == "RECURRENCE-ID") {
        unknown_ = line.name;
    } else if (line.name == "STATUS") {
        cancelled_ = UpperCase(line.value) == "CANCELLED";
    }
}

std::optional<std::string> IcsEvent::Refusal() const {
    if (cancelled_) return "it is cancelled";
    if (!start_) return "it has no DTSTART";
    if (!start_->readable) return "DTSTART cannot be read";
    if (!unknown_.empty()) return unknown_ + " cannot be said by a rule";
    if (end_ && !end_->readable) return "DTEND cannot be read";
    if (end_ && end_->second.has_value() != start_->second.has_value()) {
        return "DTSTART and DTEND are not of the same kind";
    }
    return std::nullopt;
}

IcsEvent::Answer IcsEvent::Rules(const Date& today) const {
    if (auto refusal = Refusal()) return {.rules = {}, .fault = *std::move(refusal)};
    return start_->second ? Window() : Days(today);
}

// An end equal to the start counts as one day: some programs write it so.
std::optional<std::int64_t> IcsEvent::DayCount() const {
    if (end_) {
        const std::int64_t days = end_->date.DayNumber() - start_->date.DayNumber();
        return days == 0 ? 1 : days;
    }
    if (!duration_) return 1;
    const auto seconds = ReadDuration(*duration_);
    if (!seconds || *seconds % kSecondsPerDay != 0) return std::nullopt;
    return *seconds / kSecondsPerDay;
}

IcsEvent::Answer IcsEvent::Days(const Date& today) const {
    const auto count = DayCount();
    if (!count) return {.rules = {}, .fault = "DURATION is not a number of days"};
    if (*count < 1) return {.rules = {}, .fault = "it ends before it starts"};
    if (*count > kLongestSpan) return {.rules = {}, .fault = "it is longer than ten years"};
    Answer answer;
    if (!rule_) {
        CalendarRule rule;
        rule.dates = {start_->date, Plus(start_->date, *count - 1)};
        if (!rule.dates->last.IsValid())
            return {.rules = {}, .fault = "it ends after the year 9999"};
        answer.rules.push_back(rule);
        return answer;
    }
    const IcsYearly yearly = ReadYearlyRule(*rule_, start_->date);
    if (!yearly.fault.empty()) return {.rules = {}, .fault = yearly.fault};
    if (*count > kLongestYearly) {
        return {.rules = {}, .fault = "it repeats every year and is longer than a month"};
    }
    for (std::int64_t day = 0; day < *count; ++day) {
        const Date first = Plus(start_->date, day);
        CalendarRule rule;
        rule.yearly = {first.month, first.day};
        const Date last = yearly.until ? Plus(*yearly.until, day) : kLastDate;
        if (!first.IsValid()) return {.rules = {}, .fault = "it ends after the year 9999"};
        if (yearly.until || today < first) {
            rule.dates = {first, last.IsValid() ? last : kLastDate};
        }
        answer.rules.push_back(rule);
    }
    return answer;
}

std::optional<std::int64_t> IcsEvent::SecondCount() const {
    if (!end_) return duration_ ? ReadDuration(*duration_) : std::nullopt;
    return (end_->date.DayNumber() - start_->date.DayNumber()) * kSecondsPerDay + *end_->second -
           *start_->second;
}

// A calendar's times are local to the zone of each schedule, so an event with a time zone cannot be
// expressed.
IcsEvent::Answer IcsEvent::Window() const {
    const auto refuse = [](std::string fault) {
        return Answer{.rules = {}, .fault = std::move(fault)};
    };
    if (start_->zoned || (end_ && end_->zoned)) {
        return refuse("it has a time zone; the times of a calendar are those of each schedule");
    }
    if (rule_) return refuse("it repeats and has a time of day");
    const auto length = SecondCount();
    if (!length || *length <= 0) return refuse("it has no length");
    if (*start_->second % 60 != 0 || *length % 60 != 0) return refuse("its times have seconds");
    CalendarRule rule;
    rule.dates = {start_->date, start_->date};
    if (*length == kSecondsPerDay && *start_->second == 0) return {.rules = {rule}, .fault = {}};
    if (*length >= kSecondsPerDay) return refuse("it has a time of day and is longer than a day");
    const std::int64_t end = *start_->second + *length;
    rule.times = {*start_->second,
                  static_cast<int>(end > kSecondsPerDay ? end - kSecondsPerDay : end)};
    return {.rules = {rule}, .fault = {}};
}

}  // namespace ksana::codec
