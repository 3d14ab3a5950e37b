#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/plan/clock_jump.hpp"
#include "ksana/engine/workers/agent_presence.hpp"
#include "ksana/engine/workers/worker_directory.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// The loop that looks after workers: keeps the directory up to date, takes the attempts of silent
// and replaced workers from them, deletes old rows, writes which agents claim, and rings when
// preferences end. Wakes when the next worker may have become silent. Every node has one; what two
// of them do at the same time is done once. Owned by Node. Not thread-safe, except Hint: one loop
// calls it.
class WorkerWatch {
  public:
    struct Options {
        // How long a worker or an agent may be gone before its row is deleted.
        Duration keep = std::chrono::hours(24);
        // How long workers have to be heard of after this node could not hear them: after its
        // start, an outage of the store, or a jump of the clock.
        Duration grace = model::kDefaultWorkerHeartbeat;
        store::FollowUp follow_up;
    };

    // Everything passed by reference must outlive it.
    WorkerWatch(store::Store& store, WorkerDirectory& directory, AgentPresence& agents,
                const Clock& clock, Options options)
        : store_(store),
          directory_(directory),
          agents_(agents),
          clock_(clock),
          options_(std::move(options)),
          jumps_(clock) {}

    // The workers have changed. Any thread.
    void Hint() { changed_ = true; }
    Result<Step> RunOnce();

    // Takes the attempts of these owners from them. Any thread.
    static Result<std::size_t> Reap(store::Store& store, const std::vector<std::string>& owners,
                                    const store::FollowUp& follow_up);

  private:
    Result<void> WriteAgents();
    void RingPreferences(Step& step);
    Result<void> Look();
    Result<void> TakeFromLost(const std::vector<model::Worker>& workers, TimePoint now);
    Result<void> DeleteOld(const std::vector<model::Worker>& workers, TimePoint now);
    void LookAgainAt(TimePoint store_time);
    void GiveGrace();

    store::Store& store_;
    WorkerDirectory& directory_;
    AgentPresence& agents_;
    const Clock& clock_;
    const Options options_;
    std::atomic<bool> changed_{true};
    std::optional<SteadyPoint> looked_at_;
    std::optional<TimePoint> look_at_;  // on this node's wall clock
    std::optional<SteadyPoint> judge_from_;
    bool failing_ = true;  // the store did not answer the last time, or was never asked
    ClockJumpDetector jumps_;
    // Workers whose former incarnation was reaped after it could claim nothing more.
    std::map<std::string, Uuid> settled_;
};

}  // namespace ksana::engine
