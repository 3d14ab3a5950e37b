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
    std::size_t most_tasks = 30;  // unfinished ones
    // Tasks of this type have this category, and no labels; empty: no type does.
    std::string published;
    std::string category;
    DoorSettings door;
};

// A user who submits tasks, creates and changes their types, and handles runs that wait for a
// person: closes them with a remark or sends them back, holds runs that have not begun, runs failed
// ones again and resends callbacks that were not delivered. Works over a faulty connection, on the
// world's thread.
class Clerk {
  public:
    // All arguments must outlive this object.
    Clerk(World& world, store::Store& store, RunChecks& runs, TaskChecks& tasks,
          CallbackChecks& callbacks, int number, const ClerkSettings& settings);

    void Act();
    void MakeTypes();
    // Handles every run that waits for a person.
    void TidyUp();
    void Heal() { door_.Heal(); }
    const store::FaultPlan& faults() const { return door_.faults(); }

    // Returns all type codes; the last one is of a type that is never created.
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
    // Repeats `call` while the store cannot be reached, as often as a patient client would.
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
