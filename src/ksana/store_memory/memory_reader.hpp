#pragma once

#include "ksana/base/time/clock.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_memory/tables.hpp"

namespace ksana::store_memory {

// Reads the tables. Base is store_kit::Reader or store_kit::Transaction, which read alike. The
// caller must hold the lock of the tables while it exists. Never fails.
template <class Base>
class TableReader : public Base {
  public:
    TableReader(const Clock& clock, const Tables& tables) : clock_(clock), rows_(tables) {}

    Result<TimePoint> Now() override { return clock_.Now(); }
    Result<std::vector<model::Job>> Jobs(const std::vector<std::string>& ids) override;
    Result<std::vector<model::Run>> Runs(const std::vector<Uuid>& ids) override;
    Result<std::vector<model::Attempt>> Attempts(const std::vector<Uuid>& run_ids) override;
    Result<store_kit::ListedJobs> ListJobs(const store_kit::JobList& list) override;
    Result<store::Counted> CountJobs(const store_kit::JobList& list, std::int64_t most) override;
    Result<store_kit::ListedRuns> ListRuns(const store_kit::RunList& list) override;
    Result<store::Counted> CountRuns(const store_kit::RunList& list, std::int64_t most) override;
    Result<std::vector<model::LedgerEntry>> ListLedger(const store_kit::LedgerList& list) override;
    Result<std::vector<model::AuditEvent>> ListEvents(const store_kit::EventList& list) override;
    Result<std::vector<model::Document>> ListDocuments(
        const store_kit::DocumentList& list) override;
    Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                               TimePoint nominal) override;
    Result<std::vector<store::RunSample>> Samples(const store::StatisticsParams& params,
                                                  std::size_t limit) override;
    Result<std::vector<store::QueueDepth>> Depths() override;
    Result<store::WakeTimes> NextWake() override;
    Result<store::RecordCounts> Counts() override;
    Result<std::vector<std::string>> DependantsOf(const std::string& job_id) override;
    Result<std::vector<store::GroupSize>> Groups(const store::GroupQuery& query) override;

  private:
    const Clock& clock_;
    const Tables& rows_;
};

extern template class TableReader<store_kit::Reader>;
extern template class TableReader<store_kit::Transaction>;

}  // namespace ksana::store_memory
