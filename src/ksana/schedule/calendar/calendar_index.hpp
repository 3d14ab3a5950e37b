#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ksana/schedule/calendar/calendar.hpp"
#include "ksana/schedule/cron/cron_days.hpp"

namespace ksana::schedule {

// A calendar compiled for lookups: months as day masks, times of day as edges. Immutable and
// thread-safe, so many schedules share one. All seconds are local.
class CalendarIndex {
  public:
    // The calendar must be valid (ValidateCalendar).
    explicit CalendarIndex(const Calendar& calendar);

    const std::string& name() const { return name_; }

    // The effect of the calendar on the days of a month. A day in neither `closed` nor `partial` is
    // open.
    struct MonthMasks {
        std::uint32_t closed = 0;    // blocked all day
        std::uint32_t partial = 0;   // blocked for a part of the day: call Allows
        std::uint32_t included = 0;  // matched by an include rule, for all or a part of the day
    };
    MonthMasks Month(int year, int month, const MonthShape& shape) const;

    bool Allows(std::int64_t local) const;

    // NextEdge returns the first second after `local` at which Allows may change, at the latest the
    // next midnight. EdgeBefore returns the last such second at or before `local`.
    std::int64_t NextEdge(std::int64_t local) const;
    std::int64_t EdgeBefore(std::int64_t local) const;

    // The swapped days in a range of days, sorted.
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

    // Returns the first second at or after `second` that no timed exclude rule blocks on
    // `day_number`, taken as a `weekday`; 86400 if there is none. Yearly rules are ignored.
    int NextOpenSecond(std::int64_t day_number, int weekday, int second) const;

    // The days on which the set of timed exclude rules changes, ascending.
    const std::vector<std::int64_t>& TimeRuleChanges() const { return time_rule_changes_; }

    // The range of days that rules or swaps name by date: [first, last]. Outside it the calendar
    // repeats every 400 years. first > last if no rule has dates.
    std::int64_t first_dated_day() const { return first_dated_day_; }
    std::int64_t last_dated_day() const { return last_dated_day_; }

  private:
    struct Rule {
        CalendarRule when;  // times are normalised: from < to
        bool exclude = true;
        bool after_midnight = false;  // the part of a span that lies on the following day
        std::int64_t first_day = 0;   // of when.dates, as a day number
        std::int64_t last_day = 0;
    };
    // The dates of one month that narrow rules exclude or include.
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
    std::vector<Rule> whole_;  // recurring or long rules for whole days
    std::vector<Rule> timed_;  // rules with a time of day
    std::vector<DatedMonth> dated_;
    std::vector<Swap> swaps_;
    std::vector<int> edges_;  // seconds of the day at which a timed rule begins or ends, ascending
    std::vector<std::int64_t> time_rule_changes_;
    std::int64_t first_dated_day_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_dated_day_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace ksana::schedule
