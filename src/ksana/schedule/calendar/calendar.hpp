#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {

// A rule of a calendar: days, and optionally a time of day. All given parts must match.
// ValidateCalendar refuses a rule without any part.
struct CalendarRule {
    struct DateSpan {
        Date first;
        Date last;  // inclusive
        friend bool operator==(const DateSpan&, const DateSpan&) = default;
    };
    struct MonthDay {
        int month = 1;
        int day = 1;
        friend bool operator==(const MonthDay&, const MonthDay&) = default;
    };
    // Seconds of the day, [from, to). If `to` is before `from`, the span continues past midnight
    // into the next day and belongs to the day on which it starts.
    struct TimeSpan {
        int from = 0;
        int to = 0;
        friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
    };

    std::optional<DateSpan> dates;
    std::optional<MonthDay> yearly;
    std::uint8_t weekdays = 0;  // bit mask, bit 0 is Sunday; 0: any day
    std::optional<TimeSpan> times;

    friend bool operator==(const CalendarRule&, const CalendarRule&) = default;
};

// A day that counts as another weekday, such as a Chinese make-up working day: a schedule for
// Monday to Friday fires on a Saturday that counts as a Friday.
struct SwapDay {
    Date date;
    int counts_as = 1;  // 0 is Sunday

    friend bool operator==(const SwapDay&, const SwapDay&) = default;
};

// A named set of days and times at which schedules do not fire. A time is allowed if no `exclude`
// rule matches it, or if an `include` rule does. Dates and times are local to the zone of the
// schedule that uses the calendar. Plain data; CalendarIndex evaluates it.
struct Calendar {
    std::string name;
    std::string description;
    std::vector<CalendarRule> exclude;
    std::vector<CalendarRule> include;
    std::vector<SwapDay> swaps;

    friend bool operator==(const Calendar&, const Calendar&) = default;
};

inline constexpr std::size_t kMaxCalendarRules = 4096;
// The most wide rules (IsWide), which are checked for every day, and the most rules with a time of
// day among them.
inline constexpr std::size_t kMaxCalendarWideRules = 64;
inline constexpr std::size_t kMaxCalendarTimeRules = 16;

// Returns whether a rule recurs, has a time of day or spans more than kMaxNarrowDays days. A rule
// that is not wide is indexed by date and costs nothing per lookup.
inline constexpr std::int64_t kMaxNarrowDays = 800;
bool IsWide(const CalendarRule& rule);

// Returns every problem, with paths that start at the calendar ("/exclude/3/dates").
std::vector<Problem> ValidateCalendar(const Calendar& calendar);

}  // namespace ksana::schedule
