#pragma once

#include <memory>

#include "ksana/engine/agents/agent_service.hpp"
#include "ksana/engine/callbacks/callback_follow_up.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/engine/services/task_service.hpp"
#include "ksana/engine/services/type_service.hpp"
#include "ksana/engine/workers/worker_service.hpp"
#include "ksana/store/faulty_store.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

struct DoorSettings {
    int home = World::kNobody;       // the node that the connection leads to
    Duration reread{};               // how often types are reread if no notification comes
    std::uint64_t lost_wakeups = 0;  // per thousand
    store::FaultChances faults;
    engine::CallbackOptions callbacks;
};

// A client's access to a server, for clients that submit tasks, work on them or care for them: the
// services of the engine over a faulty connection, and a type cache that learns of changes a little
// later, or much later.
class Door {
  public:
    // All arguments must outlive this object.
    Door(World& world, store::Store& store, const DoorSettings& settings);

    engine::TaskService& tasks() { return tasks_; }
    engine::TypeService& types() { return type_service_; }
    engine::RunService& runs() { return runs_; }
    engine::AgentService& agents() { return agents_; }
    engine::WorkerService& workers() { return workers_; }
    UuidGenerator& ids() { return ids_; }

    // Makes one call at a time. Returns false if a slow call is in progress.
    template <class F>
    bool Use(const F& call) {
        if (busy_) return false;
        busy_ = true;
        world_.As(settings_.home, call);
        busy_ = false;
        return true;
    }

    void Heal();
    bool healed() const { return healed_; }
    const store::FaultPlan& faults() const { return faults_; }

  private:
    void OnCommit();
    void ReadTypesAfter(Duration delay);
    void ReadTypes();

    World& world_;
    const DoorSettings settings_;
    store::FaultPlan faults_;
    std::unique_ptr<store::Store> store_;
    UuidGenerator ids_;
    engine::TypeCache types_;
    engine::TypeService type_service_;
    engine::TaskService tasks_;
    engine::RunService runs_;
    engine::AgentService agents_;
    engine::WorkerDirectory directory_;
    engine::AgentPresence presence_;
    engine::WorkerService workers_;
    store::ChangeFeed::Subscription subscription_;
    std::uint64_t turn_ = 0;  // of reading types: only the turn scheduled last counts
    std::optional<TimePoint> read_at_;
    bool busy_ = false;
    bool healed_ = false;
};

}  // namespace ksana::sim
