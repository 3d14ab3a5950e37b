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

// Turns due fires into runs: takes jobs from the store in batches and writes their runs, the fires
// that yield none, and each job's next fire in one transaction. Owned by Node. Not thread-safe: one
// loop calls it. Returns the store's error; nothing is written then.
class Planner {
  public:
    struct Options {
        // How far ahead of their time fires become runs: from least_ahead to most_ahead, growing
        // with the rate of runs. Many fires then share a commit without being late.
        Duration least_ahead{};
        Duration most_ahead = std::chrono::milliseconds(100);
        std::size_t batch = 500;
        // The number of queued runs at which planning pauses. The fires stay in their jobs, where
        // they cost nothing, and the misfire policy decides about them later. 0: no limit.
        std::size_t max_waiting = 100'000;
    };

    // Everything passed by reference must outlive the planner.
    Planner(store::Store& store, FirePlans& plans, const Clock& clock, const Options& options)
        : store_(store), plans_(plans), clock_(clock), options_(options) {}

    struct Answer {
        Step step;
        std::size_t jobs = 0;
        std::size_t runs = 0;
        std::size_t skipped = 0;  // of `runs`
        store::FireCounts without_run{};
        // Runs stored as started, for the owner in `start` to execute, each from its ready_at on.
        std::vector<AttemptPointer> started;
        Duration store_offset{};  // how far the store's clock, which ready_at refers to, is ahead
        bool full = false;        // nothing was planned: max_waiting is reached
    };

    // Plans one batch. With `start`, runs that can start at once are stored as started, as far as
    // start->limit allows.
    Result<Answer> RunOnce(std::optional<store::StartAs> start);

    // Returns when RunOnce has work next; none: no fire is known. Call it after the runs that
    // RunOnce started were handed over: they must not wait for this query.
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
    std::size_t unseen_ = 0;  // queued runs planned since the last count
    // Whether the last count reached max_waiting.
    bool full_ = false;
    bool more_ = false;          // more jobs were due than the last batch took
    std::size_t last_jobs_ = 0;  // jobs in the last batch
    // Start of the current wait for room.
    std::optional<SteadyPoint> no_room_since_;
    RateMeter plan_rate_;     // of planned runs
    Duration ahead_{};        // lookahead of the last batch
    TimePoint planned_at_{};  // time of the last batch, on this node's wall clock
    StoreOffset offset_;
    // Jobs of recent fires, shared by the attempts of their runs until the job changes. An executor
    // reads the definition only, so a copy with old state suffices.
    std::unordered_map<std::string, std::shared_ptr<const model::Job>> kept_;
};

}  // namespace ksana::engine
