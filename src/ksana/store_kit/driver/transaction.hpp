#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/model/job/job_tally.hpp"
#include "ksana/store/topics.hpp"
#include "ksana/store_kit/driver/rows.hpp"

namespace ksana::store_kit {

// The unfinished runs of a job, which decide whether a new fire may start.
struct OverlapCounts {
    std::string job_id;
    int under_way = 0;  // model::IsUnderWay
    int blocked = 0;
    int waiting = 0;  // not started and not blocked
};

// A run's claim on its unique key.
struct KeyClaim {
    std::string tenant;
    std::string key;
    Uuid run_id;
    std::optional<TimePoint> until;
};

// Pointers to runs that the caller owns, so that they are not copied on the way to a driver.
using RunRefs = std::vector<const model::Run*>;

inline RunRefs RefsTo(const std::vector<model::Run>& runs) {
    RunRefs refs;
    refs.reserve(runs.size());
    for (const model::Run& run : runs) refs.push_back(&run);
    return refs;
}

// Row access inside one write transaction. A driver reads and writes the rows it is told and
// decides nothing: the rules are in model/, the steps in this module. Valid only inside the body it
// is passed to, on that body's thread. After an error the body must return an error, too.
//
// "Lock" means: read, and no other transaction changes the row before this one ends. Locking waits
// for rows that another transaction has locked, unless the comment says "skips locked rows". A
// driver with a single writer needs no locks. A method without a result may send its rows as late
// as the commit, which then returns the error; later reads of the same transaction see the rows all
// the same.
class Transaction : public Reader {
  public:
    // Adds topics that the commit announces to the change feed.
    void Touch(store::Topics topics) { touched_ |= topics; }
    store::Topics touched() const { return touched_; }

    // Jobs ------------------------------------------------------------------------------------
    // Returns the jobs that exist, in any order.
    virtual Result<std::vector<model::Job>> LockJobs(const std::vector<std::string>& ids) = 0;
    // Returns enabled jobs with next_run_at <= until, by next_run_at and id. Skips locked rows.
    virtual Result<std::vector<model::Job>> LockDueJobs(TimePoint until, std::size_t limit) = 0;
    // Inserts jobs as given, with all bookkeeping. Returns for each whether it was inserted: false
    // if the id exists, also if a concurrent transaction has just inserted it.
    virtual Result<std::vector<bool>> InsertJobs(const std::vector<model::Job>& jobs) = 0;
    // Updates definition, version, updated_at, planned_until and next_run_at of locked jobs. Leaves
    // the rest of the bookkeeping (last_…, total_runs, consecutive_failures, created_at) unchanged.
    virtual Result<void> UpdateJobs(const std::vector<model::Job>& jobs) = 0;
    // Updates planned_until and next_run_at only.
    virtual Result<void> UpdatePlans(const std::vector<model::Job>& jobs) = 0;
    // Updates `dependants` of locked jobs only.
    virtual Result<void> UpdateDependants(const std::vector<model::Job>& jobs) = 0;
    // Adds to the bookkeeping of jobs, at most one tally per job. Ignores jobs that do not exist.
    virtual Result<void> AddTallies(const std::vector<model::JobTally>& tallies) = 0;
    virtual Result<void> DeleteJob(const std::string& id) = 0;

    // Runs ------------------------------------------------------------------------------------
    // Returns the runs that exist, in any order. May read final runs without a lock: they never
    // change.
    virtual Result<std::vector<model::Run>> LockRuns(const std::vector<Uuid>& ids) = 0;
    // Queues at most `limit` scheduled runs with ready_at <= now, the earliest first. Skips locked
    // rows.
    virtual Result<void> MakeDue(TimePoint now, std::size_t limit) = 0;
    // Returns queued runs that match (store::Matches) and are not blocked, by model::ClaimRank and
    // id. Skips locked rows.
    virtual Result<std::vector<model::Run>> LockReady(const store::ClaimFilter& filter,
                                                      TimePoint now, std::size_t limit) = 0;
    // Returns running runs with model::ExpiresAt <= now, the earliest first. Skips locked rows.
    virtual Result<std::vector<model::Run>> LockExpired(TimePoint now, std::size_t limit) = 0;
    // Returns running runs of these owners. Skips locked rows.
    virtual Result<std::vector<model::Run>> LockOwned(const std::vector<std::string>& owners,
                                                      std::size_t limit) = 0;
    // Serialises all transactions that start or end runs of these jobs, then returns one count per
    // job id, in order.
    virtual Result<std::vector<OverlapCounts>> LockOverlapCounts(
        const std::vector<std::string>& job_ids) = 0;
    // Returns the job's runs that are under way or blocked.
    virtual Result<std::vector<model::Run>> LockGated(const std::string& job_id) = 0;
    // Returns the job's earliest run that is blocked by another one of the job, by ready_at and id.
    virtual Result<std::optional<model::Run>> LockFirstBlocked(const std::string& job_id) = 0;
    // Returns blocked runs of jobs that have no run under way, without those that wait for other
    // jobs. Skips locked rows.
    virtual Result<std::vector<model::Run>> LockWronglyBlocked(std::size_t limit) = 0;
    // Returns runs that wait for other jobs with model::LooksAgainAt <= now, the earliest first.
    // Skips locked rows.
    virtual Result<std::vector<model::Run>> LockAwaiting(TimePoint now, std::size_t limit) = 0;
    // Returns the job's runs that have not started (scheduled or queued, attempt 0).
    virtual Result<std::vector<model::Run>> LockUnstarted(const std::string& job_id,
                                                          std::size_t limit) = 0;
    // Inserts runs as given, in any state. Returns for each whether it was inserted: false if the
    // id exists, or if a run with the same job_id and nominal_at does.
    virtual Result<std::vector<bool>> InsertRuns(const RunRefs& runs) = 0;
    // Updates status and updated_at of locked runs; the other columns stay. Each run at most once.
    virtual Result<void> UpdateRuns(const RunRefs& runs) = 0;
    // Deletes locked runs with their attempts and the unique keys they hold, as PurgeRuns does. The
    // runs may be given as they were read or as already changed.
    virtual Result<void> DeleteRuns(const RunRefs& runs) = 0;
    virtual Result<void> InsertAttempts(const std::vector<model::Attempt>& attempts) = 0;
    virtual Result<std::size_t> PurgeRuns(const store::PurgeParams& params) = 0;

    // Claims unique keys, each (tenant, key) at most once per call. Returns for each the run that
    // holds it, or nothing if the claim succeeded. A holder whose `until` is <= now has lost the
    // key.
    virtual Result<std::vector<std::optional<Uuid>>> TakeKeys(const std::vector<KeyClaim>& claims,
                                                              TimePoint now) = 0;
    // Frees the keys that these runs hold; ignores keys that other runs hold.
    virtual Result<void> FreeKeys(const std::vector<KeyClaim>& claims) = 0;

    // A seq of 0 is replaced by the next one; imports give their own.
    virtual Result<void> InsertLedger(const std::vector<model::LedgerEntry>& entries) = 0;
    virtual Result<void> InsertEvents(const std::vector<model::AuditEvent>& events) = 0;
    virtual Result<std::size_t> PurgeEvents(TimePoint before, std::size_t limit) = 0;

    // Returns the document. Also locks the absence of one, or fails with a conflict that the driver
    // retries, so that only one of two writers of a new key succeeds.
    virtual Result<std::optional<model::Document>> LockDocument(const std::string& kind,
                                                                const std::string& key) = 0;
    virtual Result<void> PutDocument(const model::Document& document) = 0;
    virtual Result<void> DeleteDocument(const std::string& kind, const std::string& key) = 0;
    virtual Result<std::size_t> PurgeDocuments(const std::string& kind, TimePoint expired_by,
                                               std::size_t limit) = 0;

  private:
    store::Topics touched_;
};

}  // namespace ksana::store_kit
