#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/store_kit/driver/event_windows.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_postgres/rows/held_runs.hpp"
#include "ksana/store_postgres/rows/job_columns.hpp"
#include "ksana/store_postgres/rows/known_runs.hpp"
#include "ksana/store_postgres/rows/lock_order.hpp"
#include "ksana/store_postgres/rows/policy_cache.hpp"
#include "ksana/store_postgres/rows/run_batch.hpp"
#include "ksana/store_postgres/wire/session.hpp"

namespace ksana::store_postgres {

// Row access inside one PostgreSQL transaction; also the Reader of a read-only session, which calls
// none of the writing methods. A method sends one or a few statements, whatever the number of rows;
// writes without a result wait in the session for the next read or the commit. Locks are taken in
// the order job_state, fires (fire_locks.hpp), runs, each by id, or not waited for
// (lock_order.hpp). Lives for one try of a call, on one thread. After a fault every call fails with
// the same error, and PostgresBackend decides about a retry.
//
// Implemented in transaction_jobs.cpp, transaction_runs.cpp, transaction_locks.cpp (locks of runs),
// transaction_records.cpp (ledger, events, keys), transaction_documents.cpp, and in lists/ in
// job_lists.cpp, run_lists.cpp and event_lists.cpp.
class PostgresTransaction : public store_kit::Transaction {
  public:
    // What the transaction uses of its backend; must outlive it. Without `look`, new runs are
    // assumed not to exist, which saves a check: a run that exists ends the transaction with
    // FaultKind::kDuplicate, and it runs again with `look`. Runs whose policy is not stored are not
    // inserted: the policy is added to `wanted`, and the transaction runs again after it is stored.
    struct Books {
        PolicyCache& policies;
        PolicyCache::Policies& wanted;
        JobCache& jobs;
        LockedRunIds::Hold& held;
        KnownRuns& known;
        const LockOrder::Jobs& first;  // jobs to lock before all else
    };
    PostgresTransaction(Session& session, const Books& books, bool look = true);

    Result<TimePoint> Now() override { return session_.Now(); }

    // Reader
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

    // Jobs
    Result<std::vector<model::Job>> LockJobs(const std::vector<std::string>& ids) override;
    Result<std::vector<model::Job>> LockDueJobs(TimePoint until, std::size_t limit) override;
    Result<std::vector<bool>> InsertJobs(const std::vector<model::Job>& jobs) override;
    Result<void> UpdateJobs(const std::vector<model::Job>& jobs) override;
    Result<void> UpdatePlans(const std::vector<model::Job>& jobs) override;
    Result<void> UpdateDependants(const std::vector<model::Job>& jobs) override;
    Result<void> AddTallies(const std::vector<model::JobTally>& tallies) override;
    Result<void> DeleteJob(const std::string& id) override;

    // Runs
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

    // Keys, ledger, events, documents
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

    // Adds the runs to `rows`, for InsertRows. Fails if a policy is not stored yet, which it adds
    // to `wanted`.
    Result<void> Note(const store_kit::RunRefs& runs, NewRunRows& rows);
    // Inserts the rows and returns for each whether it was inserted.
    Result<std::vector<bool>> InsertRows(const NewRunRows& rows);
    // Inserts the rows with the commit. Only without looks(): all rows are inserted, or the commit
    // fails.
    void InsertAtCommit(const NewRunRows& rows);
    // Whether existing runs are checked for, and known runs are read and locked.
    bool looks() const { return look_; }

    // Returns whether a decision rests on a cached run that was neither locked nor overwritten: the
    // transaction has to run again with `look`.
    bool unsure() const { return !unsure_.empty(); }
    // Caches the runs that this transaction has started. Call after the commit.
    void Remember();
    const LockOrder& locks() const { return locks_; }

  private:
    Result<std::optional<std::vector<std::string>>> FewIds(const store_kit::JobList& list);
    Result<std::vector<store_kit::JobList::After>> PlacesByLastRun(const store_kit::JobList& list,
                                                                   std::size_t count);
    Result<store_kit::ListedJobs> ListByLastRun(const store_kit::JobList& list);
    Result<std::vector<model::Job>> ListAmong(const store_kit::JobList& list,
                                              const std::vector<std::string>& ids);
    Result<bool> AreFew(const store_kit::RunList& list);
    Result<std::optional<store_kit::JobList::After>> HorizonOf(const store_kit::JobList& list);
    Result<std::optional<store_kit::RunList::After>> HorizonOf(const store_kit::RunList& list);
    Result<std::optional<std::int64_t>> NearestBlock(const store::EventFilter& filter,
                                                     const store_kit::SeqRange& range,
                                                     bool descending);
    Result<std::vector<model::AuditEvent>> EventsBetweenBlocks(const store_kit::EventList& list,
                                                               store_kit::SeqRange range);
    Result<std::vector<model::AuditEvent>> EventsWithin(const store_kit::EventList& list,
                                                        const store_kit::SeqRange& range,
                                                        std::size_t count);
    std::optional<std::vector<model::Run>> TakeKnown(const std::set<Uuid>& ids);
    void LockJobsOf(const std::set<std::string>& ids);
    void WriteBatch(const RunBatch& batch, bool final);
    std::vector<Statement> InsertStatements(const NewRunRows& rows) const;
    Result<std::vector<model::Run>> QueryRuns(std::string_view sql, Params params);
    Result<std::vector<model::Run>> ReadRuns(const Rows& rows);
    // As QueryRuns, for unfinished runs that the statement locks; its last column is the row's
    // ctid.
    Result<std::vector<model::Run>> QueryLocked(std::string_view sql, Params params);
    Result<std::vector<model::Run>> ReadLocked(const Rows& rows);
    std::optional<RowPlace> TakePlace(const Uuid& id);
    Result<std::vector<model::Job>> ReadJobs(const Rows& rows);
    Result<std::vector<model::Job>> ReadLockedJobs(const Rows& rows);

    Session& session_;
    PolicyCache& policies_;
    PolicyCache::Policies& wanted_;
    JobCache& jobs_;
    LockedRunIds::Hold& held_;
    KnownRuns& known_;
    const bool look_;
    LockOrder locks_;
    // Taken from known_, neither locked nor overwritten yet.
    std::unordered_map<Uuid, RowVersion, UuidHash> unsure_;
    KnownRuns::Runs started_;  // to be cached after the commit
    // ctids of rows of `runs` that are locked and unchanged since they were read. Other
    // transactions cannot move these rows; an update by this one removes its entry.
    std::unordered_map<Uuid, RowPlace, UuidHash> places_;
};

}  // namespace ksana::store_postgres
