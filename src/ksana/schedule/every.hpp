#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ksana/base/time/time.hpp"
#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::schedule {

// A fixed grid of fires: start + n * every for n = 0, 1, 2 …, independent of run times and
// restarts. A calendar removes fires from it. Immutable, thread-safe.
class EveryGrid {
  public:
    // `every` must be positive. The calendar's dates are local to `zone`. Both pointers may be null
    // (no calendar, UTC).
    EveryGrid(TimePoint start, Duration every, std::shared_ptr<const CalendarIndex> calendar = {},
              std::shared_ptr<const Zone> zone = {});

    std::optional<TimePoint> Next(TimePoint after) const;
    std::optional<TimePoint> Previous(TimePoint before) const;
    std::int64_t Count(TimePoint after, TimePoint until) const;  // in (after, until]

    // The fires of the grid that the calendar removes, in (after, until] or [from, before).
    std::int64_t CountBlocked(TimePoint after, TimePoint until) const;
    std::optional<TimePoint> NextBlocked(TimePoint after, TimePoint until) const;
    std::optional<TimePoint> PreviousBlocked(TimePoint before, TimePoint from) const;

  private:
    // An interval [begin, end) in which the calendar allows everything or nothing.
    struct Stretch {
        bool allowed = true;
        TimePoint begin;
        TimePoint end;
    };
    // How far Next and Previous search beyond the dates that the calendar names.
    Duration Horizon() const;
    Stretch StretchAt(TimePoint instant) const;
    std::optional<TimePoint> Find(TimePoint after, TimePoint until, bool allowed) const;
    std::optional<TimePoint> FindBack(TimePoint before, TimePoint from, bool allowed) const;

    std::optional<TimePoint> GridAfter(TimePoint after) const;
    std::optional<TimePoint> GridBefore(TimePoint before) const;
    std::int64_t GridCount(TimePoint after, TimePoint until) const;

    TimePoint start_;
    Duration every_;
    std::shared_ptr<const CalendarIndex> calendar_;
    std::shared_ptr<const Zone> zone_;
};

}  // namespace ksana::schedule
