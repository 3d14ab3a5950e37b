#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/schedule/cron/zoned_cron.hpp"
#include "ksana/schedule/every.hpp"
#include "ksana/schedule/spec.hpp"
#include "ksana/schedule/zone/zone_database.hpp"

namespace ksana::schedule {

// Where Compile finds what a spec names.
struct ScheduleContext {
    ZoneDatabase& zones;
    // The origin of an `every` that has no start_at: when the job was made.
    TimePoint created_at{};
    // Finds a calendar by name; nullptr where there is none of that name.
    std::function<std::shared_ptr<const CalendarIndex>(std::string_view)> find_calendar;
};

// The nominal fires of a job. All questions are pure, none walks through empty time, and Next does
// not allocate. Immutable and cheap to copy.
class Schedule {
  public:
    // Every fault of the spec, with paths from the schedule's own root ("/cron").
    static Result<Schedule> Compile(const ScheduleSpec& spec, const ScheduleContext& context);

    std::optional<TimePoint> Next(TimePoint after) const;       // the first fire > after
    std::optional<TimePoint> Previous(TimePoint before) const;  // the last fire < before
    // As Next, but no further than the dialect looks ahead: 370 days in the library dialect
    // (N-08). For people and the library's users; planning must never lose a fire to a horizon.
    std::optional<TimePoint> NextInDialect(TimePoint after) const;
    std::int64_t Count(TimePoint after, TimePoint until) const;  // how many in (after, until]
    // The first `max` fires in (after, until].
    std::vector<TimePoint> Fires(TimePoint after, TimePoint until, std::size_t max) const;

    // False: it has no fire at all, neither in the past nor in the future.
    bool EverFires() const;

    // The fires in (after, until] that the calendar takes away.
    FireRange Blocked(TimePoint after, TimePoint until) const;

    // When to start the run of a nominal fire: at or after it, by a hash of both arguments, and
    // always before the next nominal fire.
    TimePoint WithJitter(std::string_view job_id, TimePoint nominal) const;

    DstNote NoteFor(TimePoint fire) const;

    const ScheduleSpec& spec() const { return *spec_; }

  private:
    struct CronPair {
        ZonedCron allowed;
        ZonedCron blocked;
    };
    using Engine = std::variant<TimePoint, EveryGrid, CronPair>;

    Schedule(std::shared_ptr<const ScheduleSpec> spec, std::shared_ptr<const Engine> engine)
        : spec_(std::move(spec)), engine_(std::move(engine)) {}

    TimePoint First() const;  // the bounds of spec_, widest where there is none
    TimePoint Last() const;

    std::shared_ptr<const ScheduleSpec> spec_;
    std::shared_ptr<const Engine> engine_;
};

}  // namespace ksana::schedule
