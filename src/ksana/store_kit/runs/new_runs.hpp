#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_kit/runs/overlap_guard.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {

// Stores new runs in one transaction: generates ids, takes unique keys, starts the runs that may
// start at once, and returns an outcome for each. Lives for one call of Insert; all arguments must
// outlive it. Not thread-safe.
class NewRuns {
  public:
    NewRuns(RunChanges& changes, Transaction& tx, RunSource& ids,
            std::optional<store::StartAs> start)
        : changes_(changes), tx_(tx), ids_(ids), start_(std::move(start)), gates_(tx, changes) {
        if (!start_) return;
        begin_ = {.kind = model::EventKind::kStart, .owner = start_->owner, .lease = start_->lease};
    }

    // Passes overlap counts that the caller has already locked.
    void Know(std::vector<OverlapCounts> gates) { gates_.Know(std::move(gates)); }

    // Names the runs that lead a broadcast (store::JobPlan::followers).
    void Lead(std::set<Uuid> leaders) { leaders_ = std::move(leaders); }

    // Stores the runs and returns one outcome per run. Sets the members that the store provides;
    // moves started runs into their outcomes. The caller must flush `changes` afterwards and keep
    // `runs` until then.
    Result<std::vector<store::Submitted>> Insert(std::vector<model::Run>& runs);

  private:
    void Prepare(model::Run& run);
    Result<void> TakeKeys(const std::vector<model::Run>& runs);
    Result<void> Start(std::vector<model::Run>& runs);
    bool MayStart(const model::Run& run) const;
    Result<void> PassGate(model::Run& run, store::Submitted& outcome);
    Result<void> StartOne(model::Run& run, store::Submitted& outcome);
    void Skip(model::Run& run, store::Submitted& outcome) const;
    Result<void> InsertRest(std::vector<model::Run>& runs);
    Result<void> InsertDisplaced(const std::vector<model::Run>& runs);
    Result<void> NoteStates(const std::vector<model::Run>& runs);
    Result<bool> IsThere(const model::Run& run);
    Result<void> EndSkipped(const model::Run& run);
    Result<void> ExplainRefusals(const std::vector<model::Run>& runs,
                                 const std::vector<std::size_t>& refused);
    // `same` is the stored run with this id, or null.
    Result<void> ExplainRefusal(const model::Run& run, const model::Run* same,
                                store::Submitted& outcome);

    RunChanges& changes_;
    Transaction& tx_;
    RunSource& ids_;
    const std::optional<store::StartAs> start_;
    model::Event begin_;  // starts a run for start_; gets a new exec_id each time
    OverlapGuard gates_;
    std::vector<store::Submitted> outcomes_;
    std::set<Uuid> leaders_;
    std::set<Uuid> refused_;  // runs that InsertRuns did not insert
    std::size_t started_ = 0;
};

}  // namespace ksana::store_kit
