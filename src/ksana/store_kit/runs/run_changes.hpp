#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ksana/model/job/job_tally.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/store_kit/driver/transaction.hpp"

namespace ksana::store_kit {

// What one transaction does to runs: each change is decided at once and written by Flush together
// with the others, and with all that follows from it (attempts, the job's bookkeeping, keys that
// come free, callbacks, the run that waited for this one).
class RunChanges {
  public:
    // `follow_up` may be empty; it and the transaction must outlive this.
    RunChanges(Transaction& tx, TimePoint now, const store::FollowUp& follow_up, UuidGenerator& ids)
        : tx_(tx), now_(now), follow_up_(&follow_up), ids_(ids) {}

    // For the changes from here on. As above.
    void FollowBy(const store::FollowUp& follow_up) { follow_up_ = &follow_up; }

    // What a run was, as far as anything follows from it.
    struct Before {
        model::RunState state;
        bool cancel_requested;
        bool under_way;
    };

    // `run` must be locked, and is afterwards as it became. It is not copied: it stays where it is
    // until Flush. Where it was changed before and not yet written, the caller hands in that same
    // state.
    model::Transition Change(model::Run& run, const model::Event& event);

    // A run that is about to be inserted in a state that ends it (skipped): for its job's books.
    void NoteEnded(const model::Run& run) { AddTally(run, false); }

    Result<void> Flush();

    TimePoint now() const { return now_; }

  private:
    // `listed`: it is final and stays, and the store may list it by its job.
    void AddTally(const model::Run& run, bool listed);
    void Follow(const model::Run& run, const Before& before, const model::Transition& made);
    Result<void> WriteTallies();
    const model::Run* AsKept(const model::Run& run);
    Result<void> WriteRuns();
    void NoteCallback(const model::Run& run);
    Result<void> TellParents();
    Result<void> WriteFollowUps();
    Result<void> OpenGates();

    Transaction& tx_;
    TimePoint now_;
    const store::FollowUp* follow_up_;
    UuidGenerator& ids_;

    RunRefs changed_;
    std::deque<model::Run> own_;  // those among them that nobody else keeps
    std::vector<model::Attempt> attempts_;
    std::map<std::string, model::JobTally> tallies_;
    std::vector<KeyClaim> freed_;
    std::vector<model::Run> follow_ups_;
    std::vector<model::RunEvent> of_callbacks_;  // what became of callbacks, for their parents
    std::set<std::string> ended_jobs_;           // with runs that may be blocked
};

// The claim a run has on its unique key.
KeyClaim ClaimOf(const model::Run& run);

// Whom a run concerns that can be claimed.
store::Topic ReadyTopic(const model::Run& run);

}  // namespace ksana::store_kit
