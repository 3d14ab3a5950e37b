#pragma once

#include <array>
#include <cstdint>

namespace ksana::schedule {

// kStandard: 5 fields, or 6 with seconds in front; names, L, W, #, ?, and @daily and the like.
// kLibrary (requirement N-08): 5 plain numeric fields, both day fields must match, UTC, and a
// horizon of 370 days (Schedule::NextInDialect).
enum class CronDialect : std::uint8_t { kStandard, kLibrary };

// How to combine day-of-month and day-of-week if both are restricted: either matches (crontab), or
// both must.
enum class DayMatch : std::uint8_t { kOr, kAnd };

// A cron expression as bit masks: a plain value that can be made at compile time. Bit n of a mask
// stands for the value n of the field.
struct CronSpec {
    std::uint64_t seconds = 1;
    std::uint64_t minutes = 0;
    std::uint32_t hours = 0;
    std::uint32_t months = 0;  // 1…12

    // Day of month: the listed days 1…31, and the forms that depend on the month.
    std::uint32_t days = 0;
    std::uint32_t days_before_last = 0;  // bit n: L-n, bit 0: L
    std::uint32_t nearest_weekdays = 0;  // bit n: nW
    bool last_weekday = false;           // LW

    // Day of week: 0 is Sunday.
    std::uint8_t weekdays = 0;
    std::uint8_t last_weekdays = 0;              // bit w: wL, the last such day of the month
    std::array<std::uint8_t, 5> nth_weekdays{};  // [n-1], bit w: w#n

    // A field that starts with * or ? counts as a star. In a day field that means "not restricted".
    // In the minute or hour it means that the expression repeats and so follows elapsed time
    // through a change of the clocks.
    bool minute_star = false;
    bool hour_star = false;
    bool day_star = false;
    bool weekday_star = false;

    bool has_seconds = false;  // the expression has 6 fields
    CronDialect dialect = CronDialect::kStandard;
    DayMatch day_match = DayMatch::kOr;

    friend constexpr bool operator==(const CronSpec&, const CronSpec&) = default;

    constexpr bool HasSpecialDays() const {
        return days_before_last != 0 || nearest_weekdays != 0 || last_weekday;
    }
    constexpr bool HasSpecialWeekdays() const {
        return last_weekdays != 0 || nth_weekdays != std::array<std::uint8_t, 5>{};
    }
    // Returns whether the expression fires at fixed times of day. The gap and fold policies apply
    // to such expressions only.
    constexpr bool IsFixedTime() const { return !minute_star && !hour_star; }
};

inline constexpr int kLibraryHorizonDays = 370;

}  // namespace ksana::schedule
