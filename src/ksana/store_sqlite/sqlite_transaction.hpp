#pragma once

#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_sqlite/lists/reads.hpp"
#include "ksana/store_sqlite/rows/job_rows.hpp"
#include "ksana/store_sqlite/rows/run_rows.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

namespace ksana::store_sqlite {

// The reading methods, shared by SqliteReader and SqliteTransaction. `session` must outlive it; one
// thread at a time.
template <class Base>
class ReadingRows : public Base {
  public:
    explicit ReadingRows(ReadSession& session) : session_(session) {}

    Result<TimePoint> Now() override { return session_.shared.clock.Now(); }
    Result<std::vector<model::Job>> Jobs(const std::vector<std::string>& ids) override {
        return LoadJobs(session_, ids);
    }
    Result<std::vector<model::Run>> Runs(const std::vector<Uuid>& ids) override {
        return LoadRuns(session_, ids);
    }
    Result<std::vector<model::Attempt>> Attempts(const std::vector<Uuid>& run_ids) override {
        return LoadAttempts(session_, run_ids);
    }
    Result<store_kit::ListedJobs> ListJobs(const store_kit::JobList& list) override {
        return reads::ListJobs(session_, list);
    }
    Result<store::Counted> CountJobs(const store_kit::JobList& list, std::int64_t most) override {
        return reads::CountJobs(session_, list, most);
    }
    Result<store_kit::ListedRuns> ListRuns(const store_kit::RunList& list) override {
        return reads::ListRuns(session_, list);
    }
    Result<store::Counted> CountRuns(const store_kit::RunList& list, std::int64_t most) override {
        return reads::CountRuns(session_, list, most);
    }
    Result<std::vector<model::LedgerEntry>> ListLedger(const store_kit::LedgerList& list) override {
        return reads::ListLedger(session_, list);
    }
    Result<std::vector<model::AuditEvent>> ListEvents(const store_kit::EventList& list) override {
        return reads::ListEvents(session_, list);
    }
    Result<std::vector<model::Document>> ListDocuments(
        const store_kit::DocumentList& list) override {
        return reads::ListDocuments(session_, list);
    }
    Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                               TimePoint nominal) override {
        return reads::FindFire(session_, job_id, nominal);
    }
    Result<std::vector<store::RunSample>> Samples(const store::StatisticsParams& params,
                                                  std::size_t limit) override {
        return reads::Samples(session_, params, limit);
    }
    Result<std::vector<store::QueueDepth>> Depths() override { return reads::Depths(session_); }
    Result<store::WakeTimes> NextWake() override { return reads::NextWake(session_); }
    Result<store::RecordCounts> Counts() override { return reads::Counts(session_); }
    Result<std::vector<std::string>> DependantsOf(const std::string& job_id) override {
        return reads::DependantsOf(session_, job_id);
    }
    Result<std::vector<store::GroupSize>> Groups(const store::GroupQuery& query) override {
        return reads::Groups(session_, query);
    }

  private:
    ReadSession& session_;
};

using SqliteReader = ReadingRows<store_kit::Reader>;

// A write transaction, used by the writer thread only. There is one writer, so a lock is a plain
// read. Errors are those of Connection; the group commit then rolls the transaction back.
class SqliteTransaction final : public ReadingRows<store_kit::Transaction> {
  public:
    explicit SqliteTransaction(WriteSession& session)
        : ReadingRows<store_kit::Transaction>(session), session_(session) {}

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
    Query Prepared(Sql which) { return session_.connection.Prepared(which); }
    // Runs a statement and returns the number of rows it has changed.
    Result<std::size_t> Changed(Query& query);

    WriteSession& session_;
};

}  // namespace ksana::store_sqlite
