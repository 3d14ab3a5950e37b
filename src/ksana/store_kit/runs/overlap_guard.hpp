#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/model/job/overlap.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {

// Keeps the runs of a job from overlapping, over the whole cluster: asked before a run starts.
class OverlapGuard {
  public:
    OverlapGuard(Transaction& tx, RunChanges& changes) : tx_(tx), changes_(changes) {}

    // Whether a run has to pass: a first attempt of a job that does not allow overlap.
    static bool Concerns(const model::Run& run);

    // The caller holds these already.
    void Know(std::vector<OverlapCounts> gates);
    // Takes hold of the gates of these runs' jobs, of all at once.
    Result<void> Lock(const RunRefs& runs);

    // May it start? kStart, kSkip, or kQueue: it must be blocked. Others are cancelled where the
    // policy says so, which writes all changes so far. Counts what it lets through.
    Result<model::OverlapVerdict> Ask(const model::Run& run);

    // Whether a new fire is one too many, behind those that have not even started. If not, and it
    // is not started, NoteWaiting tells of it.
    bool IsOneTooMany(const model::Run& run) const;
    // Others of its job were there first, and have not started.
    bool IsBehindOthers(const model::Run& run) const { return gates_.at(run.job_id).waiting > 0; }
    // Nothing of its job is there that is not over.
    bool IsFree(const model::Run& run) const;
    void NoteWaiting(const model::Run& run) { ++gates_.at(run.job_id).waiting; }

    // What a run has become because Ask had it cancelled; null: it had not. Whoever holds a copy of
    // the run goes on from this.
    const model::RunStatus* CancelledStatus(const Uuid& id) const;

  private:
    Result<void> CancelOthers(const model::Run& run, OverlapCounts& gate);

    Transaction& tx_;
    RunChanges& changes_;
    std::unordered_map<std::string, OverlapCounts> gates_;
    std::map<Uuid, model::RunStatus> cancelled_;
};

}  // namespace ksana::store_kit
