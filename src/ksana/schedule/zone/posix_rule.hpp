#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ksana::schedule {

// The day of the year on which the clocks change, in one of the three forms of a POSIX TZ rule.
struct RuleDate {
    enum class Form : std::uint8_t { kMonthWeekDay, kJulianNoLeap, kDayOfYear };
    Form form = Form::kMonthWeekDay;
    int month = 1;  // kMonthWeekDay: 1…12
    int week = 1;   // kMonthWeekDay: 1…5, 5 is the last
    // kMonthWeekDay: the weekday 0…6; kJulianNoLeap: 1…365, February 29 not counted; kDayOfYear:
    // 0…365.
    int day = 0;
    int time = 7200;  // seconds after local midnight, −167 h … +167 h

    // Returns the local second of the change in `year`.
    std::int64_t LocalSecond(int year) const;
};

// The rule at the end of a TZif file: a POSIX TZ string with the extensions of RFC 8536:
// "EST5EDT,M3.2.0,M11.1.0", "<+03>-3", "IST-1GMT0,M10.5.0,M3.5.0/1".
struct PosixRule {
    struct Kind {
        std::string abbreviation;
        std::int32_t offset = 0;  // seconds east of UTC
    };
    Kind standard;
    struct Summer {
        Kind kind;
        RuleDate start;
        RuleDate end;
    };
    std::optional<Summer> summer;

    // Returns nullopt if the text is malformed.
    static std::optional<PosixRule> Parse(std::string_view text);
};

}  // namespace ksana::schedule
