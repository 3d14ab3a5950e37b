#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/calendars/calendar_cache.hpp"
#include "ksana/engine/calendars/calendar_users.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Sees to it that jobs fire as their calendars say after these have changed, on this node or on
// another: reads the calendars anew, has schedules compiled anew, and finds the next fires of the
// jobs that use them, a page at a time. After a start all are looked at: the change may have been
// the last thing that a server did.
class CalendarWatch {
  public:
    struct Options {
        Duration least_rest = std::chrono::seconds(1);   // between two readings after commits
        Duration most_rest = std::chrono::minutes(1);    // without one
        Duration pause = std::chrono::milliseconds(20);  // between two pages of jobs
        std::function<void()> wake;                      // RunOnce is to be called
    };

    // What is given must outlive it.
    CalendarWatch(store::Store& store, CalendarCache& book, ScheduleCache& schedules,
                  FirePlans& plans, const Clock& clock, Options options)
        : store_(store),
          book_(book),
          schedules_(schedules),
          plans_(plans),
          clock_(clock),
          options_(std::move(options)) {}

    // One thread.
    Result<Step> RunOnce();

    // A setting was written, perhaps a calendar. Any thread.
    void Hint() { hinted_ = true; }

    // Reads the calendars now: afterwards this node plans by them. Any thread.
    Result<void> Refresh();

  private:
    Result<void> RefreshIfNeeded(Step& step);
    Result<void> LookAtJobs(Step& step);

    store::Store& store_;
    CalendarCache& book_;
    ScheduleCache& schedules_;
    FirePlans& plans_;
    const Clock& clock_;
    const Options options_;
    std::atomic<bool> hinted_{true};

    Mutex mutex_;
    CalendarNames changed_ KSANA_GUARDED_BY(mutex_);      // their jobs are to be looked at
    std::uint64_t changes_ KSANA_GUARDED_BY(mutex_) = 0;  // grows when changed_ does
    // These: only RunOnce.
    std::optional<SteadyPoint> read_at_;
    CalendarNames looking_for_;
    std::uint64_t looking_since_ = 0;  // of changes_
    std::string cursor_;               // of the jobs, while looking
};

}  // namespace ksana::engine
