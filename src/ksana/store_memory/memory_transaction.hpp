#pragma once

#include "ksana/store_memory/memory_reader.hpp"

namespace ksana::store_memory {

// Writes to the tables at once; their journal undoes it. The caller must hold the tables' lock
// exclusively while it exists, so the Lock… methods need not lock anything.
class MemoryTransaction final : public TableReader<store_kit::Transaction> {
  public:
    MemoryTransaction(const Clock& clock, Tables& tables)
        : TableReader(clock, tables), tables_(tables) {}

    Result<std::vector<model::Job>> LockJobs(const std::vector<std::string>& ids) override;
    Result<std::vector<model::Job>> LockDueJobs(TimePoint until, std::size_t limit) override;
    Result<std::vector<bool>> InsertJobs(const std::vector<model::Job>& jobs) override;
    Result<void> UpdateJobs(const std::vector<model::Job>& jobs) override;
    Result<void> UpdatePlans(const std::vector<model::Job>& jobs) override;
    Result<void> UpdateDependants(const std::vector<model::Job>& jobs) override;
    Result<void> AddTallies(const std::vector<model::JobTally>& tallies) override;
    Result<void> DeleteJob(const std::string& id) override;

    Result<std::vector<model::Run>> LockRuns(const std::vector<Uuid>& ids) override;
    Result<void> MakeDue(TimePoint now, std::size_t limit) override;
    Result<std::vector<model::Run>> LockReady(const store::ClaimFilter& filter, TimePoint now,
                                              std::size_t limit) override;
    Result<std::vector<model::Run>> LockExpired(TimePoint now, std::size_t limit) override;
    Result<std::vector<model::Run>> LockOwned(const std::vector<std::string>& owners,
                                              std::size_t limit) override;
    Result<std::vector<store_kit::OverlapCounts>> LockOverlapCounts(
        const std::vector<std::string>& job_ids) override;
    Result<std::vector<model::Run>> LockGated(const std::string& job_id) override;
    Result<std::optional<model::Run>> LockFirstBlocked(const std::string& job_id) override;
    Result<std::vector<model::Run>> LockWronglyBlocked(std::size_t limit) override;
    Result<std::vector<model::Run>> LockAwaiting(TimePoint now, std::size_t limit) override;
    Result<std::vector<model::Run>> LockUnstarted(const std::string& job_id,
                                                  std::size_t limit) override;
    Result<std::vector<bool>> InsertRuns(const store_kit::RunRefs& runs) override;
    Result<void> UpdateRuns(const store_kit::RunRefs& runs) override;
    Result<void> DeleteRuns(const store_kit::RunRefs& runs) override;
    Result<void> InsertAttempts(const std::vector<model::Attempt>& attempts) override;
    Result<std::size_t> PurgeRuns(const store::PurgeParams& params) override;

    Result<std::vector<std::optional<Uuid>>> TakeKeys(
        const std::vector<store_kit::KeyClaim>& claims, TimePoint now) override;
    Result<void> FreeKeys(const std::vector<store_kit::KeyClaim>& claims) override;

    Result<void> InsertLedger(const std::vector<model::LedgerEntry>& entries) override;
    Result<void> InsertEvents(const std::vector<model::AuditEvent>& events) override;
    Result<std::size_t> PurgeEvents(TimePoint before, std::size_t limit) override;

    Result<std::optional<model::Document>> LockDocument(const std::string& kind,
                                                        const std::string& key) override;
    Result<void> PutDocument(const model::Document& document) override;
    Result<void> DeleteDocument(const std::string& kind, const std::string& key) override;
    Result<std::size_t> PurgeDocuments(const std::string& kind, TimePoint expired_by,
                                       std::size_t limit) override;

  private:
    Result<void> DeleteRun(const Uuid& id);
    Tables& tables_;
};

}  // namespace ksana::store_memory
