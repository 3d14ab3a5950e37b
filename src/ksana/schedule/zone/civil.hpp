#pragma once

#include <array>
#include <chrono>
#include <cstdint>

namespace ksana::schedule {

// Calendar arithmetic on plain numbers. A "local second" counts the seconds since
// 1970-01-01T00:00:00 of a wall clock, so that local = UTC + offset.

inline constexpr std::int64_t kSecondsPerDay = 86'400;

constexpr std::int64_t FloorDiv(std::int64_t a, std::int64_t b) {
    const std::int64_t quotient = a / b;
    return quotient - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

// Returns the day number (days since 1970-01-01) of the first of a month in the proleptic Gregorian
// calendar. Years start in March here, so that the leap day is the last of its year; 719468 is the
// distance to 0000-03-01.
constexpr std::int64_t FirstOfMonth(int year, int month) {
    const std::int64_t y = month <= 2 ? year - 1 : year;
    const std::int64_t era = FloorDiv(y, 400);
    const std::int64_t year_of_era = y - era * 400;
    const int shifted = month > 2 ? month - 3 : month + 9;
    const std::int64_t day_of_year = (153 * shifted + 2) / 5;
    return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719'468;
}

constexpr bool IsLeapYear(int year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

constexpr int DaysInMonth(int year, int month) {
    constexpr std::array<std::int8_t, 13> kDays = {0,  31, 28, 31, 30, 31, 30,
                                                   31, 31, 30, 31, 30, 31};
    return month == 2 && IsLeapYear(year) ? 29 : kDays[static_cast<std::size_t>(month)];
}

// 0 is Sunday. 1970-01-01 was a Thursday.
constexpr int WeekdayOf(std::int64_t day) {
    return static_cast<int>(day >= -4 ? (day + 4) % 7 : (day + 5) % 7 + 6);
}

struct Date {
    int year = 1970;
    int month = 1;
    int day = 1;

    friend constexpr auto operator<=>(const Date&, const Date&) = default;
    constexpr std::int64_t DayNumber() const { return FirstOfMonth(year, month) + day - 1; }
    constexpr bool IsValid() const {
        return year >= 0 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 &&
               day <= DaysInMonth(year, month);
    }
};

constexpr Date DateOf(std::int64_t day) {
    const std::chrono::year_month_day date{
        std::chrono::sys_days(std::chrono::days(static_cast<std::int32_t>(day)))};
    return {static_cast<int>(date.year()), static_cast<int>(static_cast<unsigned>(date.month())),
            static_cast<int>(static_cast<unsigned>(date.day()))};
}

// The range of all computations: the years that RFC 3339 can represent.
inline constexpr std::int64_t kMinLocalSecond = FirstOfMonth(0, 1) * kSecondsPerDay;
inline constexpr std::int64_t kMaxLocalSecond = FirstOfMonth(10'000, 1) * kSecondsPerDay - 1;

// The Gregorian calendar, weekdays included, repeats after 400 years: a pattern that has no match
// within that time never has one.
inline constexpr int kCalendarCycleYears = 400;
inline constexpr std::int64_t kCalendarCycleSeconds = 146'097 * kSecondsPerDay;

}  // namespace ksana::schedule
