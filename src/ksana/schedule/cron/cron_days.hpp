#pragma once

#include <bit>
#include <cstdint>

#include "ksana/schedule/cron/cron_spec.hpp"
#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {

// The layout of a month. Days are bit masks (bit 1 is the first), computed in a few operations, so
// that the search can jump over days instead of walking through them.
struct MonthShape {
    int length = 31;
    int first_weekday = 0;  // weekday of the 1st, 0 is Sunday

    constexpr std::uint32_t AllDays() const {
        return static_cast<std::uint32_t>((std::uint64_t{2} << static_cast<unsigned>(length)) - 2);
    }
    constexpr int WeekdayOfDay(int day) const { return (first_weekday + day - 1) % 7; }

    // Returns the days of the month whose weekday is in the mask.
    constexpr std::uint32_t DaysOn(std::uint32_t weekdays) const {
        const std::uint32_t twice = weekdays | weekdays << 7U;
        const std::uint32_t week = (twice >> static_cast<unsigned>(first_weekday)) & 0x7FU;
        const std::uint64_t weeks = week * std::uint64_t{0x10204081};  // five copies, 7 bits apart
        return static_cast<std::uint32_t>(weeks << 1U) & AllDays();
    }
};

constexpr MonthShape ShapeOf(int year, int month) {
    return {DaysInMonth(year, month), WeekdayOf(FirstOfMonth(year, month))};
}

namespace internal {

constexpr std::uint32_t DayBit(int day) { return 1U << static_cast<unsigned>(day); }

// nW: the weekday (Monday to Friday) nearest to day n within the month. Empty if the month has no
// day n.
constexpr std::uint32_t NearestWeekday(int day, const MonthShape& month) {
    if (day > month.length) return 0;
    const int weekday = month.WeekdayOfDay(day);
    if (weekday == 6) return DayBit(day > 1 ? day - 1 : day + 2);
    if (weekday == 0) return DayBit(day < month.length ? day + 1 : day - 2);
    return DayBit(day);
}

constexpr std::uint32_t LastWeekday(const MonthShape& month) {
    const int weekday = month.WeekdayOfDay(month.length);
    const int back = weekday == 6 ? 1 : (weekday == 0 ? 2 : 0);
    return DayBit(month.length - back);
}

constexpr std::uint32_t SpecialDays(const CronSpec& spec, const MonthShape& month) {
    std::uint32_t days = 0;
    for (std::uint32_t left = spec.days_before_last; left != 0; left &= left - 1) {
        const int day = month.length - std::countr_zero(left);
        if (day >= 1) days |= DayBit(day);
    }
    for (std::uint32_t left = spec.nearest_weekdays; left != 0; left &= left - 1) {
        days |= NearestWeekday(std::countr_zero(left), month);
    }
    if (spec.last_weekday) days |= LastWeekday(month);
    return days;
}

constexpr std::uint32_t SpecialWeekdays(const CronSpec& spec, const MonthShape& month) {
    const auto last_week_from = static_cast<unsigned>(month.length - 6);
    std::uint32_t days = month.DaysOn(spec.last_weekdays) & (~std::uint32_t{0} << last_week_from);
    for (unsigned n = 0; n < spec.nth_weekdays.size(); ++n) {
        if (spec.nth_weekdays[n] == 0) continue;
        const std::uint64_t nth_week = std::uint64_t{0xFE} << (7 * n);
        days |= month.DaysOn(spec.nth_weekdays[n]) & static_cast<std::uint32_t>(nth_week);
    }
    return days;
}

}  // namespace internal

// Returns the days of a month that match the two day fields. Ignores the month field.
constexpr std::uint32_t MatchingDays(const CronSpec& spec, const MonthShape& month) {
    std::uint32_t by_day = spec.days & month.AllDays();
    if (spec.HasSpecialDays()) by_day |= internal::SpecialDays(spec, month);
    std::uint32_t by_weekday = month.DaysOn(spec.weekdays);
    if (spec.HasSpecialWeekdays()) by_weekday |= internal::SpecialWeekdays(spec, month);
    const bool either = spec.day_match == DayMatch::kOr && !spec.day_star && !spec.weekday_star;
    return either ? by_day | by_weekday : by_day & by_weekday;
}

// Returns whether the expression matches any day of any year. There are only fourteen kinds of
// year.
constexpr bool EverMatches(const CronSpec& spec) {
    if (spec.seconds == 0 || spec.minutes == 0 || spec.hours == 0) return false;
    for (int month = 1; month <= 12; ++month) {
        if ((spec.months >> static_cast<unsigned>(month) & 1U) == 0) continue;
        for (int weekday = 0; weekday < 7; ++weekday) {
            // 2023 is a common year, 2024 a leap year.
            for (const int year : {2023, 2024}) {
                if (MatchingDays(spec, {DaysInMonth(year, month), weekday}) != 0) return true;
            }
        }
    }
    return false;
}

}  // namespace ksana::schedule
