#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/alerts/alerter.hpp"
#include "ksana/engine/backfill/backfiller.hpp"
#include "ksana/engine/calendars/calendar_cache.hpp"
#include "ksana/engine/calendars/calendar_watch.hpp"
#include "ksana/engine/callbacks/callback_follow_up.hpp"
#include "ksana/engine/dispatch/dispatcher.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/engine/dispatch/reaper.hpp"
#include "ksana/engine/limits/limit_shares.hpp"
#include "ksana/engine/limits/limits.hpp"
#include "ksana/engine/locks/store_locks.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/nodes/node_watch.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/engine/plan/clock_jump.hpp"
#include "ksana/engine/plan/clock_watch.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/engine/plan/planner.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/engine/retention/retention.hpp"
#include "ksana/engine/services/type_cache.hpp"
#include "ksana/engine/workers/agent_presence.hpp"
#include "ksana/engine/workers/worker_directory.hpp"
#include "ksana/engine/workers/worker_watch.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

struct NodeOptions {
    std::string name = "node";      // stays the same over restarts
    std::string incarnation = "1";  // differs after each restart
    // No other process uses this name, so runs of an earlier incarnation are reaped at startup,
    // without waiting for their leases.
    bool only_one = false;
    std::string version;
    // Other processes may use the store: the node registers there and watches the others, and
    // limits are divided among all of them.
    bool shared = false;
    std::function<std::string()> address;  // URL of the API, asked once it listens; may be empty
    model::PolicyDefaults defaults;
    std::size_t slots = 4;  // attempts in flight at once, for each dispatcher
    Duration lease = std::chrono::seconds(15);
    std::size_t plan_batch = 1'000;
    // How far ahead of their time fires become runs. The planner looks further ahead the more fires
    // there are.
    Duration least_ahead{};
    Duration most_ahead = std::chrono::milliseconds(100);
    std::size_t claim_batch = 1'000;
    std::size_t max_waiting = 100'000;  // queued runs at which planning pauses; 0: no limit
    // Starts of overdue runs per second and dispatcher, at first; 0: no limit.
    std::size_t late_start_rate = 500;
    Retention::Options retention;
    std::optional<model::Rate> rate;  // of all starts on this node; none: no limit
    BreakerOptions breaker;
    bool want_runs = false;  // give the observer the runs after their attempts
    CallbackOptions callbacks;
    // How much later than its timestamp a commit of another connection may become visible.
    Duration settle = std::chrono::seconds(1);
    UuidGenerator* ids = nullptr;  // ids of incidents and notices; null: alerts are off
    // Which node trims the history and evaluates alerts; null: rows of the store decide.
    lock::LockDriver* locks = nullptr;
    // How often workers send heartbeats, and after which silence they count as down.
    Duration worker_heartbeat = model::kDefaultWorkerHeartbeat;
    Duration worker_silence = model::kDefaultWorkerSilence;
};

// The engine of one node without its threads: owns the loops, the caches and the limits they share.
// Engine runs the loops on threads in production; the simulator calls them in tests. Each loop
// belongs to one thread at a time; every other method says if any thread may call it. A loop that
// fails returns the store's error and can be called again.
class Node {
  public:
    // Everything passed by reference or pointer must outlive the node. `observer` may be null. Each
    // executor must have answered every attempt before the node is destroyed. An executor listed
    // twice gets two dispatchers, each with its own slots: one can work while the other waits for a
    // commit.
    Node(store::Store& store, std::vector<Executor*> executors, schedule::ZoneDatabase& zones,
         const Clock& clock, NodeOptions options, Observer* observer);
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node();

    // Waits until no other server lives under the configured name of this one, if the store is
    // shared; kConflict if one does. Call it before Prepare, which takes over that name's runs.
    Result<void> AwaitName(Clock& clock) const;
    // Must be called before the loops run. Reads types, calendars and limits, and reaps the runs
    // that an earlier incarnation left running; then registers the node, if the store is shared.
    // Returns the store's error if that fails.
    Result<void> Prepare();

    const std::vector<Loop>& loops() const { return loops_; }
    // Sets the function that is called with the index in loops() of a loop that has work. Set
    // before any loop runs; called on any thread.
    void OnWake(std::function<void(std::size_t loop)> wake) { wake_ = std::move(wake); }

    const std::vector<std::unique_ptr<Dispatcher>>& dispatchers() const { return dispatchers_; }
    // Stores runs. If one dispatcher serves the kind of all of them, starts those that fit into
    // free slots in the same call (direct_submit.hpp). Any thread.
    Result<std::vector<store::Submitted>> Submit(store::SubmitParams params);

    ScheduleCache& schedules() { return schedules_; }
    FirePlans& plans() { return plans_; }
    TypeCache& types() { return types_; }
    LimitTracker& limits() { return limits_; }
    CalendarCache& calendars() { return calendars_; }
    CalendarWatch& calendar_watch() { return calendar_watch_; }
    WorkerDirectory& workers() { return workers_; }
    const WorkerDirectory& workers() const { return workers_; }
    AgentPresence& agents() { return agents_; }
    const std::string& owner() const { return owner_; }
    // Returns the function that makes the callbacks due after a report. For every caller that
    // reports on runs.
    const store::FollowUp& follow_up() const { return follow_up_; }

    // Makes sure that the reaper looks when an attempt outside this node may expire. Any thread.
    void ReapWithin(Duration time);

    // Returns the use of every limit: the node's own first, then by key. Any thread.
    std::vector<LimitUse> LimitUses() const;
    // Counts the attempts of the group's jobs on this node. Any thread.
    GroupUse UseOfGroup(const std::string& group) const;

    // Returns every node that shares the store, by name. Any thread.
    Result<std::vector<NodeStatus>> Nodes() const { return node_watch_.All(); }

    // Accepts starts again after Close. Any thread.
    void Open();
    // Shows the other nodes that this one is about to stop. Any thread.
    void AnnounceStop();
    // The steps of a shutdown, in this order: refuse further starts, ask every attempt to stop,
    // report those that do not stop as given back. Any thread.
    void Close();
    void StopAll();
    void Abandon();
    // Tells the other nodes that this one has stopped. After the last step of every loop.
    void Leave() { node_watch_.Leave(); }
    // The last step, after all loops have ended: gives back what this node holds of limits.
    void LeaveShares();
    bool Idle() const;
    std::size_t UnderWay() const;
    DispatchLoad Load() const;  // summed over all dispatchers

  private:
    Result<Step> Plan();
    Result<Step> Reap();
    Result<Step> Retain();
    std::string LockOwner() const;
    Retention::Options RetentionOptions() const;
    Result<Step> ReadDocuments();
    Result<void> ReadLimits();
    Result<bool> ResetBreakers();
    Result<Step> WatchClock();
    void AddLoops();
    void AddClusterLoops();
    void WakeStarters();
    void WakeShares();
    std::map<std::string, std::size_t> WaitingForLimits() const;
    Result<std::vector<std::string>> LostOwners();
    NodeWatch::Options WatchOptions();
    Result<void> TakeBack(const std::vector<std::string>& owners);
    void NotePlanned(const Planner::Answer& answer);
    void NoteReaped(const std::vector<model::Run>& runs);

    store::Store& store_;
    const Clock& clock_;
    const NodeOptions options_;
    Observer* const observer_;
    const std::string owner_;
    std::function<void(std::size_t)> wake_;

    LimitTracker limits_;
    LimitShares shares_;
    std::optional<std::size_t> share_loop_;  // index in loops_; none: the store is not shared
    TypeCache types_;
    const store::FollowUp follow_up_;
    CalendarCache calendars_;
    ScheduleCache schedules_;
    WorkerDirectory workers_;
    AgentPresence agents_;
    FirePlans plans_;
    Planner planner_;
    Reaper reaper_;
    StoreLocks store_locks_;
    lock::LockDriver& locks_;
    Retention retention_;
    Backfiller backfiller_;
    ClockWatch clock_watch_;
    NodeWatch node_watch_;
    std::optional<std::size_t> node_loop_;  // index in loops_; none: the store is not shared
    std::size_t calendar_loop_ = 0;         // index in loops_
    CalendarWatch calendar_watch_;
    std::map<std::string, TimePoint> breaker_resets_;  // by host; of the last look
    std::size_t worker_loop_ = 0;                      // index in loops_
    WorkerWatch worker_watch_;
    std::unique_ptr<Alerter> alerter_;  // null: alerts are off
    std::vector<std::unique_ptr<Dispatcher>> dispatchers_;
    std::vector<Loop> loops_;
    std::optional<TimePoint> next_fire_;  // used by Plan only; on this node's wall clock
    std::atomic<bool> planning_{false};   // a transaction of Plan is in flight
    std::size_t reaper_loop_ = 0;         // index in loops_
    // When the next expiry that the reaper knows of is due; max(): none, or it looks just now.
    std::atomic<SteadyPoint> reaps_at_{SteadyPoint::max()};
    ClockJumpDetector reaper_jumps_;               // used by Reap only
    std::optional<SteadyPoint> no_reaping_until_;  // used by Reap only; none: reaping is allowed
};

}  // namespace ksana::engine
