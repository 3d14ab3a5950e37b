#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ksana/engine/dispatch/executor.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_task_checks.hpp"
#include "sim/sim_world.hpp"

namespace ksana::sim {

// Who has to be told of the end of a task, and who was (I10): each end that wants a callback has
// one from the same commit on, nothing else has; receivers get what belongs to the run; a run is
// `completing` until somebody took it.
class CallbackChecks {
  public:
    // All must outlive it.
    CallbackChecks(World& world, const TaskChecks& tasks, const Targets& targets)
        : world_(world), tasks_(tasks), targets_(targets) {}

    // After TaskChecks and RunChecks have seen it.
    void OnCommit(const Commit& commit);

    // A callback comes to its receiver.
    void Arrived(const engine::ActiveAttempt& attempt);
    // A person makes another one of one that is over.
    void MaySendAgain(const Uuid& new_id, const Uuid& old) { again_[new_id] = old; }

    // Of this run: null where there is none.
    const Uuid* LastOf(const Uuid& parent) const;
    bool IsCallback(const Uuid& id) const { return books_.contains(id); }
    std::int64_t callbacks() const { return static_cast<std::int64_t>(books_.size()); }
    std::int64_t arrived() const { return arrived_; }
    std::int64_t dead_letters() const { return dead_letters_; }

  private:
    struct Book {
        Uuid parent;
        std::string body;  // what the receiver is to get
        bool success = false;
        model::RunState state = model::RunState::kQueued;
    };
    struct End {
        const model::Run* run;
        bool success;
    };

    void Fail(const model::Run& run, std::string what);
    void NoteEnd(model::RunState before, const model::Run& after);
    void Insert(const model::Run& callback);
    void Change(const model::Run& callback);
    void CheckParents();

    World& world_;
    const TaskChecks& tasks_;
    const Targets& targets_;
    std::unordered_map<Uuid, model::RunState, UuidHash> tasks_were_;
    std::unordered_map<Uuid, Book, UuidHash> books_;
    std::map<Uuid, Uuid> last_;   // of each run
    std::map<Uuid, Uuid> again_;  // new, old
    // Of one commit.
    std::map<Uuid, End> ends_;              // tasks whose end is to be told
    std::map<Uuid, model::Run> told_;       // tasks that learnt that theirs got through
    std::map<Uuid, model::Run> delivered_;  // by the task
    std::int64_t arrived_ = 0;
    std::int64_t dead_letters_ = 0;
};

}  // namespace ksana::sim
