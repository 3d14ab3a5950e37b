#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/plan/clock_jump.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Repairs jobs after the wall clock was far ahead of the present: their fires up to the wrong time
// are accounted for, so without repair they would not fire until that time. After a smaller step
// back (less than kFar) jobs wait until the old time is reached, as in cron: nothing fires twice. A
// step back while no node ran is detected by the time last noted in the store (0012). Owned by
// Node. One thread, except Planned. Returns the store's error.
class ClockWatch {
  public:
    static constexpr Duration kFar = std::chrono::hours(3);

    struct Options {
        std::size_t page = 500;
        Duration pause = std::chrono::milliseconds(20);  // between two pages of jobs
        Duration rest = std::chrono::seconds(3);         // between two checks of the clock
        Duration note = std::chrono::hours(1);  // between two notes of the time in the store
    };

    // Everything passed by reference must outlive the object.
    ClockWatch(store::Store& store, FirePlans& plans, const Clock& clock, const Options& options)
        : store_(store), plans_(plans), clock_(clock), options_(options), jumps_(clock) {}

    struct Answer {
        Step step;
        std::size_t brought_back = 0;  // jobs
    };

    Result<Answer> RunOnce();

    // Notes that fires up to this time of the node's clock were accounted for. Detects even a short
    // period of wrong time during which the planner acted. Any thread.
    void Planned(TimePoint time);

  private:
    Result<void> LookAtClock();
    Result<void> Note();
    Result<void> LookAtJobs(Answer& answer);
    Result<bool> BringBack(model::Job job, TimePoint now);

    store::Store& store_;
    FirePlans& plans_;
    const Clock& clock_;
    const Options options_;
    ClockJumpDetector jumps_;
    std::atomic<std::int64_t> latest_plan_{0};  // microseconds since the epoch
    std::optional<SteadyPoint> noted_at_;       // none: nothing noted since the start
    // A pass over all jobs is in progress.
    bool looking_ = false;
    std::string cursor_;  // of that pass
};

}  // namespace ksana::engine
