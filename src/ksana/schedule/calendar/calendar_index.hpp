#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ksana/schedule/calendar/calendar.hpp"
#include "ksana/schedule/cron/cron_days.hpp"

namespace ksana::schedule {

// A calendar made ready for questions: months as day masks, times of day as edges. Immutable, so
// that many schedules share one. All seconds are local.
class CalendarIndex {
  public:
    // The calendar must be valid (ValidateCalendar).
    explicit CalendarIndex(const Calendar& calendar);

    const std::string& name() const { return name_; }

    // What a calendar makes of the days of one month. A day in none of the masks is open.
    struct MonthMasks {
        std::uint32_t closed = 0;    // nothing of it is let through
        std::uint32_t partial = 0;   // part of it is: ask Allows
        std::uint32_t included = 0;  // touched by an include rule
    };
    MonthMasks Month(int year, int month, const MonthShape& shape) const;

    bool Allows(std::int64_t local) const;

    // The first second after `local` at which the answer of Allows may be another one; at the
    // latest the next midnight. And the last such second at or before it.
    std::int64_t NextEdge(std::int64_t local) const;
    std::int64_t EdgeBefore(std::int64_t local) const;

    // The swapped days of one month, ascending by day.
    struct Swap {
        std::int64_t day_number;
        int counts_as;
    };
    struct SwapRange {
        const Swap* first;
        const Swap* last;
        const Swap* begin() const { return first; }
        const Swap* end() const { return last; }
    };
    SwapRange SwapsIn(std::int64_t first_day, int length) const;

    // By the exclude rules with a time of day that hold on `day_number` and are not yearly: the
    // first second at or after `second` of such a weekday that is left, or 86400.
    int NextOpenSecond(std::int64_t day_number, int weekday, int second) const;

    // The days on which the set of those rules changes, ascending.
    const std::vector<std::int64_t>& TimeRuleChanges() const { return time_rule_changes_; }

    // The days that rules or swaps name by date: [first, last]. Before and after them the calendar
    // repeats every 400 years. Empty (first > last) where nothing is named.
    std::int64_t first_dated_day() const { return first_dated_day_; }
    std::int64_t last_dated_day() const { return last_dated_day_; }

  private:
    struct Rule {
        CalendarRule when;  // times are normalised: from < to
        bool exclude = true;
        bool after_midnight = false;  // the part of the span that lies on the following day
        std::int64_t first_day = 0;   // of when.dates, as day numbers
        std::int64_t last_day = 0;
    };
    // Whole excluded and included dates of one month.
    struct DatedMonth {
        std::int64_t index;  // year * 12 + month
        std::uint32_t excluded = 0;
        std::uint32_t included = 0;
    };
    struct DayStatus {
        bool excluded = false;
        bool included = false;
    };

    void Add(const CalendarRule& rule, bool exclude);
    void AddDates(const CalendarRule::DateSpan& dates, bool exclude);
    void NoteDates(std::int64_t first_day, std::int64_t last_day);
    void IndexTimes();
    int EffectiveWeekday(std::int64_t day_number) const;
    bool MatchesDay(const Rule& rule, std::int64_t day_number) const;
    std::uint32_t MatchingDaysOf(const Rule& rule, int month, std::int64_t first,
                                 const MonthShape& shape) const;
    const DatedMonth* FindDated(int year, int month) const;
    DayStatus WholeDay(std::int64_t day_number) const;

    std::string name_;
    std::vector<Rule> whole_;  // whole days that recur
    std::vector<Rule> timed_;  // parts of days
    std::vector<DatedMonth> dated_;
    std::vector<Swap> swaps_;
    std::vector<int> edges_;  // seconds of the day at which some rule begins or ends, ascending
    std::vector<std::int64_t> time_rule_changes_;
    std::int64_t first_dated_day_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_dated_day_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace ksana::schedule
