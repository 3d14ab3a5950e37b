#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/cron/cron_spec.hpp"

namespace ksana::schedule {

// A cron expression combined with a calendar: the local seconds that match. ZonedCron adds the
// zone. Immutable, thread-safe.
class CronPattern {
  public:
    // kAllowed: the matches that the calendar leaves. kBlocked: the matches of the bare expression
    // that the calendar removes.
    enum class Side : std::uint8_t { kAllowed, kBlocked };

    explicit CronPattern(const CronSpec& spec,
                         std::shared_ptr<const CalendarIndex> calendar = nullptr,
                         Side side = Side::kAllowed);

    const CronSpec& spec() const { return spec_; }

    // False if nothing ever matches; the other methods then return at once.
    bool CanMatch() const { return can_match_; }

    // The bounds of a search that starts at `from`: beyond them the pattern only repeats.
    std::int64_t LastNeeded(std::int64_t from) const;
    std::int64_t FirstNeeded(std::int64_t from) const;

    // Returns whether the local seconds [low, high), which the clocks skip, cause a fire at `high`
    // on this pattern's side. They do if one of them matches, `high` itself does not, and the
    // calendar allows `high` (for kBlocked: does not).
    bool FiresAfterGap(std::int64_t low, std::int64_t high) const;

    // Next searches [from, limit], Previous searches [limit, from], Count counts in [from, to).
    std::optional<std::int64_t> Next(std::int64_t from, std::int64_t limit) const;
    std::optional<std::int64_t> Previous(std::int64_t from, std::int64_t limit) const;
    std::int64_t Count(std::int64_t from, std::int64_t to) const;

  private:
    struct DaysOf;

    // From `first_day` on: the weekdays on which timed exclude rules block every match.
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
    // Without these, the search for a fire of a fully blocked job would walk day by day. Ascending;
    // empty if no weekday is blocked.
    std::vector<DeadStretch> dead_;
};

}  // namespace ksana::schedule
