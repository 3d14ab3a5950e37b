#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/sim_callbacks.hpp"
#include "sim/sim_door.hpp"
#include "sim/sim_task_checks.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

struct ClerkSettings {
    Duration pace = std::chrono::seconds(5);
    std::size_t most_tasks = 30;  // that are not over
    DoorSettings door;
};

// Somebody who submits tasks, makes and changes their types, and cares for what waits for a person:
// closes it with a remark or sends it back, holds what has not begun, runs again what failed and
// sends callbacks again that did not get through. Over a connection that breaks.
class Clerk {
  public:
    // All must outlive it.
    Clerk(World& world, store::Store& store, RunChecks& runs, TaskChecks& tasks,
          CallbackChecks& callbacks, int number, const ClerkSettings& settings);

    void Act();
    void MakeTypes();
    // Everything that waits for a person gets one.
    void TidyUp();
    void Heal() { door_.Heal(); }
    const store::FaultPlan& faults() const { return door_.faults(); }

    // All that there are; the last is of a type that nobody makes.
    static const std::vector<std::string>& TypeCodes();

  private:
    void Choose();
    model::NewTask MakeTask();
    model::RunType MakeType(const std::string& code);
    std::optional<model::RetryPolicy> MakeRetry();
    void Submit();
    void SubmitOne();
    void ChangeType(const std::string& code);
    void DeleteType();
    void CareFor(const Uuid& id);
    void CareForAny();
    void HoldAny();
    void MakeAgain(const Uuid& id);
    void Delete(const Uuid& id);
    void Do(const Uuid& id, model::EventKind kind);
    std::vector<Uuid> Unfinished(model::RunStates states) const;
    void Note(const Uuid& id, std::string_view what, std::string_view outcome);
    // As often as a client has patience, while the store cannot be reached.
    template <class F>
    auto Insist(const F& call) -> decltype(call());

    World& world_;
    RunChecks& runs_;
    TaskChecks& tasks_;
    CallbackChecks& callbacks_;
    const int number_;
    const ClerkSettings settings_;
    Door door_;
    std::int64_t last_task_ = 0;
};

}  // namespace ksana::sim
