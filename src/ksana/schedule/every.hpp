#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "ksana/base/time/time.hpp"
#include "ksana/schedule/calendar/calendar_index.hpp"
#include "ksana/schedule/zone/zone.hpp"

namespace ksana::schedule {

// Fires at start + n * every for n = 0, 1, 2 …: a grid that neither run times nor restarts move.
// A calendar takes fires out of it. Immutable.
class EveryGrid {
  public:
    // every > 0. The zone says what the calendar's dates mean; both may be absent.
    EveryGrid(TimePoint start, Duration every, std::shared_ptr<const CalendarIndex> calendar = {},
              std::shared_ptr<const Zone> zone = {});

    std::optional<TimePoint> Next(TimePoint after) const;
    std::optional<TimePoint> Previous(TimePoint before) const;
    std::int64_t Count(TimePoint after, TimePoint until) const;  // in (after, until]

    // Fires of the bare grid that the calendar takes away, in (after, until].
    std::int64_t CountBlocked(TimePoint after, TimePoint until) const;
    std::optional<TimePoint> NextBlocked(TimePoint after, TimePoint until) const;
    std::optional<TimePoint> PreviousBlocked(TimePoint before, TimePoint from) const;

  private:
    // A stretch of time in which the calendar gives one answer: [begin, end).
    struct Stretch {
        bool allowed = true;
        TimePoint begin;
        TimePoint end;
    };
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
