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

// Applies changed calendars to the jobs that use them, whichever node changed them (0019): reads
// the calendars again, drops compiled schedules, and plans the jobs that use them, page by page.
// After a start it examines all calendars: a change may have been the last action of a stopped
// server. Owned by Node. Refresh and Hint are thread-safe; RunOnce belongs to one thread. Returns
// the store's error.
class CalendarWatch {
  public:
    struct Options {
        Duration least_rest = std::chrono::seconds(1);   // between two readings after commits
        Duration most_rest = std::chrono::minutes(1);    // between two readings without a commit
        Duration pause = std::chrono::milliseconds(20);  // between two pages of jobs
        std::function<void()> wake;                      // requests a call of RunOnce
    };

    // Everything passed by reference must outlive the object.
    CalendarWatch(store::Store& store, CalendarCache& book, ScheduleCache& schedules,
                  FirePlans& plans, const Clock& clock, Options options)
        : store_(store),
          book_(book),
          schedules_(schedules),
          plans_(plans),
          clock_(clock),
          options_(std::move(options)) {}

    // Reads the calendars if needed and plans one page of jobs. One thread.
    Result<Step> RunOnce();

    // Notes that a setting was written, which may be a calendar. Any thread.
    void Hint() { hinted_ = true; }

    // Reads the calendars now; afterwards this node plans with them. Any thread.
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
    CalendarNames changed_ KSANA_GUARDED_BY(mutex_);      // calendars whose jobs must be planned
    std::uint64_t changes_ KSANA_GUARDED_BY(mutex_) = 0;  // incremented when changed_ grows
    // Used by RunOnce only:
    std::optional<SteadyPoint> read_at_;
    CalendarNames looking_for_;
    std::uint64_t looking_since_ = 0;  // the value of changes_ at the start of the pass
    std::string cursor_;               // of the jobs in the pass
};

}  // namespace ksana::engine
