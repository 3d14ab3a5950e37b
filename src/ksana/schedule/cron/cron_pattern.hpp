#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/cron/cron_spec.hpp"

namespace ksana::schedule {

// A cron expression with the calendar laid over it: which local seconds match. Zones come on top
// (zoned_cron.hpp). Immutable.
class CronPattern {
  public:
    // The days that fire are the ones left over (kAllowed), or the ones the calendar took away
    // (kBlocked: what the expression alone would have fired).
    enum class Side : std::uint8_t { kAllowed, kBlocked };

    explicit CronPattern(const CronSpec& spec,
                         std::shared_ptr<const CalendarIndex> calendar = nullptr,
                         Side side = Side::kAllowed);

    const CronSpec& spec() const { return spec_; }

    // False: nothing ever matches, and the other questions answer so at once.
    bool CanMatch() const { return can_match_; }

    // How far a search from a second has to look: what lies beyond repeats what was seen.
    std::int64_t LastNeeded(std::int64_t from) const;
    std::int64_t FirstNeeded(std::int64_t from) const;

    // For local seconds that clocks skip, [low, high): whether they make one fire at `high` on this
    // pattern's side. They do when one of them matches, `high` itself does not, and the calendar
    // lets `high` through (or, on the other side, does not).
    bool FiresAfterGap(std::int64_t low, std::int64_t high) const;

    std::optional<std::int64_t> Next(std::int64_t from, std::int64_t limit) const;  // [from, limit]
    std::optional<std::int64_t> Previous(std::int64_t from,
                                         std::int64_t limit) const;  // [limit, from]
    std::int64_t Count(std::int64_t from, std::int64_t to) const;    // [from, to)

  private:
    struct DaysOf;

    // From a day on: weekdays whose every matching second the exclude rules take away.
    struct DeadStretch {
        std::int64_t first_day;
        std::uint8_t weekdays;
    };

    void FindDeadWeekdays();
    bool GapMatches(std::int64_t low, std::int64_t high, bool with_swaps) const;
    std::uint32_t SwappedDays(std::int64_t first, const MonthShape& shape) const;
    std::uint32_t DeadDays(const CalendarIndex::MonthMasks& masks, std::int64_t first,
                           const MonthShape& shape) const;
    std::uint32_t WithCalendar(int year, int month, const MonthShape& shape) const;
    bool Passes(std::int64_t local) const;
    std::int64_t CountPartialDay(std::int64_t from, std::int64_t to) const;
    std::int64_t CountWithCalendar(std::int64_t from, std::int64_t to) const;

    CronSpec spec_;
    std::shared_ptr<const CalendarIndex> calendar_;
    Side side_;
    bool can_match_;
    // Without these, a job that is never let through would be looked for day by day. Ascending;
    // empty where there are none.
    std::vector<DeadStretch> dead_;
};

}  // namespace ksana::schedule
