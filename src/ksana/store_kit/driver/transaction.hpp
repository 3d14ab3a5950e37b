#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/model/job/job_tally.hpp"
#include "ksana/store/topics.hpp"
#include "ksana/store_kit/driver/rows.hpp"

namespace ksana::store_kit {

// How many runs of a job keep a new fire from starting.
struct OverlapCounts {
    std::string job_id;
    int under_way = 0;  // model::IsUnderWay
    int blocked = 0;
    int waiting = 0;  // not started, and not blocked
};

struct KeyClaim {
    std::string tenant;
    std::string key;
    Uuid run_id;
    std::optional<TimePoint> until;
};

// Runs that somebody else keeps; they are not copied on the way to a driver.
using RunRefs = std::vector<const model::Run*>;

inline RunRefs RefsTo(const std::vector<model::Run>& runs) {
    RunRefs refs;
    refs.reserve(runs.size());
    for (const model::Run& run : runs) refs.push_back(&run);
    return refs;
}

// Row-level access inside one write transaction. A driver reads and writes what it is told and
// decides nothing: the rules are in model/, the steps in this module.
//
// "Lock" = read, and nobody else changes it before this transaction ends; rows that another
// transaction has locked are waited for, except where it says "skips". A driver with one writer
// has nothing to do for it. A method without a result may send its rows as late as the commit: its
// errors may come out there. Later reads of the same transaction see them all the same.
class Transaction : public Reader {
  public:
    // What the commit will tell the change feed.
    void Touch(store::Topics topics) { touched_ |= topics; }
    store::Topics touched() const { return touched_; }

    // Jobs ------------------------------------------------------------------------------------
    // Those that exist, in any order.
    virtual Result<std::vector<model::Job>> LockJobs(const std::vector<std::string>& ids) = 0;
    // Enabled ones with next_run_at <= until, by next_run_at and id; skips.
    virtual Result<std::vector<model::Job>> LockDueJobs(TimePoint until, std::size_t limit) = 0;
    // As they are, with all bookkeeping. For each whether it was inserted: false where the id is
    // there (inserted by a transaction that runs beside this one, too).
    virtual Result<std::vector<bool>> InsertJobs(const std::vector<model::Job>& jobs) = 0;
    // Definition, version, updated_at, planned_until and next_run_at of locked jobs; the rest of
    // the bookkeeping (last_…, total_runs, consecutive_failures, created_at) stays.
    virtual Result<void> UpdateJobs(const std::vector<model::Job>& jobs) = 0;
    // planned_until and next_run_at only.
    virtual Result<void> UpdatePlans(const std::vector<model::Job>& jobs) = 0;
    // Adds to the bookkeeping of jobs that may or may not exist; at most one of each job.
    virtual Result<void> AddTallies(const std::vector<model::JobTally>& tallies) = 0;
    virtual Result<void> DeleteJob(const std::string& id) = 0;

    // Runs ------------------------------------------------------------------------------------
    // Those that exist, in any order. Final ones may be read without a lock: they never change.
    virtual Result<std::vector<model::Run>> LockRuns(const std::vector<Uuid>& ids) = 0;
    // Makes scheduled runs with ready_at <= now queued, the earliest first, at most `limit`; skips.
    virtual Result<void> MakeDue(TimePoint now, std::size_t limit) = 0;
    // Queued runs that are not blocked and match, by model::ClaimRank and id; skips.
    virtual Result<std::vector<model::Run>> LockReady(const store::ClaimFilter& filter,
                                                      std::size_t limit) = 0;
    // Running ones with model::ExpiresAt <= now, the earliest first; skips.
    virtual Result<std::vector<model::Run>> LockExpired(TimePoint now, std::size_t limit) = 0;
    // Running ones of these owners; skips.
    virtual Result<std::vector<model::Run>> LockOwned(const std::vector<std::string>& owners,
                                                      std::size_t limit) = 0;
    // Serialises everybody who starts or ends runs of these jobs, then counts. One for each job id
    // given, in the same order.
    virtual Result<std::vector<OverlapCounts>> LockOverlapCounts(
        const std::vector<std::string>& job_ids) = 0;
    // Runs of the job that are under way or blocked.
    virtual Result<std::vector<model::Run>> LockGated(const std::string& job_id) = 0;
    // The earliest blocked run of the job, by ready_at and id.
    virtual Result<std::optional<model::Run>> LockFirstBlocked(const std::string& job_id) = 0;
    // Blocked runs of jobs that have no run under way; skips.
    virtual Result<std::vector<model::Run>> LockStray(std::size_t limit) = 0;
    // Runs of the job that have not started (scheduled or queued, attempt 0).
    virtual Result<std::vector<model::Run>> LockUnstarted(const std::string& job_id,
                                                          std::size_t limit) = 0;
    // As they are, in whatever state. For each whether it was inserted: false where the id, or the
    // (job_id, nominal_at) of a run that has both, is there.
    virtual Result<std::vector<bool>> InsertRuns(const RunRefs& runs) = 0;
    // Status and updated_at of locked runs; the rest is as the row has it. Each run once.
    virtual Result<void> UpdateRuns(const RunRefs& runs) = 0;
    // Locked runs, as they were or already changed, with their attempts and the keys they hold; so
    // does PurgeRuns.
    virtual Result<void> DeleteRuns(const RunRefs& runs) = 0;
    virtual Result<void> InsertAttempts(const std::vector<model::Attempt>& attempts) = 0;
    virtual Result<std::size_t> PurgeRuns(const store::PurgeParams& params) = 0;

    // Keys: at most one claim of each (tenant, key) in a call. For each who holds it instead, or
    // nothing when it is taken now: a holder whose `until` is <= now has lost it.
    virtual Result<std::vector<std::optional<Uuid>>> TakeKeys(const std::vector<KeyClaim>& claims,
                                                              TimePoint now) = 0;
    // Those that these runs hold.
    virtual Result<void> FreeKeys(const std::vector<KeyClaim>& claims) = 0;

    // Ledger and events: seq is given here, unless it is not 0 (an import).
    virtual Result<void> InsertLedger(const std::vector<model::LedgerEntry>& entries) = 0;
    virtual Result<void> InsertEvents(const std::vector<model::AuditEvent>& events) = 0;
    virtual Result<std::size_t> PurgeEvents(TimePoint before, std::size_t limit) = 0;

    // Documents: as they are. Locks also the absence of one, or fails with a retryable conflict
    // inside the driver, so that two writers of a new key do not both win.
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
