#include "ksana/store_kit/runs/kit_runs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "ksana/store/text_search.hpp"
#include "ksana/store_kit/documents/kit_events.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"
#include "ksana/store_kit/lists/lists.hpp"
#include "ksana/store_kit/runs/exchange.hpp"
#include "ksana/store_kit/runs/new_runs.hpp"

namespace ksana::store_kit {
namespace {

using model::Run;

Error NotFound(const Uuid& id) {
    return {Code::kNotFound, fmt::format("there is no run {}", id.ToString())};
}

Result<void> CheckOwner(const std::string& owner, std::vector<Problem> problems) {
    if (owner.empty()) problems.push_back({"/owner", "must not be empty"});
    CheckText(owner, store::kMaxText, Path("/owner"), problems);
    return Verdict(std::move(problems));
}

Result<void> CheckClaim(const store::ClaimParams& params) {
    std::vector<Problem> problems;
    if (params.limit == 0 || params.limit > store::kMaxBatch) {
        problems.push_back({"/limit", fmt::format("must be 1 to {}", store::kMaxBatch)});
    }
    if (params.lease <= Duration::zero()) problems.push_back({"/lease", "must be positive"});
    return CheckOwner(params.owner, std::move(problems));
}

Result<void> CheckEvents(const std::vector<model::RunEvent>& events) {
    KSANA_TRY_VOID(CheckBatch(events.size(), "/events"));
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < events.size(); ++i) {
        const model::Event& event = events[i].event;
        const Path path("/events", i);
        CheckText(event.exec_id, store::kMaxText, path / "exec_id", problems);
        CheckText(event.result, store::kMaxPayload, path / "result", problems);
        CheckText(event.error, store::kMaxPayload, path / "error", problems);
        CheckText(event.detail, store::kMaxPayload, path / "detail", problems);
        CheckText(event.note, store::kMaxText, path / "note", problems);
        CheckText(event.remark, store::kMaxText, path / "remark", problems);
    }
    return Verdict(std::move(problems));
}

Result<void> CheckSubmit(const store::SubmitParams& params) {
    KSANA_TRY_VOID(CheckBatch(params.runs.size(), "/runs"));
    KSANA_TRY_VOID(CheckAudit(params.audit));
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < params.runs.size(); ++i) {
        CheckRun(params.runs[i], Path("/runs", i), problems);
    }
    if (params.start) return CheckOwner(params.start->owner, std::move(problems));
    return Verdict(std::move(problems));
}

bool IsStored(const store::Submitted& outcome) {
    using store::SubmitVerdict;
    return outcome.verdict == SubmitVerdict::kStored ||
           outcome.verdict == SubmitVerdict::kStarted || outcome.verdict == SubmitVerdict::kSkipped;
}

// Returns whether Submit only inserts runs, without unique keys, overlap checks or fires that must
// be unique. Then it uses Backend::Append.
bool OnlyInserts(const store::SubmitParams& params) {
    return !params.start && !params.audit && std::ranges::all_of(params.runs, [](const Run& run) {
        return run.unique.key.empty() && !run.nominal_at && run.job_id.empty();
    });
}

// Lets the runs of jobs that others name tell of their end. The jobs are locked: an edge that is
// added at the same time either sees these runs or is seen here. Fires need no second look: the
// planner holds their jobs.
Result<void> NoteWatched(Transaction& tx, std::vector<Run>& runs) {
    std::set<std::string> ids;
    for (const Run& run : runs) {
        if (!run.job_id.empty() && run.trigger != model::RunTrigger::kFire) ids.insert(run.job_id);
    }
    if (ids.empty()) return {};
    KSANA_TRY(const std::vector<model::Job> jobs, tx.LockJobs({ids.begin(), ids.end()}));
    std::set<std::string> watched;
    for (const model::Job& job : jobs) {
        if (job.state.dependants > 0) watched.insert(job.id);
    }
    for (Run& run : runs) run.status.watched = watched.contains(run.job_id);
    return {};
}

}  // namespace

Result<TimePoint> TimeOf(const std::optional<TimePoint>& given, Reader& rows) {
    if (given) return *given;
    return rows.Now();
}

Result<std::vector<store::Submitted>> KitRuns::Submit(store::SubmitParams params) {
    KSANA_TRY_VOID(CheckSubmit(params));
    std::vector<store::Submitted> outcomes;
    // The body may run again, and starting a run changes it, so the body works on copies.
    std::vector<Run> copies;
    std::vector<Run>& stored = params.start ? copies : params.runs;
    const auto body = [&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, TimeOf(params.now, tx));
        const store::FollowUp none;
        RunChanges changes(tx, now, none, ids_);
        NewRuns fresh(changes, tx, ids_, params.start);
        if (params.start) copies = params.runs;
        KSANA_TRY_VOID(NoteWatched(tx, stored));
        KSANA_TRY(outcomes, fresh.Insert(stored));
        if (std::ranges::any_of(outcomes, IsStored)) {
            KSANA_TRY_VOID(KeepAudit(tx, now, params.audit));
        }
        return changes.Flush();
    };
    KSANA_TRY_VOID(OnlyInserts(params) ? backend_.Append(body) : backend_.Write(body));
    if (!params.want_runs) return outcomes;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const bool waits = outcomes[i].verdict == store::SubmitVerdict::kStored;
        if (waits) outcomes[i].started = std::move(stored[i]);
    }
    return outcomes;
}

Result<store::Exchanged> KitRuns::Exchange(store::ExchangeParams params) {
    KSANA_TRY_VOID(CheckEvents(params.events));
    KSANA_TRY_VOID(CheckAudit(params.audit));
    if (params.claim) KSANA_TRY_VOID(CheckClaim(*params.claim));
    KSANA_TRY_VOID(CheckBatch(params.more_claims.size(), "/more_claims"));
    for (const store::ClaimParams& claim : params.more_claims) KSANA_TRY_VOID(CheckClaim(claim));
    ExchangeWrite write(params, ids_);
    // A call with its own `now` cannot share a transaction.
    KSANA_TRY_VOID(params.now ? backend_.WriteAlone(write) : backend_.Share(write));
    return std::move(write.made());
}

Result<store::Reaped> KitRuns::Reap(store::ReapParams params) {
    KSANA_TRY_VOID(CheckBatch(params.limit, "/limit"));
    store::Reaped reaped;
    std::string begin;
    std::string cursor;
    {
        const MutexLock lock(mutex_);
        begin = join_cursor_;
    }
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, TimeOf(params.now, tx));
        RunChanges changes(tx, now, params.follow_up, ids_);
        cursor = begin;
        KSANA_TRY(reaped, ReapRuns(tx, changes, params, cursor));
        return {};
    }));
    const MutexLock lock(mutex_);
    join_cursor_ = std::move(cursor);
    return reaped;
}

Result<std::size_t> KitRuns::Purge(const store::PurgeParams& params) {
    KSANA_TRY_VOID(CheckBatch(params.limit, "/limit"));
    KSANA_TRY_VOID(CheckAudit(params.audit));
    std::size_t purged = 0;
    KSANA_TRY_VOID(backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(purged, tx.PurgeRuns(params));
        if (purged == 0 || !params.audit) return {};
        KSANA_TRY(const TimePoint now, TimeOf({}, tx));
        return KeepAudit(tx, now, params.audit);
    }));
    return purged;
}

// Deleting the run frees the pair of job and nominal time, so the ledger records the fire: it stays
// accounted for.
Result<void> KitRuns::Delete(store::DeleteRunParams params) {
    KSANA_TRY_VOID(CheckAudit(params.audit));
    return backend_.Write([&](Transaction& tx) -> Result<void> {
        KSANA_TRY(const TimePoint now, TimeOf(params.now, tx));
        KSANA_TRY(const std::vector<Run> runs, tx.LockRuns({params.id}));
        if (runs.empty()) return NotFound(params.id);
        const Run& run = runs.front();
        if (!model::IsFinal(run.status.state)) {
            return Error(Code::kConflict, fmt::format("the run is {}: only what is over can be "
                                                      "deleted",
                                                      model::NameOf(run.status.state)));
        }
        if (!run.job_id.empty() && run.nominal_at) {
            const schedule::FireRange fire{1, *run.nominal_at, *run.nominal_at};
            KSANA_TRY_VOID(tx.InsertLedger({{.job_id = run.job_id,
                                             .range = {model::FireFate::kDeleted, fire},
                                             .recorded_at = now}}));
        }
        KSANA_TRY_VOID(KeepAudit(tx, now, params.audit));
        return tx.DeleteRuns({&run});
    });
}

Result<store::RunHistory> KitRuns::Get(const Uuid& id) {
    store::RunHistory history;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(std::vector<Run> runs, rows.Runs({id}));
        if (runs.empty()) return NotFound(id);
        history.run = std::move(runs[0]);
        KSANA_TRY(history.attempts, rows.Attempts({id}));
        return {};
    }));
    if (auto last = model::LastAttempt(history.run)) history.attempts.push_back(*std::move(last));
    return history;
}

Result<store::Page<Run>> KitRuns::List(const store::RunQuery& query) {
    KSANA_TRY(const RunList list, ListOf(query));
    ListedRuns listed;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(listed, rows.ListRuns(list));
        return {};
    }));
    return PageOf(query, std::move(listed));
}

Result<store::Counted> KitRuns::CountWithin(const store::RunFilter& filter,
                                            const store::CountBounds& bounds) {
    const RunList list{
        .filter = filter, .words = store::SearchWords(filter.text), .look = bounds.look};
    store::Counted counted;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(counted, rows.CountRuns(list, bounds.most));
        return {};
    }));
    return counted;
}

Result<std::vector<store::QueueDepth>> KitRuns::Depths() {
    std::vector<store::QueueDepth> depths;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(depths, rows.Depths());
        return {};
    }));
    return depths;
}

Result<store::WakeTimes> KitRuns::NextWake() {
    store::WakeTimes times;
    KSANA_TRY_VOID(backend_.Read([&](Reader& rows) -> Result<void> {
        KSANA_TRY(times, rows.NextWake());
        KSANA_TRY(times.now, rows.Now());
        return {};
    }));
    return times;
}

}  // namespace ksana::store_kit
