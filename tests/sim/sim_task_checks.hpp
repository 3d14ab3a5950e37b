#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ksana/model/run/new_task.hpp"
#include "ksana/model/run/run_type.hpp"
#include "ksana/store/run_store.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_runs.hpp"
#include "sim/sim_worker_book.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Follows every task from submission to end: it is what was submitted; it has one result, which its
// agent gave while it owned the run; a key has one holder; only people hold, close and send back.
// RunChecks checks what all runs have in common. Runs on the world's thread; reports violations to
// the world.
class TaskChecks {
  public:
    WorkerBook& workers() { return workers_; }
    // A run is still under way at an incarnation that was replaced.
    void Orphaned(const model::Run& run);

    TaskChecks(World& world, RunChecks& runs) : world_(world), runs_(runs) {}

    void OnCommit(const Commit& commit);

    // Must be called before the call: from now on the task may be in the store.
    void Submitting(const model::NewTask& task);
    void TypeMayBe(const model::RunType& type) { types_[type.code].push_back(type); }
    void Says(const std::string& exec_id, const model::Event& event) { said_[exec_id] = event; }
    // The same for a consumer of the message broker: two of them may have one attempt.
    void Says(const std::string& exec_id, const model::Event& event, const std::string& by) {
        said_[exec_id + "@" + by] = event;
    }
    void Wants(const Uuid& id, model::EventKind kind) { wanted_.emplace(id, kind); }
    void MayMakeAgain(const Uuid& new_id, const Uuid& old) { again_[new_id] = old; }

    // A caller was told the outcome.
    void Acknowledged(const model::NewTask& task, const store::Submitted& outcome);
    // `asked`: when its caller asked, by the store's clock; the answer may have come much later.
    void Told(const model::Run& run, const model::Event& event, const store::Applied& applied,
              TimePoint asked);
    void Done(const Uuid& id, model::EventKind kind);

    bool IsWanted(const Uuid& id, model::EventKind kind) const {
        return wanted_.contains({id, kind});
    }
    // Returns what the one who had this attempt reported at its end, or null.
    const model::Event* SaidOf(const model::RunStatus& status) const;
    // Runs that ended last without success, which a person might want to run again.
    const std::vector<Uuid>& unlucky() const { return unlucky_; }

    std::int64_t tasks() const { return made_; }
    std::int64_t handed_on() const { return handed_on_; }
    std::int64_t late() const { return late_; }
    std::int64_t held() const { return held_; }

  private:
    WorkerBook workers_;
    struct TaskRecord {
        model::Run run;
        int results = 0;
        bool keeps_key = false;  // since creation; a run that freed its key never holds it again
    };
    using Key = std::pair<std::string, std::string>;  // tenant, key

    void Fail(std::string_view invariant, const model::Run& run, std::string what);
    void CheckNew(const model::Run& run);
    void CheckPolicy(const model::Run& run, const model::NewTask& task);
    void TakeKey(TaskRecord& record);
    void FreeKey(const Uuid& id);
    bool HoldsKey(const TaskRecord& record) const;
    void Change(const model::Run& run, bool inserted);
    void CheckMove(const model::Run& before, const model::Run& after);
    void CheckByHand(const model::Run& before, const model::Run& after);
    void CheckEnd(TaskRecord& record, const model::Run& after);
    void CheckTakenAway(const model::Run& before, const model::Run& after);
    void CheckReport(const model::Run& before, const model::Run& after);
    void CheckExhausted(const model::Run& before, const model::Run& after);
    void NoteUnlucky(const Uuid& id);

    World& world_;
    RunChecks& runs_;
    std::unordered_map<Uuid, TaskRecord, UuidHash> records_;
    // By payload, which is unique; with the time by the store's clock.
    std::map<std::string, std::pair<model::NewTask, TimePoint>> submitted_;
    std::map<std::string, std::vector<model::RunType>> types_;  // all that were ever written
    std::map<std::string, model::Event> said_;                  // by exec_id
    std::set<std::string> accepted_;                            // exec_ids
    std::map<std::string, TimePoint> leases_;  // the end of the longest lease, by exec_id
    std::set<std::pair<Uuid, model::EventKind>> wanted_;
    std::map<Uuid, Uuid> again_;  // runs that people make from others: new id to old id
    std::map<Key, std::set<Uuid>> keys_;
    std::vector<Uuid> unlucky_;
    std::int64_t made_ = 0;
    std::int64_t handed_on_ = 0;
    std::int64_t late_ = 0;
    std::int64_t held_ = 0;
};

}  // namespace ksana::sim
