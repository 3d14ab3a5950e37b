#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/engine/services/job_service.hpp"
#include "ksana/store/faulty_store.hpp"
#include "sim/sim_fires.hpp"
#include "sim/sim_runs.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

struct PersonSettings {
    Duration pace = std::chrono::seconds(5);  // no schedule is faster
    std::size_t most_jobs = 8;
    int home = World::kNobody;  // the node that serves their requests
    store::FaultChances faults;
    std::vector<std::string> types;  // of tasks that jobs may make; empty: none
};

// A user who creates, changes, pauses, resumes and deletes jobs, runs them manually and cancels
// runs, over a faulty connection. After an error the user tries again or gives up. Runs on the
// world's thread.
class Person {
  public:
    // All arguments must outlive this object.
    Person(World& world, store::Store& store, schedule::ZoneDatabase& zones, FireChecks& fires,
           RunChecks& runs, const PersonSettings& settings);

    void Act();
    void Create();
    // Pauses all jobs, without faults.
    void PauseAll();
    void Heal() { faults_.Clear(); }
    const store::FaultPlan& faults() const { return faults_; }

  private:
    model::Job MakeJob();
    model::Action MakeAction();
    std::vector<std::string> SomeParents(std::uint64_t chance);
    schedule::ScheduleSpec MakeSchedule();
    std::optional<model::RetryPolicy> MakeRetry();
    engine::JobService::Edit MakeEdit();
    std::string AnyJob();
    void Choose();
    void Change();
    void Delete();
    void RunNow();
    void Cancel();
    void Note(const std::string& job_id, std::string_view what, std::string_view outcome);
    // Repeats `call` while the store cannot be reached, as often as a patient client would.
    template <class F>
    auto Insist(const F& call) -> decltype(call());

    World& world_;
    FireChecks& fires_;
    RunChecks& runs_;
    const PersonSettings settings_;
    store::FaultPlan faults_;
    std::unique_ptr<store::Store> store_;
    UuidGenerator ids_;
    engine::ScheduleCache book_;
    engine::FirePlans plans_;
    engine::JobService service_;
    bool busy_ = false;
};

}  // namespace ksana::sim
