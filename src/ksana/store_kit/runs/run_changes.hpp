#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ksana/model/job/job_tally.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_kit/runs/dependency_gate.hpp"
#include "ksana/store_kit/runs/followers.hpp"
#include "ksana/store_kit/runs/run_source.hpp"

namespace ksana::store_kit {

// The changes of one transaction to runs. Each change is decided at once; Flush writes all of them
// with their consequences (attempts, the job's bookkeeping, freed keys, callbacks, the next blocked
// run, fires and waiting runs of other jobs). Lives for one transaction. Not thread-safe. After an
// error the transaction must be rolled back.
class RunChanges {
  public:
    // `follow_up` may be empty. All arguments must outlive this object.
    RunChanges(Transaction& tx, TimePoint now, const store::FollowUp& follow_up, RunSource& ids)
        : tx_(tx), now_(now), follow_up_(&follow_up), ids_(ids) {}

    // Sets the follow-up for later changes; it must outlive this object.
    void FollowBy(const store::FollowUp& follow_up) { follow_up_ = &follow_up; }

    // The members of a run's former state on which consequences depend.
    struct Before {
        model::RunState state;
        bool cancel_requested;
        bool under_way;
    };

    // Applies the event to `run`, which must be locked, and returns the decision. Keeps a pointer
    // to the run: it must stay in place until Flush. A run with an unwritten change must be passed
    // in its changed state.
    model::Transition Change(model::Run& run, const model::Event& event);

    // Updates the job's bookkeeping for a run that is about to be inserted in a final state
    // (skipped).
    void NoteEnded(const model::Run& run) { AddTally(run, false); }

    // Writes all changes so far.
    Result<void> Flush();

    // Applies to a locked run what the gate says about the jobs it depends on.
    Result<model::EventKind> AskGate(DependencyGate& gate, model::Run& run);
    // Looks again at waiting runs, which the caller has locked, and at joins (Followers::Sweep).
    Result<void> LookAgain(std::vector<model::Run>& awaiting, std::string& join_cursor);

    TimePoint now() const { return now_; }

  private:
    // `listed`: the run is final and stays stored, so the store may list it by its job.
    void AddTally(const model::Run& run, bool listed);
    void Follow(const model::Run& run, const Before& before, const model::Transition& made);
    Result<void> WriteTallies();
    const model::Run* AsKept(const model::Run& run);
    Result<void> WriteRuns();
    void NoteCallback(const model::Run& run);
    Result<void> TellParents();
    Result<void> WriteFollowUps();
    Result<void> OpenGates();
    Result<void> WriteAll();
    Result<void> TellDependants();
    Result<void> InsertFires(Followers& followers);
    Result<void> ReleaseWaiting(const std::set<std::string>& job_ids);

    Transaction& tx_;
    TimePoint now_;
    const store::FollowUp* follow_up_;
    RunSource& ids_;

    RunRefs changed_;
    std::deque<model::Run> own_;  // the runs of `changed_` that no caller owns
    std::vector<model::Attempt> attempts_;
    std::map<std::string, model::JobTally> tallies_;
    std::vector<KeyClaim> freed_;
    std::vector<model::Run> follow_ups_;
    std::vector<model::RunEvent> of_callbacks_;  // outcomes of callbacks, for their parents
    std::set<std::string> ended_jobs_;           // jobs whose blocked runs may now start
    std::vector<Ending> endings_;                // that other jobs are to be told of
};

// Returns the run's claim on its unique key.
KeyClaim ClaimOf(const model::Run& run);

// Returns the topic to publish when the run can be claimed.
store::Topic ReadyTopic(const model::Run& run);

}  // namespace ksana::store_kit
