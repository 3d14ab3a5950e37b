#include "ksana/schedule/calendar/calendar_index.hpp"

#include <algorithm>

namespace ksana::schedule {
namespace {

constexpr int kDay = static_cast<int>(kSecondsPerDay);

}  // namespace

CalendarIndex::CalendarIndex(const Calendar& calendar) : name_(calendar.name) {
    for (const CalendarRule& rule : calendar.exclude) Add(rule, true);
    for (const CalendarRule& rule : calendar.include) Add(rule, false);
    for (const SwapDay& swap : calendar.swaps) {
        swaps_.push_back({swap.date.DayNumber(), swap.counts_as});
        NoteDates(swaps_.back().day_number, swaps_.back().day_number);
    }
    std::sort(swaps_.begin(), swaps_.end(),
              [](const Swap& a, const Swap& b) { return a.day_number < b.day_number; });
    // Several rules may name days of the same month: merge them into one entry.
    std::sort(dated_.begin(), dated_.end(),
              [](const DatedMonth& a, const DatedMonth& b) { return a.index < b.index; });
    std::vector<DatedMonth> folded;
    for (const DatedMonth& month : dated_) {
        if (folded.empty() || folded.back().index != month.index) {
            folded.push_back(month);
        } else {
            folded.back().excluded |= month.excluded;
            folded.back().included |= month.included;
        }
    }
    dated_ = std::move(folded);
    IndexTimes();
}

void CalendarIndex::NoteDates(std::int64_t first_day, std::int64_t last_day) {
    first_dated_day_ = std::min(first_dated_day_, first_day);
    last_dated_day_ = std::max(last_dated_day_, last_day);
}

void CalendarIndex::IndexTimes() {
    for (const Rule& rule : timed_) {
        edges_.push_back(rule.when.times->from);
        edges_.push_back(rule.when.times->to);
        if (!rule.exclude || !rule.when.dates) continue;
        const std::int64_t shift = rule.after_midnight ? 1 : 0;
        time_rule_changes_.push_back(rule.first_day + shift);
        time_rule_changes_.push_back(rule.last_day + 1 + shift);
    }
    std::sort(edges_.begin(), edges_.end());
    std::sort(time_rule_changes_.begin(), time_rule_changes_.end());
}

void CalendarIndex::Add(const CalendarRule& rule, bool exclude) {
    Rule made{rule, exclude, false, 0, 0};
    if (rule.dates) {
        made.first_day = rule.dates->first.DayNumber();
        made.last_day = rule.dates->last.DayNumber();
        NoteDates(made.first_day, made.last_day + 1);
    }
    if (!IsWide(rule)) return AddDates(*rule.dates, exclude);
    if (!rule.times) {
        whole_.push_back(made);
        return;
    }
    if (rule.times->from < rule.times->to) {
        timed_.push_back(made);
        return;
    }
    made.when.times = CalendarRule::TimeSpan{rule.times->from, kDay};
    if (rule.times->from < kDay) timed_.push_back(made);
    made.when.times = CalendarRule::TimeSpan{0, rule.times->to};
    made.after_midnight = true;
    if (rule.times->to > 0) timed_.push_back(made);
}

void CalendarIndex::AddDates(const CalendarRule::DateSpan& dates, bool exclude) {
    Date at = dates.first;
    while (at <= dates.last) {
        const bool ends_here = at.year == dates.last.year && at.month == dates.last.month;
        const int last = ends_here ? dates.last.day : DaysInMonth(at.year, at.month);
        const auto days =
            static_cast<std::uint32_t>((std::uint64_t{2} << static_cast<unsigned>(last)) -
                                       (std::uint64_t{1} << static_cast<unsigned>(at.day)));
        DatedMonth month{at.year * std::int64_t{12} + at.month, 0, 0};
        (exclude ? month.excluded : month.included) = days;
        dated_.push_back(month);
        at = at.month == 12 ? Date{at.year + 1, 1, 1} : Date{at.year, at.month + 1, 1};
    }
}

CalendarIndex::SwapRange CalendarIndex::SwapsIn(std::int64_t first_day, int length) const {
    const auto before = [](const Swap& swap, std::int64_t day) { return swap.day_number < day; };
    const auto first = std::lower_bound(swaps_.begin(), swaps_.end(), first_day, before);
    const auto last = std::lower_bound(first, swaps_.end(), first_day + length, before);
    return {swaps_.data() + (first - swaps_.begin()), swaps_.data() + (last - swaps_.begin())};
}

int CalendarIndex::EffectiveWeekday(std::int64_t day_number) const {
    const SwapRange swap = SwapsIn(day_number, 1);
    return swap.first != swap.last ? swap.first->counts_as : WeekdayOf(day_number);
}

bool CalendarIndex::MatchesDay(const Rule& rule, std::int64_t day_number) const {
    if (rule.after_midnight) --day_number;
    if (rule.when.dates && (day_number < rule.first_day || day_number > rule.last_day))
        return false;
    if (rule.when.weekdays != 0) {
        const int weekday = EffectiveWeekday(day_number);
        if ((rule.when.weekdays >> static_cast<unsigned>(weekday) & 1U) == 0) return false;
    }
    if (!rule.when.yearly) return true;
    const Date date = DateOf(day_number);
    return date.month == rule.when.yearly->month && date.day == rule.when.yearly->day;
}

std::uint32_t CalendarIndex::MatchingDaysOf(const Rule& rule, int month, std::int64_t first,
                                            const MonthShape& shape) const {
    std::uint32_t days = shape.AllDays();
    if (rule.when.weekdays != 0) {
        days = shape.DaysOn(rule.when.weekdays);
        for (const Swap& swap : SwapsIn(first, shape.length)) {
            const std::uint32_t bit =
                internal::DayBit(static_cast<int>(swap.day_number - first) + 1);
            const bool matches =
                (rule.when.weekdays >> static_cast<unsigned>(swap.counts_as) & 1U) != 0;
            days = matches ? days | bit : days & ~bit;
        }
    }
    if (rule.when.yearly) {
        days &= rule.when.yearly->month == month ? internal::DayBit(rule.when.yearly->day) : 0;
    }
    if (rule.when.dates) {
        const std::int64_t low = std::max<std::int64_t>(rule.first_day - first + 1, 1);
        const std::int64_t high = std::min<std::int64_t>(rule.last_day - first + 1, shape.length);
        if (low > high) {
            days = 0;
        } else {
            days &=
                static_cast<std::uint32_t>((std::uint64_t{2} << high) - (std::uint64_t{1} << low));
        }
    }
    if (rule.after_midnight) {
        days = days << 1U & shape.AllDays();
        if (MatchesDay(rule, first)) days |= internal::DayBit(1);
    }
    return days;
}

const CalendarIndex::DatedMonth* CalendarIndex::FindDated(int year, int month) const {
    const std::int64_t index = year * std::int64_t{12} + month;
    const auto found =
        std::lower_bound(dated_.begin(), dated_.end(), index,
                         [](const DatedMonth& m, std::int64_t i) { return m.index < i; });
    return found != dated_.end() && found->index == index ? &*found : nullptr;
}

CalendarIndex::MonthMasks CalendarIndex::Month(int year, int month, const MonthShape& shape) const {
    const std::int64_t first = FirstOfMonth(year, month);
    std::uint32_t excluded = 0;
    std::uint32_t included = 0;
    if (const DatedMonth* dated = FindDated(year, month)) {
        excluded = dated->excluded;
        included = dated->included;
    }
    for (const Rule& rule : whole_) {
        (rule.exclude ? excluded : included) |= MatchingDaysOf(rule, month, first, shape);
    }
    std::uint32_t partly_excluded = 0;
    std::uint32_t partly_included = 0;
    for (const Rule& rule : timed_) {
        (rule.exclude ? partly_excluded : partly_included) |=
            MatchingDaysOf(rule, month, first, shape);
    }
    MonthMasks masks;
    const std::uint32_t shut = excluded & ~included;
    masks.closed = shut & ~partly_included;
    masks.partial = (shut & partly_included) | (partly_excluded & ~shut & ~included);
    masks.included = included | partly_included;
    return masks;
}

CalendarIndex::DayStatus CalendarIndex::WholeDay(std::int64_t day_number) const {
    DayStatus status;
    const Date date = DateOf(day_number);
    if (const DatedMonth* dated = FindDated(date.year, date.month)) {
        status.excluded = (dated->excluded >> static_cast<unsigned>(date.day) & 1U) != 0;
        status.included = (dated->included >> static_cast<unsigned>(date.day) & 1U) != 0;
    }
    for (const Rule& rule : whole_) {
        if (MatchesDay(rule, day_number)) {
            (rule.exclude ? status.excluded : status.included) = true;
        }
    }
    return status;
}

bool CalendarIndex::Allows(std::int64_t local) const {
    const std::int64_t day_number = FloorDiv(local, kSecondsPerDay);
    const auto second = static_cast<int>(local - day_number * kSecondsPerDay);
    DayStatus status = WholeDay(day_number);
    if (status.included) return true;
    for (const Rule& rule : timed_) {
        if (second < rule.when.times->from || second >= rule.when.times->to) continue;
        if (MatchesDay(rule, day_number)) {
            (rule.exclude ? status.excluded : status.included) = true;
        }
    }
    return status.included || !status.excluded;
}

std::int64_t CalendarIndex::NextEdge(std::int64_t local) const {
    const std::int64_t midnight = FloorDiv(local, kSecondsPerDay) * kSecondsPerDay;
    const auto second = static_cast<int>(local - midnight);
    const auto edge = std::upper_bound(edges_.begin(), edges_.end(), second);
    return midnight + (edge == edges_.end() ? kDay : *edge);
}

std::int64_t CalendarIndex::EdgeBefore(std::int64_t local) const {
    const std::int64_t midnight = FloorDiv(local, kSecondsPerDay) * kSecondsPerDay;
    const auto second = static_cast<int>(local - midnight);
    const auto after = std::upper_bound(edges_.begin(), edges_.end(), second);
    return midnight + (after == edges_.begin() ? 0 : *(after - 1));
}

int CalendarIndex::NextOpenSecond(std::int64_t day_number, int weekday, int second) const {
    // Each pass moves past the end of one span, so there are at most as many passes as rules.
    for (bool moved = true; moved && second < kDay;) {
        moved = false;
        for (const Rule& rule : timed_) {
            if (!rule.exclude || rule.when.yearly) continue;
            const std::int64_t starts_on = rule.after_midnight ? day_number - 1 : day_number;
            if (rule.when.dates && (starts_on < rule.first_day || starts_on > rule.last_day)) {
                continue;
            }
            if (rule.when.weekdays != 0) {
                // The day before a swapped day is not known here, so such a rule is ignored.
                if (rule.after_midnight && !swaps_.empty()) continue;
                const int day = rule.after_midnight ? (weekday + 6) % 7 : weekday;
                if ((rule.when.weekdays >> static_cast<unsigned>(day) & 1U) == 0) continue;
            }
            if (second >= rule.when.times->from && second < rule.when.times->to) {
                second = rule.when.times->to;
                moved = true;
            }
        }
    }
    return second;
}

}  // namespace ksana::schedule
