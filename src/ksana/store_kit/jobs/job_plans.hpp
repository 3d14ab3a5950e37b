#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/store/job_store.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

#include <set>

#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {

// Collects the plans of jobs and writes their runs, ledger entries and bookkeeping. Lives for one
// transaction; all arguments must outlive it. Not thread-safe.
class JobPlans {
  public:
    JobPlans(Transaction& tx, TimePoint now, RunSource& ids,
             const std::optional<store::StartAs>& start)
        : tx_(tx), now_(now), ids_(ids), start_(start) {}

    // Passes overlap counts that the caller has already locked.
    void Know(std::vector<OverlapCounts> gates) { gates_ = std::move(gates); }

    // Reserves room for about this many runs.
    void Expect(std::size_t runs) { runs_.reserve(runs); }
    // Adds a plan. Sets planned_until and next_run_at of `job`, which the caller must write.
    void Add(model::Job& job, store::JobPlan plan);

    Result<store::Planned> Write();

  private:
    Result<void> InsertFollowers(RunChanges& changes, const std::set<Uuid>& stored,
                                 store::Planned& planned);

    Transaction& tx_;
    TimePoint now_;
    RunSource& ids_;
    const std::optional<store::StartAs>& start_;
    std::vector<model::Run> runs_;
    std::vector<model::Run> followers_;
    std::vector<model::LedgerEntry> ledger_;
    store::FireCounts without_run_{};  // of ledger_
    std::vector<model::JobTally> tallies_;
    std::vector<OverlapCounts> gates_;
};

// Plans enabled jobs that are due, at most params.limit.
Result<store::Planned> PlanDueJobs(Transaction& tx, TimePoint now, const store::PlanParams& params,
                                   const store::Planner& planner, RunSource& ids);

// Plans those of the given jobs that exist.
Result<store::Planned> PlanTheseJobs(Transaction& tx, TimePoint now,
                                     const std::vector<std::string>& job_ids,
                                     const store::Planner& planner, RunSource& ids);

}  // namespace ksana::store_kit
