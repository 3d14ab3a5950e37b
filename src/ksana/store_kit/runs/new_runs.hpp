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

// Stores new runs: draws ids, takes unique keys, starts at once what may start, and says of each
// what became of it.
class NewRuns {
  public:
    NewRuns(RunChanges& changes, Transaction& tx, UuidGenerator& ids,
            std::optional<store::StartAs> start)
        : changes_(changes), tx_(tx), ids_(ids), start_(std::move(start)), gates_(tx, changes) {
        if (!start_) return;
        begin_ = {.kind = model::EventKind::kStart, .owner = start_->owner, .lease = start_->lease};
    }

    // Gates that the caller holds already.
    void Know(std::vector<OverlapCounts> gates) { gates_.Know(std::move(gates)); }

    // One outcome for each run. Fills in what a new run gets; those that are started are in their
    // outcomes afterwards. The caller flushes the changes, and keeps the runs until then.
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
    // `same`: the run that has its id, or null.
    Result<void> ExplainRefusal(const model::Run& run, const model::Run* same,
                                store::Submitted& outcome);

    RunChanges& changes_;
    Transaction& tx_;
    UuidGenerator& ids_;
    const std::optional<store::StartAs> start_;
    model::Event begin_;  // of start_; with a fresh exec_id for each
    OverlapGuard gates_;
    std::vector<store::Submitted> outcomes_;
    std::set<Uuid> refused_;  // by the store itself
    std::size_t started_ = 0;
};

}  // namespace ksana::store_kit
