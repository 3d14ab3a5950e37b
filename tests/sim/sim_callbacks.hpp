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

// Checks callbacks (I10): an end that wants a callback has one from the same commit on, and no
// other end has; the receiver gets the body that belongs to the run; a run is `completing` until a
// receiver has taken the callback. Runs on the world's thread; reports violations to the world.
class CallbackChecks {
  public:
    // All arguments must outlive this object.
    CallbackChecks(World& world, const TaskChecks& tasks, const Targets& targets)
        : world_(world), tasks_(tasks), targets_(targets) {}

    // Must be called after TaskChecks and RunChecks have seen the commit.
    void OnCommit(const Commit& commit);

    // A callback has reached its receiver.
    void Arrived(const engine::ActiveAttempt& attempt);
    // A person sends a new callback in place of one that has ended.
    void MaySendAgain(const Uuid& new_id, const Uuid& old) { again_[new_id] = old; }

    // Returns the last callback of this run, or null.
    const Uuid* LastOf(const Uuid& parent) const;
    bool IsCallback(const Uuid& id) const { return books_.contains(id); }
    std::int64_t callbacks() const { return static_cast<std::int64_t>(books_.size()); }
    std::int64_t arrived() const { return arrived_; }
    std::int64_t dead_letters() const { return dead_letters_; }

  private:
    struct Book {
        Uuid parent;
        std::string body;  // what the receiver must get
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
    std::map<Uuid, Uuid> last_;   // last callback by run
    std::map<Uuid, Uuid> again_;  // new id to old id
    // State of one commit.
    std::map<Uuid, End> ends_;              // tasks whose end wants a callback
    std::map<Uuid, model::Run> told_;       // tasks that learnt that their callback was delivered
    std::map<Uuid, model::Run> delivered_;  // callbacks by task
    std::int64_t arrived_ = 0;
    std::int64_t dead_letters_ = 0;
};

}  // namespace ksana::sim
