#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ksana/store/store.hpp"
#include "sim/broker/broker_side.hpp"
#include "sim/sim_agents.hpp"
#include "sim/sim_callbacks.hpp"
#include "sim/sim_target.hpp"
#include "sim/sim_task_checks.hpp"
#include "sim/sim_tasks.hpp"
#include "sim/sim_totals.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

struct QueueSettings {
    int nodes = 1;
    int agents = 2;
    Duration length{};  // of the world
    Duration pace{};    // of its users
    std::uint64_t lost_wakeups = 0;
    store::FaultChances faults;  // of every connection
    engine::CallbackOptions callbacks;
    std::optional<BrokerSettings> broker;  // none: agents get all tasks
};

// The task queue of a world: the clients that submit tasks, the agents, the callback receivers,
// their faults, and the checks. Runs on the world's thread.
class QueueSide {
  public:
    WorkerBook& workers() { return tasks_.workers(); }
    using Often = std::function<void(Duration mean, World::Action action)>;

    // `people` is the real store, `agents` the store as servers see it. All arguments must outlive
    // this object.
    QueueSide(World& world, store::Store& people, store::Store& agents, Targets& targets,
              RunChecks& runs, const QueueSettings& settings);

    void OnCommit(const Commit& commit);
    void Begin(const Often& often);
    // Ends the faults: agents work, and a person handles every run that waits for one.
    void Heal();
    void AddTo(ClusterTotals& totals) const;

  private:
    DoorSettings MakeDoor();
    AgentSettings MakeAgent();
    void KillOne();
    void PauseOne();
    void TidyUp();
    Agent& AnyAgent() { return *agents_[world_.Below(agents_.size())]; }

    World& world_;
    Targets& targets_;
    const QueueSettings settings_;
    TaskChecks tasks_;
    CallbackChecks callbacks_;
    std::vector<std::unique_ptr<Clerk>> clerks_;
    std::vector<std::unique_ptr<Agent>> agents_;
    std::unique_ptr<BrokerSide> broker_;  // null: there is none in this world
    std::int64_t deaths_ = 0;
    std::int64_t pauses_ = 0;
};

}  // namespace ksana::sim
