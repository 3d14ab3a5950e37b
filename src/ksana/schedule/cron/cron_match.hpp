#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "ksana/schedule/cron/cron_days.hpp"
#include "ksana/schedule/cron/cron_spec.hpp"
#include "ksana/schedule/zone/civil.hpp"

// Searches for matching local seconds of an expression: next, previous, count. Independent of zones
// and calendars: the caller's `days_of` (year, month, shape → day mask) selects the days, so that a
// calendar can remove days in the same masks.

namespace ksana::schedule {

namespace internal {

inline constexpr int kNone = -1;

// Returns the lowest set bit at or above `from`, or kNone.
constexpr int BitAtOrAbove(std::uint64_t mask, int from) {
    if (from > 63) return kNone;
    const std::uint64_t rest = mask & (~std::uint64_t{0} << static_cast<unsigned>(from));
    return rest == 0 ? kNone : std::countr_zero(rest);
}

// Returns the highest set bit at or below `from`, or kNone.
constexpr int BitAtOrBelow(std::uint64_t mask, int from) {
    if (from < 0) return kNone;
    const std::uint64_t rest = mask & (~std::uint64_t{0} >> static_cast<unsigned>(63 - from));
    return rest == 0 ? kNone : 63 - std::countl_zero(rest);
}

constexpr int BitsBelow(std::uint64_t mask, int limit) {
    return limit <= 0
               ? 0
               : std::popcount(mask & (~std::uint64_t{0} >> static_cast<unsigned>(64 - limit)));
}

constexpr int SecondOfDay(int hour, int minute, int second) {
    return (hour * 60 + minute) * 60 + second;
}

}  // namespace internal

constexpr int FirstTimeOfDay(const CronSpec& spec) {
    return internal::SecondOfDay(std::countr_zero(spec.hours), std::countr_zero(spec.minutes),
                                 std::countr_zero(spec.seconds));
}

constexpr int LastTimeOfDay(const CronSpec& spec) {
    return internal::SecondOfDay(31 - std::countl_zero(spec.hours),
                                 63 - std::countl_zero(spec.minutes),
                                 63 - std::countl_zero(spec.seconds));
}

// Returns the first matching second of a day at or after `from`, or -1.
constexpr int TimeAtOrAfter(const CronSpec& spec, int from) {
    using internal::BitAtOrAbove;
    const int hour = from / 3600;
    const int minute = from / 60 % 60;
    if ((spec.hours >> static_cast<unsigned>(hour) & 1U) != 0) {
        if ((spec.minutes >> static_cast<unsigned>(minute) & 1U) != 0) {
            const int second = BitAtOrAbove(spec.seconds, from % 60);
            if (second >= 0) return internal::SecondOfDay(hour, minute, second);
        }
        const int later = BitAtOrAbove(spec.minutes, minute + 1);
        if (later >= 0) {
            return internal::SecondOfDay(hour, later, std::countr_zero(spec.seconds));
        }
    }
    const int later = BitAtOrAbove(spec.hours, hour + 1);
    if (later < 0) return internal::kNone;
    return internal::SecondOfDay(later, std::countr_zero(spec.minutes),
                                 std::countr_zero(spec.seconds));
}

// Returns the last matching second of a day at or before `from`, or -1.
constexpr int TimeAtOrBefore(const CronSpec& spec, int from) {
    using internal::BitAtOrBelow;
    const int hour = from / 3600;
    const int minute = from / 60 % 60;
    const int last_second = 63 - std::countl_zero(spec.seconds);
    if ((spec.hours >> static_cast<unsigned>(hour) & 1U) != 0) {
        if ((spec.minutes >> static_cast<unsigned>(minute) & 1U) != 0) {
            const int second = BitAtOrBelow(spec.seconds, from % 60);
            if (second >= 0) return internal::SecondOfDay(hour, minute, second);
        }
        const int earlier = BitAtOrBelow(spec.minutes, minute - 1);
        if (earlier >= 0) return internal::SecondOfDay(hour, earlier, last_second);
    }
    const int earlier = BitAtOrBelow(spec.hours, hour - 1);
    if (earlier < 0) return internal::kNone;
    return internal::SecondOfDay(earlier, 63 - std::countl_zero(spec.minutes), last_second);
}

// Returns the number of matching seconds of a day before `limit` (0…86400).
constexpr int CountTimesBefore(const CronSpec& spec, int limit) {
    using internal::BitsBelow;
    const int hour = limit / 3600;
    const int minute = limit / 60 % 60;
    const int per_minute = std::popcount(spec.seconds);
    const int per_hour = std::popcount(spec.minutes) * per_minute;
    int count = BitsBelow(spec.hours, hour) * per_hour;
    if (hour < 24 && (spec.hours >> static_cast<unsigned>(hour) & 1U) != 0) {
        count += BitsBelow(spec.minutes, minute) * per_minute;
        if ((spec.minutes >> static_cast<unsigned>(minute) & 1U) != 0) {
            count += BitsBelow(spec.seconds, limit % 60);
        }
    }
    return count;
}

// Returns the smallest match in [from, limit].
template <class DaysOf>
constexpr std::optional<std::int64_t> NextMatch(const CronSpec& spec, std::int64_t from,
                                                std::int64_t limit, const DaysOf& days_of) {
    if (from > limit) return std::nullopt;
    const std::int64_t day_number = FloorDiv(from, kSecondsPerDay);
    const Date start = DateOf(day_number);
    int year = start.year;
    int month = start.month;
    std::int64_t first = day_number - (start.day - 1);

    if ((spec.months >> static_cast<unsigned>(month) & 1U) != 0) {
        const std::uint32_t days =
            days_of(year, month, MonthShape{DaysInMonth(year, month), WeekdayOf(first)});
        if ((days >> static_cast<unsigned>(start.day) & 1U) != 0) {
            const int time =
                TimeAtOrAfter(spec, static_cast<int>(from - day_number * kSecondsPerDay));
            if (time >= 0) {
                const std::int64_t match = day_number * kSecondsPerDay + time;
                return match <= limit ? std::optional(match) : std::nullopt;
            }
        }
        const int day = internal::BitAtOrAbove(days, start.day + 1);
        if (day > 0) {
            const std::int64_t match = (first + day - 1) * kSecondsPerDay + FirstTimeOfDay(spec);
            return match <= limit ? std::optional(match) : std::nullopt;
        }
    }
    for (;;) {
        month = internal::BitAtOrAbove(spec.months, month + 1);
        if (month < 0) {
            month = std::countr_zero(spec.months);
            ++year;
        }
        first = FirstOfMonth(year, month);
        if (first * kSecondsPerDay > limit) return std::nullopt;
        const std::uint32_t days =
            days_of(year, month, MonthShape{DaysInMonth(year, month), WeekdayOf(first)});
        if (days == 0) continue;
        const std::int64_t match =
            (first + std::countr_zero(days) - 1) * kSecondsPerDay + FirstTimeOfDay(spec);
        return match <= limit ? std::optional(match) : std::nullopt;
    }
}

// Returns the greatest match in [limit, from].
template <class DaysOf>
constexpr std::optional<std::int64_t> PreviousMatch(const CronSpec& spec, std::int64_t from,
                                                    std::int64_t limit, const DaysOf& days_of) {
    if (from < limit) return std::nullopt;
    const std::int64_t day_number = FloorDiv(from, kSecondsPerDay);
    const Date start = DateOf(day_number);
    int year = start.year;
    int month = start.month;
    int top = start.day;  // the last day of the month still to be checked
    const int time = TimeAtOrBefore(spec, static_cast<int>(from - day_number * kSecondsPerDay));
    for (bool first_month = true;; first_month = false) {
        const std::int64_t first = FirstOfMonth(year, month);
        if ((first + 31) * kSecondsPerDay < limit) return std::nullopt;
        if ((spec.months >> static_cast<unsigned>(month) & 1U) != 0) {
            const std::uint32_t days =
                days_of(year, month, MonthShape{DaysInMonth(year, month), WeekdayOf(first)});
            if (first_month && time >= 0 && (days >> static_cast<unsigned>(top) & 1U) != 0) {
                const std::int64_t match = day_number * kSecondsPerDay + time;
                return match >= limit ? std::optional(match) : std::nullopt;
            }
            const int day = internal::BitAtOrBelow(days, first_month ? top - 1 : top);
            if (day > 0) {
                const std::int64_t match = (first + day - 1) * kSecondsPerDay + LastTimeOfDay(spec);
                return match >= limit ? std::optional(match) : std::nullopt;
            }
        }
        month = internal::BitAtOrBelow(spec.months, month - 1);
        if (month < 1) {
            month = 31 - std::countl_zero(spec.months);
            --year;
        }
        top = 31;
    }
}

// Returns the number of matches in [from, to). Costs a few operations per month.
template <class DaysOf>
constexpr std::int64_t CountMatches(const CronSpec& spec, std::int64_t from, std::int64_t to,
                                    const DaysOf& days_of) {
    if (from >= to) return 0;
    const std::int64_t first_day = FloorDiv(from, kSecondsPerDay);
    const std::int64_t last_day = FloorDiv(to - 1, kSecondsPerDay);
    const std::int64_t per_day = CountTimesBefore(spec, static_cast<int>(kSecondsPerDay));
    const Date start = DateOf(first_day);
    std::int64_t count = 0;
    int year = start.year;
    int month = start.month;
    for (;;) {
        const std::int64_t first = FirstOfMonth(year, month);
        if (first > last_day) return count;
        const MonthShape shape{DaysInMonth(year, month), WeekdayOf(first)};
        std::uint32_t days = (spec.months >> static_cast<unsigned>(month) & 1U) != 0
                                 ? days_of(year, month, shape)
                                 : 0;
        // The first and the last day may be covered only in part.
        for (const std::int64_t edge : {first_day, last_day}) {
            const std::int64_t day = edge - first + 1;
            if (day < 1 || day > shape.length || (days >> day & 1U) == 0) continue;
            const std::int64_t midnight = edge * kSecondsPerDay;
            const auto begin = static_cast<int>(edge == first_day ? from - midnight : 0);
            const auto end = static_cast<int>(edge == last_day ? to - midnight : kSecondsPerDay);
            count += CountTimesBefore(spec, end) - CountTimesBefore(spec, begin);
            days &= ~internal::DayBit(static_cast<int>(day));
        }
        const auto low = static_cast<int>(first_day < first ? 1 : first_day - first + 1);
        const auto high = static_cast<int>(last_day - first + 1);
        days &= ~std::uint32_t{0} << static_cast<unsigned>(low);
        if (high < 31) days &= internal::DayBit(high + 1) - 1;
        count += std::popcount(days) * per_day;
        if (++month > 12) {
            month = 1;
            ++year;
        }
    }
}

}  // namespace ksana::schedule
