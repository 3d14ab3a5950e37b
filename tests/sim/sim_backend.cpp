#include "sim/sim_backend.hpp"

#include <deque>
#include <utility>

#include "ksana/model/job/join.hpp"

namespace ksana::sim {
namespace {

using model::Job;
using model::Run;
using namespace store_kit;

template <class T>
using Many = Result<std::vector<T>>;
using Strings = std::vector<std::string>;
using Ids = std::vector<Uuid>;

// Writes the run as if nobody had released it: it waits on, and is skipped in the end.
void LoseRelease(Run& run) {
    if (run.updated_at < *run.status.wait_until) {
        run.status.blocked = true;
        return;
    }
    run.status.state = model::RunState::kSkipped;
    run.status.skip_reason = model::SkipReason::kDependency;
    run.status.finished_at = run.updated_at;
}

// Forwards everything and records what is written.
class WatchedTransaction final : public Transaction {
  public:
    WatchedTransaction(Transaction& inner, const BackendBugs& bugs) : inner_(inner), bugs_(bugs) {}

    const Commit& commit() const { return commit_; }

    // Reads.
    Result<TimePoint> Now() override { return inner_.Now(); }
    Many<Job> Jobs(const Strings& ids) override { return inner_.Jobs(ids); }
    Many<Run> Runs(const Ids& ids) override { return inner_.Runs(ids); }
    Many<model::Attempt> Attempts(const Ids& ids) override { return inner_.Attempts(ids); }
    Result<ListedJobs> ListJobs(const JobList& list) override { return inner_.ListJobs(list); }
    Result<store::Counted> CountJobs(const JobList& list, std::int64_t most) override {
        return inner_.CountJobs(list, most);
    }
    Result<ListedRuns> ListRuns(const RunList& list) override { return inner_.ListRuns(list); }
    Result<store::Counted> CountRuns(const RunList& list, std::int64_t most) override {
        return inner_.CountRuns(list, most);
    }
    Many<model::LedgerEntry> ListLedger(const LedgerList& list) override {
        return inner_.ListLedger(list);
    }
    Many<model::AuditEvent> ListEvents(const EventList& list) override {
        return inner_.ListEvents(list);
    }
    Many<model::Document> ListDocuments(const DocumentList& list) override {
        return inner_.ListDocuments(list);
    }
    Result<std::optional<Run>> FindFire(const std::string& job_id, TimePoint nominal) override {
        return inner_.FindFire(job_id, nominal);
    }
    Many<store::RunSample> Samples(const store::StatisticsParams& params,
                                   std::size_t limit) override {
        return inner_.Samples(params, limit);
    }
    Many<store::QueueDepth> Depths() override { return inner_.Depths(); }
    Result<store::WakeTimes> NextWake() override { return inner_.NextWake(); }
    Result<store::RecordCounts> Counts() override { return inner_.Counts(); }
    Many<std::string> DependantsOf(const std::string& id) override {
        return inner_.DependantsOf(id);
    }
    Many<store::GroupSize> Groups(const store::GroupQuery& query) override {
        return inner_.Groups(query);
    }

    // Jobs.
    Many<Job> LockJobs(const Strings& ids) override { return inner_.LockJobs(ids); }
    Many<Job> LockDueJobs(TimePoint until, std::size_t limit) override {
        return inner_.LockDueJobs(until, limit);
    }
    Many<bool> InsertJobs(const std::vector<Job>& jobs) override {
        auto inserted = inner_.InsertJobs(jobs);
        for (std::size_t n = 0; inserted && n < jobs.size(); ++n) {
            if ((*inserted)[n]) commit_.jobs_inserted.push_back(jobs[n]);
        }
        return inserted;
    }
    Result<void> UpdateJobs(const std::vector<Job>& jobs) override {
        commit_.jobs_updated.insert(commit_.jobs_updated.end(), jobs.begin(), jobs.end());
        return inner_.UpdateJobs(jobs);
    }
    Result<void> UpdatePlans(const std::vector<Job>& jobs) override {
        for (const Job& job : jobs) {
            commit_.jobs_planned.push_back(
                {job.id, job.state.planned_until, job.state.next_run_at});
        }
        return inner_.UpdatePlans(jobs);
    }
    Result<void> AddTallies(const std::vector<model::JobTally>& tallies) override {
        return inner_.AddTallies(tallies);
    }
    Result<void> UpdateDependants(const std::vector<Job>& jobs) override {
        return inner_.UpdateDependants(jobs);
    }
    Result<void> DeleteJob(const std::string& id) override {
        commit_.jobs_deleted.push_back(id);
        return inner_.DeleteJob(id);
    }

    // Runs. MakeDue is not recorded: to the checks, a scheduled run whose time has come and a
    // queued run are the same.
    Many<Run> LockRuns(const Ids& ids) override { return inner_.LockRuns(ids); }
    Result<void> MakeDue(TimePoint now, std::size_t limit) override {
        return inner_.MakeDue(now, limit);
    }
    Many<Run> LockReady(const store::ClaimFilter& filter, TimePoint now,
                        std::size_t limit) override {
        auto ready = inner_.LockReady(filter, now, limit);
        if (ready && bugs_.forgotten) std::erase_if(*ready, bugs_.forgotten);
        return ready;
    }
    Many<Run> LockExpired(TimePoint now, std::size_t limit) override {
        return inner_.LockExpired(now, limit);
    }
    Many<Run> LockOwned(const Strings& owners, std::size_t limit) override {
        return inner_.LockOwned(owners, limit);
    }
    Many<OverlapCounts> LockOverlapCounts(const Strings& ids) override {
        return inner_.LockOverlapCounts(ids);
    }
    Many<Run> LockGated(const std::string& id) override { return inner_.LockGated(id); }
    Result<std::optional<Run>> LockFirstBlocked(const std::string& id) override {
        return inner_.LockFirstBlocked(id);
    }
    Many<Run> LockWronglyBlocked(std::size_t limit) override {
        return inner_.LockWronglyBlocked(limit);
    }
    Many<Run> LockAwaiting(TimePoint now, std::size_t limit) override {
        return inner_.LockAwaiting(now, limit);
    }
    Many<Run> LockUnstarted(const std::string& id, std::size_t limit) override {
        return inner_.LockUnstarted(id, limit);
    }
    Many<bool> InsertRuns(const RunRefs& runs) override {
        auto inserted = inner_.InsertRuns(runs);
        for (std::size_t n = 0; inserted && n < runs.size(); ++n) {
            if ((*inserted)[n]) commit_.runs.push_back({*runs[n], Commit::How::kInserted});
        }
        return inserted;
    }
    Result<void> UpdateRuns(const RunRefs& runs) override {
        RunRefs written;
        std::deque<Run> changed;
        for (const Run* run : runs) {
            const bool waited = run->status.wait_until && run->status.attempt == 0;
            const bool queued = run->status.state == model::RunState::kQueued;
            const bool release = waited && queued && !run->status.blocked;
            if (release && bugs_.lost_release && bugs_.lost_release(*run)) {
                changed.push_back(*run);
                LoseRelease(changed.back());
                run = &changed.back();
            }
            if (waited && run->status.blocked && bugs_.double_release &&
                bugs_.double_release(*run)) {
                changed.push_back(*run);
                changed.back().status.blocked = false;
                run = &changed.back();
            }
            written.push_back(run);
            commit_.runs.push_back({*run, Commit::How::kUpdated});
        }
        return inner_.UpdateRuns(written);
    }
    Result<void> DeleteRuns(const RunRefs& runs) override {
        for (const Run* run : runs) {
            commit_.runs.push_back({Run{.id = run->id}, Commit::How::kDeleted});
        }
        return inner_.DeleteRuns(runs);
    }
    Result<void> InsertAttempts(const std::vector<model::Attempt>& attempts) override {
        return inner_.InsertAttempts(attempts);
    }
    Result<std::size_t> PurgeRuns(const store::PurgeParams& params) override {
        commit_.purged_before = params.finished_before;
        return inner_.PurgeRuns(params);
    }

    // Keys, ledger, events, documents.
    Many<std::optional<Uuid>> TakeKeys(const std::vector<KeyClaim>& claims,
                                       TimePoint now) override {
        auto holders = inner_.TakeKeys(claims, now);
        if (holders && bugs_.double_key && bugs_.double_key()) {
            holders->assign(claims.size(), std::nullopt);
        }
        return holders;
    }
    Result<void> FreeKeys(const std::vector<KeyClaim>& claims) override {
        return inner_.FreeKeys(claims);
    }
    Result<void> InsertLedger(const std::vector<model::LedgerEntry>& entries) override {
        commit_.ledger.insert(commit_.ledger.end(), entries.begin(), entries.end());
        return inner_.InsertLedger(entries);
    }
    Result<void> InsertEvents(const std::vector<model::AuditEvent>& events) override {
        return inner_.InsertEvents(events);
    }
    Result<std::size_t> PurgeEvents(TimePoint before, std::size_t limit) override {
        return inner_.PurgeEvents(before, limit);
    }
    Result<std::optional<model::Document>> LockDocument(const std::string& kind,
                                                        const std::string& key) override {
        return inner_.LockDocument(kind, key);
    }
    Result<void> PutDocument(const model::Document& document) override {
        const bool join = document.kind == model::kJoinKind;
        if (join && bugs_.forgotten_join && bugs_.forgotten_join()) return {};
        commit_.documents.push_back(document);
        return inner_.PutDocument(document);
    }
    Result<void> DeleteDocument(const std::string& kind, const std::string& key) override {
        return inner_.DeleteDocument(kind, key);
    }
    Result<std::size_t> PurgeDocuments(const std::string& kind, TimePoint expired_by,
                                       std::size_t limit) override {
        return inner_.PurgeDocuments(kind, expired_by, limit);
    }

  private:
    Transaction& inner_;
    const BackendBugs& bugs_;
    Commit commit_;
};

// Forwards to `inner` and reports each commit.
class WatchedBackend final : public Backend {
  public:
    WatchedBackend(std::unique_ptr<Backend> inner, OnCommit on_commit, BackendBugs bugs)
        : inner_(std::move(inner)), on_commit_(std::move(on_commit)), bugs_(std::move(bugs)) {}

    Result<void> Write(const WriteBody& body) override {
        Commit commit;
        KSANA_TRY_VOID(inner_->Write([&](Transaction& tx) -> Result<void> {
            WatchedTransaction watched(tx, bugs_);
            KSANA_TRY_VOID(body(watched));
            tx.Touch(watched.touched());
            commit = watched.commit();
            return {};
        }));
        if (!commit.Empty()) on_commit_(commit);
        return {};
    }
    Result<void> Read(const ReadBody& body) override { return inner_->Read(body); }
    store::ChangeFeed& changes() override { return inner_->changes(); }
    Result<store::StoreInfo> Info() override { return inner_->Info(); }

  private:
    const std::unique_ptr<Backend> inner_;
    const OnCommit on_commit_;
    const BackendBugs bugs_;
};

}  // namespace

std::string StoryOf(const Run& run) {
    if (!run.job_id.empty()) return run.job_id;
    const bool speaks_of_another = run.trigger == model::RunTrigger::kCallback && run.parent;
    return (speaks_of_another ? *run.parent : run.id).ToString();
}

std::unique_ptr<store_kit::Backend> WatchBackend(std::unique_ptr<store_kit::Backend> inner,
                                                 OnCommit on_commit, BackendBugs bugs) {
    return std::make_unique<WatchedBackend>(std::move(inner), std::move(on_commit),
                                            std::move(bugs));
}

}  // namespace ksana::sim
