#include "ksana/schedule/cron_pattern.hpp"

#include <algorithm>
#include <utility>

#include "ksana/schedule/cron_match.hpp"

namespace ksana::schedule {
namespace {

constexpr auto kPlainDays = [](const CronSpec& spec) {
    return [&spec](int, int, const MonthShape& shape) { return MatchingDays(spec, shape); };
};

// The day fields of an expression on a day that counts as another weekday. Forms that depend on
// the place in the month (3#2, 5L) are about real weekdays and do not match such a day.
bool MatchesSwapped(const CronSpec& spec, std::uint32_t by_day_field, int day, int counts_as) {
    const bool by_day = (by_day_field >> static_cast<unsigned>(day) & 1U) != 0;
    const bool by_weekday = (spec.weekdays >> static_cast<unsigned>(counts_as) & 1U) != 0;
    const bool either = spec.day_match == DayMatch::kOr && !spec.day_star && !spec.weekday_star;
    return either ? by_day || by_weekday : by_day && by_weekday;
}

std::uint32_t DaysByDayField(const CronSpec& spec, const MonthShape& shape) {
    std::uint32_t days = spec.days & shape.AllDays();
    if (spec.HasSpecialDays()) days |= internal::SpecialDays(spec, shape);
    return days;
}

}  // namespace

struct CronPattern::DaysOf {
    const CronPattern& pattern;
    std::uint32_t operator()(int year, int month, const MonthShape& shape) const {
        return pattern.WithCalendar(year, month, shape);
    }
};

CronPattern::CronPattern(const CronSpec& spec, std::shared_ptr<const CalendarIndex> calendar,
                         Side side)
    : spec_(spec), calendar_(std::move(calendar)), side_(side), can_match_(EverMatches(spec)) {
    if (side_ == Side::kBlocked && calendar_ == nullptr) can_match_ = false;
    if (!can_match_ || calendar_ == nullptr) return;
    for (int weekday = 0; weekday < 7; ++weekday) {
        int second = 0;
        for (;;) {
            second = TimeAtOrAfter(spec_, second);
            if (second < 0) break;
            const int open = calendar_->NextOpenSecond(weekday, second);
            if (open == second) break;
            second = open;
            if (second >= kSecondsPerDay) break;
        }
        if (second < 0 || second >= kSecondsPerDay) {
            dead_weekdays_ =
                static_cast<std::uint8_t>(dead_weekdays_ | 1U << static_cast<unsigned>(weekday));
        }
    }
}

// Days with no second left, by the everyday rules alone. What an include rule touches may live.
std::uint32_t CronPattern::DeadDays(const CalendarIndex::MonthMasks& masks, std::int64_t first,
                                    const MonthShape& shape) const {
    std::uint32_t dead = shape.DaysOn(dead_weekdays_);
    for (const CalendarIndex::Swap& swap : calendar_->SwapsIn(first, shape.length)) {
        const std::uint32_t bit = internal::DayBit(static_cast<int>(swap.day_number - first) + 1);
        const bool is_dead = (dead_weekdays_ >> static_cast<unsigned>(swap.counts_as) & 1U) != 0;
        dead = is_dead ? dead | bit : dead & ~bit;
    }
    return dead & ~masks.included;
}

std::uint32_t CronPattern::WithCalendar(int year, int month, const MonthShape& shape) const {
    const std::uint32_t natural = MatchingDays(spec_, shape);
    const std::int64_t first = FirstOfMonth(year, month);
    std::uint32_t days = natural;
    for (const CalendarIndex::Swap& swap : calendar_->SwapsIn(first, shape.length)) {
        const int day = static_cast<int>(swap.day_number - first) + 1;
        const std::uint32_t bit = internal::DayBit(day);
        const bool match = MatchesSwapped(spec_, DaysByDayField(spec_, shape), day, swap.counts_as);
        days = match ? days | bit : days & ~bit;
    }
    const CalendarIndex::MonthMasks masks = calendar_->Month(year, month, shape);
    if (side_ == Side::kAllowed) {
        std::uint32_t allowed = days & ~masks.closed;
        if (dead_weekdays_ != 0) allowed &= ~DeadDays(masks, first, shape);
        return allowed;
    }
    // Whole days taken away by closing or by a swap, and days of which a part is taken.
    return natural & (masks.closed | masks.partial | ~days);
}

// Whether a second of a matching day is on this pattern's side of the calendar.
bool CronPattern::Passes(std::int64_t local) const {
    const bool allowed = calendar_->Allows(local);
    if (side_ == Side::kAllowed) return allowed;
    if (!allowed) return true;
    // Allowed by the calendar's rules, yet on a day that a swap took from the expression.
    const std::int64_t day_number = FloorDiv(local, kSecondsPerDay);
    const CalendarIndex::SwapRange swap = calendar_->SwapsIn(day_number, 1);
    if (swap.first == swap.last) return false;
    const Date date = DateOf(day_number);
    const MonthShape shape = ShapeOf(date.year, date.month);
    return !MatchesSwapped(spec_, DaysByDayField(spec_, shape), date.day, swap.first->counts_as);
}

std::optional<std::int64_t> CronPattern::Next(std::int64_t from, std::int64_t limit) const {
    if (!can_match_) return std::nullopt;
    limit = std::min(limit, kMaxLocalSecond);
    if (calendar_ == nullptr) return NextMatch(spec_, from, limit, kPlainDays(spec_));
    limit = std::min(limit, from + kCalendarCycleSeconds);
    for (;;) {
        const auto match = NextMatch(spec_, from, limit, DaysOf{*this});
        if (!match || Passes(*match)) return match;
        from = calendar_->NextEdge(*match);
    }
}

std::optional<std::int64_t> CronPattern::Previous(std::int64_t from, std::int64_t limit) const {
    if (!can_match_) return std::nullopt;
    limit = std::max(limit, kMinLocalSecond);
    if (calendar_ == nullptr) return PreviousMatch(spec_, from, limit, kPlainDays(spec_));
    limit = std::max(limit, from - kCalendarCycleSeconds);
    for (;;) {
        const auto match = PreviousMatch(spec_, from, limit, DaysOf{*this});
        if (!match || Passes(*match)) return match;
        // Back to just before the stretch that does not pass: find its start by its edges.
        std::int64_t start = FloorDiv(*match, kSecondsPerDay) * kSecondsPerDay;
        for (std::int64_t edge = calendar_->NextEdge(start); edge <= *match;
             edge = calendar_->NextEdge(edge)) {
            start = edge;
        }
        from = start - 1;
    }
}

std::int64_t CronPattern::Count(std::int64_t from, std::int64_t to) const {
    if (!can_match_) return 0;
    if (calendar_ == nullptr) return CountMatches(spec_, from, to, kPlainDays(spec_));
    return CountWithCalendar(from, to);
}

// Matching seconds of [from, to), which lies within one day that the day masks let through.
std::int64_t CronPattern::CountPartialDay(std::int64_t from, std::int64_t to) const {
    const std::int64_t midnight = FloorDiv(from, kSecondsPerDay) * kSecondsPerDay;
    std::int64_t count = 0;
    while (from < to) {
        const std::int64_t edge = std::min(calendar_->NextEdge(from), to);
        if (Passes(from)) {
            count += CountTimesBefore(spec_, static_cast<int>(edge - midnight)) -
                     CountTimesBefore(spec_, static_cast<int>(from - midnight));
        }
        from = edge;
    }
    return count;
}

// Days that are wholly open are counted by the masks, the others one by one.
std::int64_t CronPattern::CountWithCalendar(std::int64_t from, std::int64_t to) const {
    if (from >= to) return 0;
    std::int64_t count =
        CountMatches(spec_, from, to, [this](int year, int month, const MonthShape& shape) {
            return WithCalendar(year, month, shape) & ~calendar_->Month(year, month, shape).partial;
        });
    const std::int64_t last_day = FloorDiv(to - 1, kSecondsPerDay);
    Date at = DateOf(FloorDiv(from, kSecondsPerDay));
    for (;;) {
        const std::int64_t first = FirstOfMonth(at.year, at.month);
        if (first > last_day) return count;
        const MonthShape shape = ShapeOf(at.year, at.month);
        const bool month_matches = (spec_.months >> static_cast<unsigned>(at.month) & 1U) != 0;
        std::uint32_t partial = month_matches
                                    ? WithCalendar(at.year, at.month, shape) &
                                          calendar_->Month(at.year, at.month, shape).partial
                                    : 0;
        for (; partial != 0; partial &= partial - 1) {
            const std::int64_t midnight = (first + std::countr_zero(partial) - 1) * kSecondsPerDay;
            count +=
                CountPartialDay(std::max(from, midnight), std::min(to, midnight + kSecondsPerDay));
        }
        at = at.month == 12 ? Date{at.year + 1, 1, 1} : Date{at.year, at.month + 1, 1};
    }
}

}  // namespace ksana::schedule
