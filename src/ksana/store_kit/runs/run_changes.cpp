#include "ksana/store_kit/runs/run_changes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "ksana/model/job/dependency.hpp"
#include "ksana/model/job/overlap.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/store_kit/runs/new_runs.hpp"

namespace ksana::store_kit {
namespace {

using model::Run;
using model::RunState;
using model::RunStatus;
using store::Topic;

// Returns whether other runs of the job may be blocked by this one.
bool MayBlockOthers(const Run& run) {
    return !run.job_id.empty() && (run.policy.overlap == model::OverlapPolicy::kQueueOne ||
                                   run.policy.overlap == model::OverlapPolicy::kQueueAll ||
                                   run.policy.overlap == model::OverlapPolicy::kCancelOther);
}

bool HoldsKeyIn(const Run& run, RunState state) {
    return !run.unique.key.empty() && (run.unique.states & model::SetOf(state)) != 0;
}

// Sorts by id and keeps the last state of a run that changed more than once.
RunRefs OneOfEach(RunRefs runs) {
    const auto falls = std::ranges::adjacent_find(runs, std::greater_equal(), &Run::id);
    if (falls == runs.end()) return runs;  // the usual case: ids grow with time
    std::ranges::stable_sort(runs, {}, &Run::id);
    RunRefs once;
    once.reserve(runs.size());
    for (const Run* run : runs) {
        if (!once.empty() && once.back()->id == run->id) once.pop_back();
        once.push_back(run);
    }
    return once;
}

store::Topics TopicsOf(const RunChanges::Before& before, const Run& run) {
    const RunStatus& after = run.status;
    store::Topics topics;
    if (after.state == RunState::kScheduled ||
        (after.state == RunState::kQueued && !after.blocked)) {
        topics |= ReadyTopic(run);
    }
    if (model::IsFinal(after.state)) topics |= Topic::kFinished;
    if (after.cancel_requested && !before.cancel_requested) topics |= Topic::kCancel;
    return topics;
}

// The most steps in which ends of runs cause others in one transaction (a skipped run may release
// the next one, and so on). Runs beyond it are released by the reaper.
constexpr int kMaxSteps = 100;

// How many joins one call of the reaper looks at.
constexpr std::size_t kJoinsAtOnce = 20;

// Returns whether the run has changed for the jobs that depend on its job: it is over, or held.
bool IsNewsForOthers(RunState before, RunState after) {
    const auto over = [](RunState state) {
        return model::IsFinal(state) || state == RunState::kCompleting || state == RunState::kHeld;
    };
    return before != after && over(after);
}

// Final and kept. A run that was over for its job before it became final (completing, held) gets no
// second tally; the store finds it by itself.
bool IsListed(const Run& run) {
    return model::IsFinal(run.status.state) && run.status.finished_at &&
           run.policy.run_log != model::RunLog::kNone;
}

// The row holds only the last attempt: at the next start it moves to a row of its own if the run
// log is full. An attempt that never began is dropped, and the next one takes its place.
std::optional<model::Attempt> DisplacedBy(const model::Event& event, const Run& run) {
    if (event.kind != model::EventKind::kStart || run.status.attempt == 0 ||
        run.status.outcome == model::AttemptOutcome::kDeferred ||
        run.policy.run_log != model::RunLog::kFull) {
        return std::nullopt;
    }
    return model::LastAttempt(run);
}

}  // namespace

store::Topic ReadyTopic(const Run& run) {
    return run.kind == model::ActionKind::kQueue ? Topic::kTasks : Topic::kReady;
}

KeyClaim ClaimOf(const Run& run) { return {run.tenant, run.unique.key, run.id, run.unique.until}; }

model::Transition RunChanges::Change(Run& run, const model::Event& event) {
    const Before before{run.status.state, run.status.cancel_requested,
                        model::IsUnderWay(run.status)};
    auto displaced = DisplacedBy(event, run);
    model::Transition made = model::Decide(run, event, now_);
    if (made.verdict != model::EventVerdict::kApplied) return made;
    if (displaced) attempts_.push_back(*std::move(displaced));
    run.updated_at = now_;
    Follow(run, before, made);
    changed_.push_back(&run);
    return made;
}

void RunChanges::Follow(const Run& run, const Before& before, const model::Transition& made) {
    const RunState state = run.status.state;
    tx_.Touch(TopicsOf(before, run));
    if (model::EndsForJob(before.state, state)) {
        AddTally(run, IsListed(run));
    }
    if (HoldsKeyIn(run, before.state) && !HoldsKeyIn(run, state)) freed_.push_back(ClaimOf(run));
    if (MayBlockOthers(run) && !model::IsUnderWay(run.status) &&
        (before.under_way || model::IsFinal(state))) {
        ended_jobs_.insert(run.job_id);
    }
    if (run.status.watched && !run.job_id.empty() && IsNewsForOthers(before.state, state)) {
        const bool follows = model::EndsForFollowers(before.state, state);
        endings_.push_back({.job_id = run.job_id,
                            .state = state,
                            .at = run.status.finished_at.value_or(now_),
                            .trace = follows ? model::TraceLinkTo(run) : std::string(),
                            .follows = follows});
    }
    if (run.trigger == model::RunTrigger::kCallback && run.parent) NoteCallback(run);
    if (made.callback != model::CallbackWanted::kNone && *follow_up_) {
        for (Run& next : (*follow_up_)(run, made.callback)) follow_ups_.push_back(std::move(next));
    }
}

// Records that a callback succeeded, is held for a person, or was given up. Its parent run is told
// in the same transaction, so that no crash can separate the two.
void RunChanges::NoteCallback(const Run& run) {
    const RunState state = run.status.state;
    if (state != RunState::kHeld && !model::IsFinal(state)) return;
    model::RunEvent told{.run_id = *run.parent, .event = {}};
    if (state == RunState::kSucceeded) {
        told.event.kind = model::EventKind::kCallbackDelivered;
    } else {
        told.event.kind = model::EventKind::kCallbackFailed;
        told.event.error = fmt::format("the callback {} is {}: {}", run.id.ToString(),
                                       model::NameOf(state), run.status.last_error);
    }
    of_callbacks_.push_back(std::move(told));
}

// A parent that has already ended (its callback reported an error) or was closed by a person
// refuses the event.
Result<void> RunChanges::TellParents() {
    if (of_callbacks_.empty()) return {};
    const std::vector<model::RunEvent> told = std::exchange(of_callbacks_, {});
    std::vector<Uuid> ids;
    ids.reserve(told.size());
    for (const model::RunEvent& one : told) ids.push_back(one.run_id);
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    KSANA_TRY(std::vector<Run> parents, tx_.LockRuns(ids));
    std::map<Uuid, Run*> by_id;
    for (Run& parent : parents) {
        const Uuid id = parent.id;
        by_id[id] = &own_.emplace_back(std::move(parent));
    }
    for (const model::RunEvent& one : told) {
        const auto parent = by_id.find(one.run_id);
        if (parent != by_id.end()) Change(*parent->second, one.event);
    }
    return WriteRuns();
}

// Returns the run as the store keeps it under its run log policy.
const Run* RunChanges::AsKept(const Run& run) {
    if (!model::IsFinal(run.status.state) || run.policy.run_log != model::RunLog::kTrigger) {
        return &run;
    }
    Run& kept = own_.emplace_back(run);
    kept.status.result.clear();
    kept.status.detail.clear();
    return &kept;
}

void RunChanges::AddTally(const Run& run, bool listed) {
    if (run.job_id.empty()) return;
    model::JobTally& tally = tallies_[run.job_id];
    tally.job_id = run.job_id;
    model::AddToTally(tally, run);
    if (listed) tally.ended.push_back({run.id, *run.status.finished_at});
}

// Writes jobs before runs: a transaction that ends a run of a job locks the job first
// (LockOverlapCounts in transaction.hpp).
Result<void> RunChanges::Flush() {
    for (int step = 0; step < kMaxSteps; ++step) {
        KSANA_TRY_VOID(WriteAll());
        if (endings_.empty()) return {};
        KSANA_TRY_VOID(TellDependants());
    }
    endings_.clear();
    return WriteAll();
}

Result<void> RunChanges::WriteAll() {
    KSANA_TRY_VOID(WriteTallies());
    KSANA_TRY_VOID(WriteRuns());
    KSANA_TRY_VOID(TellParents());
    KSANA_TRY_VOID(WriteFollowUps());
    return OpenGates();
}

Result<void> RunChanges::WriteTallies() {
    if (tallies_.empty()) return {};
    std::vector<model::JobTally> tallies;
    tallies.reserve(tallies_.size());
    for (auto& [id, tally] : tallies_) tallies.push_back(std::move(tally));
    tallies_.clear();
    tx_.Touch(Topic::kJobs);
    return tx_.AddTallies(tallies);
}

Result<void> RunChanges::WriteRuns() {
    const RunRefs changed = OneOfEach(std::exchange(changed_, {}));
    RunRefs updated;
    RunRefs deleted;
    updated.reserve(changed.size());
    for (const Run* run : changed) {
        if (model::IsFinal(run->status.state) && run->policy.run_log == model::RunLog::kNone) {
            deleted.push_back(run);
        } else {
            updated.push_back(AsKept(*run));
        }
    }
    if (!updated.empty()) KSANA_TRY_VOID(tx_.UpdateRuns(updated));
    if (!deleted.empty()) KSANA_TRY_VOID(tx_.DeleteRuns(deleted));
    if (!attempts_.empty()) KSANA_TRY_VOID(tx_.InsertAttempts(attempts_));
    attempts_.clear();
    if (!freed_.empty()) KSANA_TRY_VOID(tx_.FreeKeys(freed_));
    freed_.clear();
    own_.clear();
    return {};
}

Result<void> RunChanges::WriteFollowUps() {
    if (follow_ups_.empty()) return {};
    std::vector<Run> runs = std::exchange(follow_ups_, {});
    NewRuns fresh(*this, tx_, ids_, std::nullopt);
    KSANA_TRY_VOID(fresh.Insert(runs));
    return {};
}

// Makes the fires that follow the ends of runs, and looks at the runs that waited for them, in the
// transaction that ends the runs.
Result<void> RunChanges::TellDependants() {
    Followers followers(tx_, now_, ids_);
    KSANA_TRY_VOID(followers.Tell(std::exchange(endings_, {})));
    KSANA_TRY_VOID(InsertFires(followers));
    return ReleaseWaiting(followers.waiting());
}

Result<void> RunChanges::InsertFires(Followers& followers) {
    if (followers.runs().empty()) return {};
    NewRuns fresh(*this, tx_, ids_, std::nullopt);
    KSANA_TRY_VOID(fresh.Insert(followers.runs()));
    return {};
}

Result<void> RunChanges::ReleaseWaiting(const std::set<std::string>& job_ids) {
    if (job_ids.empty()) return {};
    KSANA_TRY(const std::vector<OverlapCounts> counts,
              tx_.LockOverlapCounts({job_ids.begin(), job_ids.end()}));
    std::vector<Run*> waiting;
    for (const OverlapCounts& count : counts) {
        if (count.blocked == 0) continue;
        KSANA_TRY(std::vector<Run> gated, tx_.LockGated(count.job_id));
        for (Run& run : gated) {
            const bool waits = model::AwaitsJobs(run.status);
            if (waits) waiting.push_back(&own_.emplace_back(std::move(run)));
        }
    }
    DependencyGate gate(tx_, now_);
    KSANA_TRY_VOID(gate.Lock({waiting.begin(), waiting.end()}));
    for (Run* run : waiting) KSANA_TRY_VOID(AskGate(gate, *run));
    return {};
}

Result<model::EventKind> RunChanges::AskGate(DependencyGate& gate, Run& run) {
    KSANA_TRY(const model::Event event, gate.Ask(run));
    Change(run, event);
    return event.kind;
}

Result<void> RunChanges::LookAgain(std::vector<Run>& awaiting, std::string& join_cursor) {
    DependencyGate gate(tx_, now_);
    KSANA_TRY_VOID(gate.Lock(RefsTo(awaiting)));
    for (Run& run : awaiting) KSANA_TRY_VOID(AskGate(gate, run));
    Followers followers(tx_, now_, ids_);
    KSANA_TRY_VOID(followers.Sweep(join_cursor, kJoinsAtOnce));
    KSANA_TRY_VOID(InsertFires(followers));
    return Flush();
}

// Unblocks the first blocked run of each job that has no run under way. The run is checked again
// when it is claimed, so unblocking one too many does no harm.
Result<void> RunChanges::OpenGates() {
    if (ended_jobs_.empty()) return {};
    const std::vector<std::string> jobs(ended_jobs_.begin(), ended_jobs_.end());
    ended_jobs_.clear();
    KSANA_TRY(const std::vector<OverlapCounts> gates, tx_.LockOverlapCounts(jobs));
    for (const OverlapCounts& gate : gates) {
        if (gate.under_way > 0 || gate.blocked == 0) continue;
        KSANA_TRY(std::optional<Run> first, tx_.LockFirstBlocked(gate.job_id));
        if (first) {
            Change(own_.emplace_back(*std::move(first)), {.kind = model::EventKind::kUnblock});
        }
    }
    return WriteRuns();
}

}  // namespace ksana::store_kit
