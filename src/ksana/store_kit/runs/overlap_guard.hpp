#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/model/job/overlap.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {

// Keeps the runs of a job from overlapping, across all nodes. Asked before a run starts. Lives for
// one transaction; `tx` and `changes` must outlive it. Not thread-safe.
class OverlapGuard {
  public:
    OverlapGuard(Transaction& tx, RunChanges& changes) : tx_(tx), changes_(changes) {}

    // Returns whether a run must be checked: the first attempt of a job that does not allow
    // overlap.
    static bool Concerns(const model::Run& run);

    // Adds counts that the caller has already locked.
    void Know(std::vector<OverlapCounts> gates);
    // Locks the counts of these runs' jobs, all at once. Must precede the other calls for these
    // runs.
    Result<void> Lock(const RunRefs& runs);

    // Returns kStart, kSkip, or kQueue if the run must be blocked, and counts the run accordingly.
    // Cancels other runs if the policy says so, which flushes all changes so far.
    Result<model::OverlapVerdict> Ask(const model::Run& run);

    // Returns whether a new fire exceeds the number of runs that may wait, including runs that have
    // not started. If it does not and is not started, the caller must call NoteWaiting.
    bool ExceedsQueueLimit(const model::Run& run) const;
    // Returns whether earlier runs of its job have not started yet.
    bool IsBehindOthers(const model::Run& run) const { return gates_.at(run.job_id).waiting > 0; }
    // Returns whether its job has no unfinished run.
    bool IsFree(const model::Run& run) const;
    void NoteWaiting(const model::Run& run) { ++gates_.at(run.job_id).waiting; }

    // Returns the new status of a run that Ask has cancelled, or null. A caller with a copy of the
    // run must continue with this status.
    const model::RunStatus* CancelledStatus(const Uuid& id) const;

  private:
    Result<void> CancelOthers(const model::Run& run, OverlapCounts& gate);

    Transaction& tx_;
    RunChanges& changes_;
    std::unordered_map<std::string, OverlapCounts> gates_;
    std::map<Uuid, model::RunStatus> cancelled_;
};

}  // namespace ksana::store_kit
