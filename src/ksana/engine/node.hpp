#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ksana/base/clock.hpp"
#include "ksana/base/result.hpp"
#include "ksana/engine/backfiller.hpp"
#include "ksana/engine/clock_watch.hpp"
#include "ksana/engine/dispatcher.hpp"
#include "ksana/engine/executor.hpp"
#include "ksana/engine/fire_plans.hpp"
#include "ksana/engine/jump_meter.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/engine/planner.hpp"
#include "ksana/engine/reaper.hpp"
#include "ksana/engine/retention.hpp"
#include "ksana/engine/schedule_book.hpp"
#include "ksana/engine/type_book.hpp"
#include "ksana/model/effective_policy.hpp"
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
};

// The engine of one node without its threads: the loops, and what they share. A shell calls them:
// Engine in production, the simulator in tests.
class Node {
  public:
    // What is given must outlive it. The observer may be null. An executor must have answered all
    // that it was given before this goes.
    Node(store::Store& store, std::vector<Executor*> executors, schedule::ZoneDatabase& zones,
         const Clock& clock, NodeOptions options, Observer* observer);

    // Once, before the loops: reads what planning needs, and takes back what an earlier incarnation
    // left behind.
    Result<void> Prepare();

    const std::vector<Loop>& loops() const { return loops_; }
    // Called with the place of a loop in loops() that has something to do. Set before they run.
    void OnWake(std::function<void(std::size_t loop)> wake) { wake_ = std::move(wake); }

    const std::vector<std::unique_ptr<Dispatcher>>& dispatchers() const { return dispatchers_; }
    ScheduleBook& schedules() { return schedules_; }
    FirePlans& plans() { return plans_; }
    TypeBook& types() { return types_; }
    const std::string& owner() const { return owner_; }

    void Open();
    // Shutdown, in this order: no further starts; ask what runs to stop; give up on what does not.
    void Close();
    void StopAll();
    void Abandon();
    bool Idle() const;
    std::size_t UnderWay() const;

  private:
    Result<Step> Plan();
    Result<Step> Reap();
    Result<Step> Retain();
    Result<Step> ReadTypes();
    Result<Step> WatchClock();
    void AddLoops();
    Result<std::vector<std::string>> LostOwners();

    store::Store& store_;
    const Clock& clock_;
    const NodeOptions options_;
    Observer* const observer_;
    const std::string owner_;
    std::function<void(std::size_t)> wake_;

    TypeBook types_;
    ScheduleBook schedules_;
    FirePlans plans_;
    Planner planner_;
    Reaper reaper_;
    Retention retention_;
    Backfiller backfiller_;
    ClockWatch clock_watch_;
    std::vector<std::unique_ptr<Dispatcher>> dispatchers_;
    std::vector<Loop> loops_;
    std::optional<TimePoint> next_fire_;           // only Plan; by this node's wall clock
    std::atomic<bool> planning_{false};            // a transaction of Plan is under way
    JumpMeter reaper_jumps_;                       // only Reap
    std::optional<SteadyPoint> no_reaping_until_;  // likewise
};

}  // namespace ksana::engine
