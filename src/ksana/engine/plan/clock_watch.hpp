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

// Brings jobs back to the present after the wall clock was far ahead of it: every fire up to the
// wrong time is accounted for by then, so without this they would be silent until it comes. As cron
// does it, a clock that was set back by less than kFar is waited for: nothing fires twice. A clock
// that was set back while no node was up is noticed by the time that the store last heard of. One
// thread.
class ClockWatch {
  public:
    static constexpr Duration kFar = std::chrono::hours(3);

    struct Options {
        std::size_t page = 500;
        Duration pause = std::chrono::milliseconds(20);  // between two pages
        Duration rest = std::chrono::seconds(3);         // between two looks at the clock
        Duration note = std::chrono::hours(1);           // between two notes of the time
    };

    // What is given must outlive it.
    ClockWatch(store::Store& store, FirePlans& plans, const Clock& clock, const Options& options)
        : store_(store), plans_(plans), clock_(clock), options_(options), jumps_(clock) {}

    struct Answer {
        Step step;
        std::size_t brought_back = 0;  // jobs
    };

    Result<Answer> RunOnce();

    // Fires up to this time of the node's clock were accounted for. Any thread. However short a
    // wrong time was, what was done at it is noticed by this.
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
    std::atomic<std::int64_t> latest_plan_{0};  // microseconds
    std::optional<SteadyPoint> noted_at_;       // none: not yet
    bool looking_ = false;
    std::string cursor_;  // of the jobs, while looking
};

}  // namespace ksana::engine
