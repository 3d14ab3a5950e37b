#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {

// One line of a calendar: the days it speaks of, and the part of such a day. Every part that is
// given must match; a rule with none matches always.
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
    // Seconds of the day, [from, to). When `to` is not after `from` the span runs past midnight
    // into the next day and belongs to the day on which it starts.
    struct TimeSpan {
        int from = 0;
        int to = 0;
        friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
    };

    std::optional<DateSpan> dates;
    std::optional<MonthDay> yearly;
    std::uint8_t weekdays = 0;  // bit mask, 0 is Sunday; none set: any day
    std::optional<TimeSpan> times;

    friend bool operator==(const CalendarRule&, const CalendarRule&) = default;
};

// A day that counts as another weekday, such as a Chinese make-up working day: a schedule for
// Monday to Friday fires on the Saturday that counts as a Friday.
struct SwapDay {
    Date date;
    int counts_as = 1;  // 0 is Sunday

    friend bool operator==(const SwapDay&, const SwapDay&) = default;
};

// A named set of days and times at which schedules do not fire. An instant is let through when no
// `exclude` rule matches it, or an `include` rule does. Dates and times are local to the zone of
// the schedule that uses it. Plain data; CalendarIndex answers questions about it.
struct Calendar {
    std::string name;
    std::string description;
    std::vector<CalendarRule> exclude;
    std::vector<CalendarRule> include;
    std::vector<SwapDay> swaps;

    friend bool operator==(const Calendar&, const Calendar&) = default;
};

inline constexpr std::size_t kMaxCalendarRules = 4096;
// Rules that are looked at for every day, because they recur or span years; and those among them
// with a time of day.
inline constexpr std::size_t kMaxCalendarWideRules = 64;
inline constexpr std::size_t kMaxCalendarTimeRules = 16;

// Neither recurring nor longer than this: such a rule costs nothing once it is indexed.
inline constexpr std::int64_t kMaxNarrowDays = 800;
bool IsWide(const CalendarRule& rule);

// Every fault, with paths from the calendar's own root ("/exclude/3/dates").
std::vector<Problem> ValidateCalendar(const Calendar& calendar);

}  // namespace ksana::schedule
