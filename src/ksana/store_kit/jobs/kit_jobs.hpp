#pragma once

#include "ksana/store/job_store.hpp"
#include "ksana/store_kit/driver/backend.hpp"
#include "ksana/store_kit/runs/run_source.hpp"

namespace ksana::store_kit {

// store::JobStore on top of a driver. `backend` and `ids` must outlive it. Thread-safe.
class KitJobs final : public store::JobStore {
  public:
    KitJobs(Backend& backend, RunSource& ids) : backend_(backend), ids_(ids) {}

    Result<std::vector<Result<model::Job>>> Write(store::WriteJobsParams params) override;
    Result<void> Delete(store::DeleteJobParams params) override;
    Result<model::Job> Get(const std::string& id) override;
    Result<std::vector<model::Job>> GetMany(const std::vector<std::string>& ids) override;
    Result<store::Page<model::Job>> List(const store::JobQuery& query) override;
    Result<std::vector<std::string>> Dependants(const std::string& id) override;
    Result<store::Counted> CountWithin(const store::JobFilter& filter,
                                       const store::CountBounds& bounds) override;
    Result<std::vector<store::GroupSize>> Groups(const store::GroupQuery& query) override;
    Result<store::Planned> PlanDue(const store::PlanParams& params,
                                   const store::Planner& planner) override;
    Result<store::Planned> PlanJobs(const store::PlanJobsParams& params,
                                    const store::Planner& planner) override;
    Result<store::JobStatistics> Statistics(const store::StatisticsParams& params) override;
    Result<store::Page<model::LedgerEntry>> Ledger(const store::LedgerParams& params) override;
    Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                               TimePoint nominal) override;
    Result<std::vector<TimePoint>> FindFires(const std::string& job_id,
                                             const std::vector<TimePoint>& nominals) override;

  private:
    Backend& backend_;
    RunSource& ids_;
};

}  // namespace ksana::store_kit
