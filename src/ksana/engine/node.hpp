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
#include "ksana/engine/limits/limits.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/engine/plan/clock_jump.hpp"
#include "ksana/engine/plan/clock_watch.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/engine/plan/planner.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/engine/retention/retention.hpp"
#include "ksana/engine/services/type_cache.hpp"
#include "ksana/model/job/effective_policy.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

struct NodeOptions {
    std::string name = "node";      // the same after a restart
    std::string incarnation = "1";  // another one after a restart
    // Nobody else has this name: runs of an earlier incarnation are taken back at once.
    bool only_one = false;
    model::PolicyDefaults defaults;
    std::size_t slots = 4;  // attempts under way at once, of each kind
    Duration lease = std::chrono::seconds(30);
    std::size_t plan_batch = 1'000;
    // How far ahead of their time fires become runs: the more there is to do, the further.
    Duration least_ahead{};
    Duration most_ahead = std::chrono::milliseconds(100);
    std::size_t claim_batch = 1'000;
    std::size_t max_waiting = 100'000;  // runs; with more nothing is planned
    std::size_t late_start_rate = 500;  // per second; 0: no limit
    Retention::Options retention;
    std::optional<model::Rate> rate;  // of all starts
    BreakerOptions breaker;
    CallbackOptions callbacks;
    // Others write, too: a commit may become visible so much later than its time.
    Duration settle = std::chrono::seconds(1);
    UuidGenerator* ids = nullptr;  // of alerts; none: there are no alerts
};

// The engine of one node without its threads: the loops, and what they share. A shell calls them:
// Engine in production, the simulator in tests.
class Node {
  public:
    // What is given must outlive it. The observer may be null. An executor must have answered all
    // that it was given before this goes. One that is named twice has two dispatchers, each with
    // its own slots: one of them is at work while the other waits for a commit.
    Node(store::Store& store, std::vector<Executor*> executors, schedule::ZoneDatabase& zones,
         const Clock& clock, NodeOptions options, Observer* observer);

    // Once, before the loops: reads what planning needs, and takes back what an earlier incarnation
    // left behind.
    Result<void> Prepare();

    const std::vector<Loop>& loops() const { return loops_; }
    // Called with the place of a loop in loops() that has something to do. Set before they run.
    void OnWake(std::function<void(std::size_t loop)> wake) { wake_ = std::move(wake); }

    const std::vector<std::unique_ptr<Dispatcher>>& dispatchers() const { return dispatchers_; }
    // Stores runs; what an executor of this node can start at once is started by this call, if all
    // are of its kind (direct_submit.hpp). Any thread.
    Result<std::vector<store::Submitted>> Submit(store::SubmitParams params);

    ScheduleCache& schedules() { return schedules_; }
    FirePlans& plans() { return plans_; }
    TypeCache& types() { return types_; }
    LimitTracker& limits() { return limits_; }
    CalendarCache& calendars() { return calendars_; }
    CalendarWatch& calendar_watch() { return calendar_watch_; }
    const std::string& owner() const { return owner_; }
    // For whoever reports on runs: the callbacks that are due because of it.
    const store::FollowUp& follow_up() const { return follow_up_; }

    // The node's own first, then by key. Any thread.
    std::vector<LimitUse> LimitUses() const;
    // What runs of a group's jobs there are on this node. Any thread.
    GroupUse UseOfGroup(const std::string& group) const;

    void Open();
    // Shutdown, in this order: no further starts; ask what runs to stop; give up on what does not.
    void Close();
    void StopAll();
    void Abandon();
    bool Idle() const;
    std::size_t UnderWay() const;
    DispatchLoad Load() const;  // of all kinds together

  private:
    Result<Step> Plan();
    Result<Step> Reap();
    Result<Step> Retain();
    std::string LockOwner() const;
    Retention::Options RetentionOptions() const;
    Result<Step> ReadDocuments();
    Result<void> ReadLimits();
    Result<Step> WatchClock();
    void AddLoops();
    void WakeStarters();
    Result<std::vector<std::string>> LostOwners();

    store::Store& store_;
    const Clock& clock_;
    const NodeOptions options_;
    Observer* const observer_;
    const std::string owner_;
    std::function<void(std::size_t)> wake_;

    LimitTracker limits_;
    TypeCache types_;
    const store::FollowUp follow_up_;
    CalendarCache calendars_;
    ScheduleCache schedules_;
    FirePlans plans_;
    Planner planner_;
    Reaper reaper_;
    Retention retention_;
    Backfiller backfiller_;
    ClockWatch clock_watch_;
    std::size_t calendar_loop_ = 0;  // its place
    CalendarWatch calendar_watch_;
    std::unique_ptr<Alerter> alerter_;  // may be null
    std::vector<std::unique_ptr<Dispatcher>> dispatchers_;
    std::vector<Loop> loops_;
    std::optional<TimePoint> next_fire_;           // only Plan; by this node's wall clock
    std::atomic<bool> planning_{false};            // a transaction of Plan is under way
    ClockJumpDetector reaper_jumps_;               // only Reap
    std::optional<SteadyPoint> no_reaping_until_;  // likewise
};

}  // namespace ksana::engine
