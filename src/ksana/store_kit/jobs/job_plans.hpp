#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/store/job_store.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_kit/runs/run_changes.hpp"

namespace ksana::store_kit {

// Writes what is to become of the fires of jobs: runs, ledger entries, bookkeeping.
class JobPlans {
  public:
    JobPlans(Transaction& tx, TimePoint now, UuidGenerator& ids,
             const std::optional<store::StartAs>& start)
        : tx_(tx), now_(now), ids_(ids), start_(start) {}

    // Gates that the caller holds already.
    void Know(std::vector<OverlapCounts> gates) { gates_ = std::move(gates); }

    // Room for about so many runs.
    void Expect(std::size_t runs) { runs_.reserve(runs); }
    // Sets planned_until and next_run_at of `job`, which the caller writes.
    void Add(model::Job& job, store::JobPlan plan);

    Result<store::Planned> Write();

  private:
    Transaction& tx_;
    TimePoint now_;
    UuidGenerator& ids_;
    const std::optional<store::StartAs>& start_;
    std::vector<model::Run> runs_;
    std::vector<model::LedgerEntry> ledger_;
    std::vector<model::JobTally> tallies_;
    std::vector<OverlapCounts> gates_;
};

// All enabled jobs that are due, or as many as asked for.
Result<store::Planned> PlanDueJobs(Transaction& tx, TimePoint now, const store::PlanParams& params,
                                   const store::Planner& planner, UuidGenerator& ids);

// Those of the given jobs that are there.
Result<store::Planned> PlanTheseJobs(Transaction& tx, TimePoint now,
                                     const std::vector<std::string>& job_ids,
                                     const store::Planner& planner, UuidGenerator& ids);

}  // namespace ksana::store_kit
