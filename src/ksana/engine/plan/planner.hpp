#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/engine/dispatch/rate_meter.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/engine/plan/store_offset.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Turns fires that are due into runs: takes jobs from the store a batch at a time and writes their
// runs, the fires that make none, and each job's next fire in one transaction. One thread.
class Planner {
  public:
    struct Options {
        // Fires this far ahead of their time become runs already: at least so far, and the more of
        // them there are, the further. Many then share a commit without being late for it.
        Duration least_ahead{};
        Duration most_ahead = std::chrono::milliseconds(100);
        std::size_t batch = 500;
        // With so many runs waiting nothing more is planned: the fires wait in their jobs, where
        // they take no room, and the misfire policy decides about them later. 0: no limit.
        std::size_t max_waiting = 100'000;
    };

    // What is given must outlive it.
    Planner(store::Store& store, FirePlans& plans, const Clock& clock, const Options& options)
        : store_(store), plans_(plans), clock_(clock), options_(options) {}

    struct Answer {
        Step step;
        std::size_t jobs = 0;
        std::size_t runs = 0;
        // To be carried out by whoever `start` spoke for, each when its ready_at has come.
        std::vector<AttemptPointer> started;
        Duration store_offset{};  // the store's clock, by which that is meant, is so far ahead
        bool full = false;        // nothing was planned: too much waits already
    };

    // `start`: runs that can start at once are stored as started, so far as there is room.
    Result<Answer> RunOnce(std::optional<store::StartAs> start);

    // When RunOnce has something to do next; none: nothing is known to come. Asked after what
    // RunOnce started has been started: that must not wait for it.
    Result<std::optional<TimePoint>> NextFire();

  private:
    Result<bool> IsFull();
    bool IsBurst() const;
    std::optional<Duration> WaitForRoom(std::size_t room);
    std::size_t BatchFor(std::size_t room) const;
    Duration Ahead() const;
    std::vector<AttemptPointer> AttemptsOf(store::Planned& planned);
    std::shared_ptr<const model::Job> Share(model::Job& job);

    store::Store& store_;
    FirePlans& plans_;
    const Clock& clock_;
    const Options options_;
    std::size_t unseen_ = 0;  // runs that wait since they were last counted
    bool full_ = false;
    bool more_ = false;          // were due the last time than could be taken
    std::size_t last_jobs_ = 0;  // taken the last time
    std::optional<SteadyPoint> no_room_since_;
    RateMeter plan_rate_;     // of the runs that were made
    Duration ahead_{};        // of the last time
    TimePoint planned_at_{};  // likewise, by this node's wall clock
    StoreOffset offset_;
    // Whoever starts a run needs its job: what it says, not its bookkeeping. So one is kept for all
    // its runs until it changes.
    std::unordered_map<std::string, std::shared_ptr<const model::Job>> kept_;
};

}  // namespace ksana::engine
