#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ksana::schedule {

// When in a year the clocks change: one of the three forms of a POSIX TZ rule.
struct RuleDate {
    enum class Form : std::uint8_t { kMonthWeekDay, kJulianNoLeap, kDayOfYear };
    Form form = Form::kMonthWeekDay;
    int month = 1;    // kMonthWeekDay: 1…12
    int week = 1;     // 1…5, 5 is the last
    int day = 0;      // weekday 0…6; day 1…365 (no leap day counted); day 0…365
    int time = 7200;  // seconds after local midnight, −167 h … +167 h

    // The instant as local seconds of `year`.
    std::int64_t LocalSecond(int year) const;
};

// The rule at the end of a TZif file, as POSIX TZ has it with the extensions of RFC 8536:
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

    static std::optional<PosixRule> Parse(std::string_view text);
};

}  // namespace ksana::schedule
