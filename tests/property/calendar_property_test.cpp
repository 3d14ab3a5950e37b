#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/cron/cron_parse.hpp"
#include "ksana/schedule/cron/cron_pattern.hpp"
#include "ksana/schedule/every.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "support/naive_cron.hpp"
#include "support/property_cases.hpp"

// K-22: calendars over random expressions and grids, checked against a naive evaluation of the
// rules at every instant.

namespace ksana::schedule {
namespace {

using ksana::testing::NaiveCron;
using ksana::testing::PropertyCases;

constexpr int kFirstYear = 2026;

int Between(Random& random, int low, int high) {
    return low + static_cast<int>(random.Below(static_cast<std::uint64_t>(high - low + 1)));
}

Date RandomDate(Random& random) {
    const int month = Between(random, 1, 3);
    return {kFirstYear, month, Between(random, 1, DaysInMonth(kFirstYear, month))};
}

CalendarRule RandomRule(Random& random) {
    CalendarRule rule;
    if (random.Below(2) == 0) {
        rule.dates = CalendarRule::DateSpan{RandomDate(random), RandomDate(random)};
        if (rule.dates->last < rule.dates->first) std::swap(rule.dates->first, rule.dates->last);
        if (random.Below(2) == 0) rule.dates->last = rule.dates->first;
    }
    if (random.Below(2) == 0) rule.weekdays = static_cast<std::uint8_t>(random.Below(128));
    if (random.Below(6) == 0)
        rule.yearly = CalendarRule::MonthDay{Between(random, 1, 3), Between(random, 1, 28)};
    const bool nothing = !rule.dates && !rule.yearly && rule.weekdays == 0;
    if (nothing || random.Below(2) == 0) {
        rule.times =
            CalendarRule::TimeSpan{Between(random, 0, 24) * 3600, Between(random, 0, 24) * 3600};
        if (rule.times->from == rule.times->to) rule.times->to = (rule.times->from + 3600) % 86'400;
    }
    return rule;
}

Calendar RandomCalendar(Random& random) {
    Calendar calendar;
    calendar.name = "random";
    for (std::uint64_t i = random.Below(4); i > 0; --i)
        calendar.exclude.push_back(RandomRule(random));
    for (std::uint64_t i = random.Below(3); i > 0; --i)
        calendar.include.push_back(RandomRule(random));
    for (std::uint64_t i = random.Below(4); i > 0; --i) {
        const SwapDay swap{RandomDate(random), Between(random, 0, 6)};
        bool twice = false;
        for (const SwapDay& other : calendar.swaps) twice |= other.date == swap.date;
        if (!twice) calendar.swaps.push_back(swap);
    }
    return calendar;
}

// Evaluates the rules of calendar.hpp one by one.
int NaiveWeekday(const Calendar& calendar, std::int64_t day) {
    for (const SwapDay& swap : calendar.swaps) {
        if (swap.date.DayNumber() == day) return swap.counts_as;
    }
    return WeekdayOf(day);
}

bool RuleMatchesDay(const Calendar& calendar, const CalendarRule& rule, std::int64_t day) {
    const Date date = DateOf(day);
    if (rule.dates && (date < rule.dates->first || date > rule.dates->last)) return false;
    if (rule.yearly && (date.month != rule.yearly->month || date.day != rule.yearly->day))
        return false;
    return rule.weekdays == 0 || (rule.weekdays >> NaiveWeekday(calendar, day) & 1) != 0;
}

bool RuleMatches(const Calendar& calendar, const CalendarRule& rule, std::int64_t local) {
    const std::int64_t day = FloorDiv(local, kSecondsPerDay);
    const auto second = static_cast<int>(local - day * kSecondsPerDay);
    if (!rule.times) return RuleMatchesDay(calendar, rule, day);
    const auto [from, to] = *rule.times;
    if (from < to) return second >= from && second < to && RuleMatchesDay(calendar, rule, day);
    return (second >= from && RuleMatchesDay(calendar, rule, day)) ||
           (second < to && RuleMatchesDay(calendar, rule, day - 1));
}

bool NaiveAllows(const Calendar& calendar, std::int64_t local) {
    for (const CalendarRule& rule : calendar.include) {
        if (RuleMatches(calendar, rule, local)) return true;
    }
    for (const CalendarRule& rule : calendar.exclude) {
        if (RuleMatches(calendar, rule, local)) return false;
    }
    return true;
}

// On a swapped day, the weekday field is matched against the weekday that the day counts as.
bool NaiveFires(const Calendar& calendar, const NaiveCron& cron, std::int64_t local) {
    const std::int64_t day = FloorDiv(local, kSecondsPerDay);
    const int counts_as = NaiveWeekday(calendar, day);
    bool swapped = false;
    for (const SwapDay& swap : calendar.swaps) swapped |= swap.date.DayNumber() == day;
    if (!swapped) return Matches(cron, local);
    NaiveCron there = cron;
    there.last_weekdays.clear();
    there.nth_weekdays.clear();
    const bool on_that_weekday = cron.fields[5].at(static_cast<std::size_t>(counts_as));
    there.fields[5].assign(61, on_that_weekday);
    return Matches(there, local);
}

TEST(CalendarProperty, AllowsAndEdgesFollowTheRules) {
    SeededRandom random(1);
    for (int i = 0; i < PropertyCases(3'000); ++i) {
        const Calendar calendar = RandomCalendar(random);
        ASSERT_TRUE(ValidateCalendar(calendar).empty());
        const CalendarIndex index(calendar);
        std::int64_t local =
            (Date{kFirstYear, 1, 1}.DayNumber() - 2 + static_cast<std::int64_t>(random.Below(60))) *
            kSecondsPerDay;
        std::int64_t edge = index.NextEdge(local);
        bool last = NaiveAllows(calendar, local);
        for (int step = 0; step < 24 * 20; ++step, local += 3600) {
            const bool allowed = NaiveAllows(calendar, local);
            ASSERT_EQ(index.Allows(local), allowed) << "case " << i << " at " << local;
            if (local >= edge) {
                edge = index.NextEdge(local);
            } else {
                ASSERT_EQ(allowed, last) << "the answer changed between edges, case " << i;
            }
            last = allowed;
        }
    }
}

TEST(CalendarProperty, CronFiresWhatTheRulesLetThrough) {
    SeededRandom random(2);
    for (int i = 0; i < PropertyCases(4'000); ++i) {
        const Calendar calendar = RandomCalendar(random);
        NaiveCron naive = ksana::testing::MakeRandomCron(random);
        if (naive.has_seconds) continue;
        const CronSpec spec = *ParseCron(
            naive.text,
            {CronDialect::kStandard, naive.day_match_and ? DayMatch::kAnd : DayMatch::kOr});
        const auto index = std::make_shared<const CalendarIndex>(calendar);
        const CronPattern allowed(spec, index);
        const CronPattern blocked(spec, index, CronPattern::Side::kBlocked);
        const std::int64_t from = Date{kFirstYear, 1, 1}.DayNumber() * kSecondsPerDay +
                                  static_cast<std::int64_t>(random.Below(80 * 86'400));
        const std::int64_t to = from + static_cast<std::int64_t>(random.Below(10 * 86'400));
        std::int64_t fires = 0;
        std::int64_t taken = 0;
        std::optional<std::int64_t> first;
        std::optional<std::int64_t> last;
        std::optional<std::int64_t> first_taken;
        for (std::int64_t local = (from + 59) / 60 * 60; local < to; local += 60) {
            const bool fire = NaiveFires(calendar, naive, local) && NaiveAllows(calendar, local);
            if (fire) {
                ++fires;
                if (!first) first = local;
                last = local;
            } else if (Matches(naive, local)) {
                ++taken;
                if (!first_taken) first_taken = local;
            }
        }
        ASSERT_EQ(allowed.Next(from, to - 1), first) << naive.text << " case " << i;
        ASSERT_EQ(allowed.Previous(to - 1, from), last) << naive.text << " case " << i;
        ASSERT_EQ(allowed.Count(from, to), fires) << naive.text << " case " << i;
        ASSERT_EQ(blocked.Next(from, to - 1), first_taken) << naive.text << " case " << i;
        ASSERT_EQ(blocked.Count(from, to), taken) << naive.text << " case " << i;
    }
}

TEST(CalendarProperty, AGridFiresWhatTheRulesLetThrough) {
    SeededRandom random(3);
    ZoneDatabase zones;
    const auto zone = *zones.Find("Europe/Berlin");
    for (int i = 0; i < PropertyCases(2'000); ++i) {
        const Calendar calendar = RandomCalendar(random);
        const auto index = std::make_shared<const CalendarIndex>(calendar);
        const TimePoint start =
            TimePoint(std::chrono::seconds(Date{kFirstYear, 1, 1}.DayNumber() * kSecondsPerDay +
                                           static_cast<std::int64_t>(random.Below(100 * 86'400))));
        const auto every = std::chrono::minutes(Between(random, 7, 4'000));
        const EveryGrid grid(start, every, index, zone);
        const TimePoint after = start + std::chrono::seconds(random.Below(5 * 86'400));
        const TimePoint until = after + std::chrono::seconds(random.Below(30 * 86'400));
        std::int64_t fires = 0;
        std::int64_t taken = 0;
        std::optional<TimePoint> first;
        std::optional<TimePoint> last_taken;
        for (TimePoint at = start; at <= until; at += every) {
            if (at <= after) continue;
            const std::int64_t utc =
                std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
            if (NaiveAllows(calendar, utc + zone->OffsetAt(utc))) {
                ++fires;
                if (!first) first = at;
            } else {
                ++taken;
                last_taken = at;
            }
        }
        ASSERT_EQ(grid.Count(after, until), fires) << "case " << i;
        ASSERT_EQ(grid.CountBlocked(after, until), taken) << "case " << i;
        if (first) {
            ASSERT_EQ(grid.Next(after), first) << "case " << i;
        }
        ASSERT_EQ(grid.PreviousBlocked(until + Duration(1), after + Duration(1)), last_taken);
    }
}

}  // namespace
}  // namespace ksana::schedule
