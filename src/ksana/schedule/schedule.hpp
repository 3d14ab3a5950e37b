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

// What Compile needs to resolve the names in a spec.
struct ScheduleContext {
    ZoneDatabase& zones;
    // The origin of an `every` without start_at: the creation time of the job.
    TimePoint created_at{};
    // Returns the calendar of that name, or nullptr. May be empty if there are no calendars.
    std::function<std::shared_ptr<const CalendarIndex>(std::string_view)> find_calendar;
};

// The nominal fires of a job: a compiled ScheduleSpec. Every method is a pure function and skips
// empty stretches of time instead of walking through them; Next does not allocate. Immutable,
// thread-safe and cheap to copy.
class Schedule {
  public:
    // Checks and compiles a spec. The error is kInvalidArgument with every problem, whose paths
    // start at the schedule ("/cron").
    static Result<Schedule> Compile(const ScheduleSpec& spec, const ScheduleContext& context);

    std::optional<TimePoint> Next(TimePoint after) const;       // the first fire > after
    std::optional<TimePoint> Previous(TimePoint before) const;  // the last fire < before
    // As Next, but within the dialect's horizon: 370 days for the library dialect (N-08). For users
    // and the library; the planner must not use it, because a horizon would lose fires.
    std::optional<TimePoint> NextInDialect(TimePoint after) const;
    std::int64_t Count(TimePoint after, TimePoint until) const;  // how many in (after, until]
    // Returns the first `max` fires in (after, until].
    std::vector<TimePoint> Fires(TimePoint after, TimePoint until, std::size_t max) const;

    // Returns whether the times of fires follow from the schedule alone (all kinds but kAfter).
    bool HasTimes() const { return spec_->kind != ScheduleKind::kAfter; }

    // Returns false if the schedule has no fire at all, past or future.
    bool EverFires() const;

    // Returns the fires in (after, until] that the calendar blocks.
    FireRange Blocked(TimePoint after, TimePoint until) const;

    // Returns the start time for the run of a nominal fire: a delay of 0 to `jitter`, derived from
    // a hash of both arguments, and always before the next nominal fire.
    TimePoint WithJitter(std::string_view job_id, TimePoint nominal) const;

    // Returns how a change of the clocks affected this fire.
    DstNote NoteFor(TimePoint fire) const;

    const ScheduleSpec& spec() const { return *spec_; }

  private:
    // The fires of an expression, and those that the calendar removes from it.
    struct CronPair {
        ZonedCron allowed;
        ZonedCron blocked;
    };
    // The fires of kAfter are made by the ends of other jobs' runs: none has a time in advance.
    struct NoTimes {};
    using Engine = std::variant<TimePoint, EveryGrid, CronPair, NoTimes>;

    Schedule(std::shared_ptr<const ScheduleSpec> spec, std::shared_ptr<const Engine> engine)
        : spec_(std::move(spec)), engine_(std::move(engine)) {}

    // The bounds from spec_; MinTime() and MaxTime() if absent.
    TimePoint First() const;
    TimePoint Last() const;

    std::shared_ptr<const ScheduleSpec> spec_;
    std::shared_ptr<const Engine> engine_;
};

// Returns the nominal time plus a delay of 0 to less than `span`, derived from a hash of the first
// two arguments.
TimePoint Delayed(std::string_view job_id, TimePoint nominal, Duration span);

}  // namespace ksana::schedule
