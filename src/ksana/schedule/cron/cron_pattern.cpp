#include "ksana/schedule/cron/cron_pattern.hpp"

#include <algorithm>
#include <utility>

#include "ksana/schedule/cron/cron_match.hpp"

namespace ksana::schedule {
namespace {

constexpr auto kPlainDays = [](const CronSpec& spec) {
    return [&spec](int, int, const MonthShape& shape) { return MatchingDays(spec, shape); };
};

// Day numbers before and after the supported years, with a margin for arithmetic.
constexpr std::int64_t kFirstDay = kMinLocalSecond / kSecondsPerDay - 2;
constexpr std::int64_t kEndOfDays = kMaxLocalSecond / kSecondsPerDay + 2;

// Returns whether the day fields match a day that counts as another weekday. Forms that depend on
// the position in the month (3#2, 5L) refer to real weekdays and do not match such a day.
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
    if (can_match_ && calendar_ != nullptr) FindDeadWeekdays();
}

void CronPattern::FindDeadWeekdays() {
    std::vector<std::int64_t> starts = {kFirstDay};
    const auto& changes = calendar_->TimeRuleChanges();
    starts.insert(starts.end(), changes.begin(), changes.end());
    bool any = false;
    for (const std::int64_t start : starts) {
        DeadStretch stretch{start, 0};
        for (int weekday = 0; weekday < 7; ++weekday) {
            // Alternates between the next open and the next matching second until they meet or the
            // day ends.
            int second = TimeAtOrAfter(spec_, 0);
            while (second >= 0 && second < kSecondsPerDay) {
                const int open = calendar_->NextOpenSecond(start, weekday, second);
                if (open == second) break;
                second = open < kSecondsPerDay ? TimeAtOrAfter(spec_, open) : -1;
            }
            if (second < 0) {
                stretch.weekdays = static_cast<std::uint8_t>(stretch.weekdays |
                                                             1U << static_cast<unsigned>(weekday));
            }
        }
        any = any || stretch.weekdays != 0;
        dead_.push_back(stretch);
    }
    if (!any) dead_.clear();
}

std::int64_t CronPattern::LastNeeded(std::int64_t from) const {
    if (calendar_ != nullptr && calendar_->last_dated_day() >= calendar_->first_dated_day()) {
        from = std::max(from, (calendar_->last_dated_day() + 1) * kSecondsPerDay);
    }
    return std::min(from + kCalendarCycleSeconds, kMaxLocalSecond);
}

std::int64_t CronPattern::FirstNeeded(std::int64_t from) const {
    if (calendar_ != nullptr && calendar_->last_dated_day() >= calendar_->first_dated_day()) {
        from = std::min(from, calendar_->first_dated_day() * kSecondsPerDay);
    }
    return std::max(from - kCalendarCycleSeconds, kMinLocalSecond);
}

// Returns the days on which no matching second is left. Days that an include rule matches are not
// among them.
std::uint32_t CronPattern::DeadDays(const CalendarIndex::MonthMasks& masks, std::int64_t first,
                                    const MonthShape& shape) const {
    std::uint32_t dead = 0;
    for (std::size_t i = 0; i < dead_.size(); ++i) {
        const std::int64_t end = i + 1 < dead_.size() ? dead_[i + 1].first_day : kEndOfDays;
        if (end <= first || dead_[i].first_day >= first + shape.length) continue;
        std::uint32_t days = shape.DaysOn(dead_[i].weekdays);
        for (const CalendarIndex::Swap& swap : calendar_->SwapsIn(first, shape.length)) {
            const std::uint32_t bit =
                internal::DayBit(static_cast<int>(swap.day_number - first) + 1);
            const bool is_dead =
                (dead_[i].weekdays >> static_cast<unsigned>(swap.counts_as) & 1U) != 0;
            days = is_dead ? days | bit : days & ~bit;
        }
        // Only the days of this month that the stretch covers.
        const auto low =
            static_cast<unsigned>(std::max<std::int64_t>(dead_[i].first_day - first + 1, 1));
        const auto high =
            static_cast<unsigned>(std::min<std::int64_t>(end - first + 1, shape.length + 1));
        dead |= days &
                static_cast<std::uint32_t>((std::uint64_t{1} << high) - (std::uint64_t{1} << low));
    }
    return dead & ~masks.included;
}

// Returns the matching days of a month, where swapped days count as their other weekday.
std::uint32_t CronPattern::SwappedDays(std::int64_t first, const MonthShape& shape) const {
    std::uint32_t days = MatchingDays(spec_, shape);
    for (const CalendarIndex::Swap& swap : calendar_->SwapsIn(first, shape.length)) {
        const int day = static_cast<int>(swap.day_number - first) + 1;
        const bool match = MatchesSwapped(spec_, DaysByDayField(spec_, shape), day, swap.counts_as);
        days = match ? days | internal::DayBit(day) : days & ~internal::DayBit(day);
    }
    return days;
}

std::uint32_t CronPattern::WithCalendar(int year, int month, const MonthShape& shape) const {
    const std::int64_t first = FirstOfMonth(year, month);
    const std::uint32_t days = SwappedDays(first, shape);
    const CalendarIndex::MonthMasks masks = calendar_->Month(year, month, shape);
    if (side_ == Side::kAllowed) {
        std::uint32_t allowed = days & ~masks.closed;
        if (!dead_.empty()) allowed &= ~DeadDays(masks, first, shape);
        return allowed;
    }
    // Days that are closed, partly closed, or removed by a swap.
    return MatchingDays(spec_, shape) & (masks.closed | masks.partial | ~days);
}

// Returns whether [low, high) has a match of the expression, whatever the calendar's rules say.
bool CronPattern::GapMatches(std::int64_t low, std::int64_t high, bool with_swaps) const {
    const auto days_of = [this, with_swaps](int year, int month, const MonthShape& shape) {
        return with_swaps ? SwappedDays(FirstOfMonth(year, month), shape)
                          : MatchingDays(spec_, shape);
    };
    return NextMatch(spec_, low, high - 1, days_of).has_value();
}

bool CronPattern::FiresAfterGap(std::int64_t low, std::int64_t high) const {
    if (low >= high) return false;
    const auto stands_for_gap = [this, low, high](bool with_swaps) {
        return GapMatches(low, high, with_swaps) && !GapMatches(high, high + 1, with_swaps);
    };
    if (calendar_ == nullptr) return stands_for_gap(false);
    const bool allowed = calendar_->Allows(high) && stands_for_gap(true);
    return side_ == Side::kAllowed ? allowed : !allowed && stands_for_gap(false);
}

// Returns whether a second of a matching day is on this pattern's side of the calendar.
bool CronPattern::Passes(std::int64_t local) const {
    const bool allowed = calendar_->Allows(local);
    if (side_ == Side::kAllowed) return allowed;
    if (!allowed) return true;
    // The rules allow it, but a swap may have removed the day from the expression.
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
    limit = std::min(limit, LastNeeded(from));
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
    limit = std::max(limit, FirstNeeded(from));
    for (;;) {
        const auto match = PreviousMatch(spec_, from, limit, DaysOf{*this});
        if (!match || Passes(*match)) return match;
        // Continue just before the interval that does not pass.
        from = calendar_->EdgeBefore(*match) - 1;
    }
}

std::int64_t CronPattern::Count(std::int64_t from, std::int64_t to) const {
    if (!can_match_) return 0;
    if (calendar_ == nullptr) return CountMatches(spec_, from, to, kPlainDays(spec_));
    return CountWithCalendar(from, to);
}

// Counts the matches in [from, to), which must lie within one day that the day masks contain.
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

// Counts days that are fully open with masks, the others one by one.
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
