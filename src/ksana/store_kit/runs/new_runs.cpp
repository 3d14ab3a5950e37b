#include "ksana/store_kit/runs/new_runs.hpp"

#include <algorithm>
#include <utility>

namespace ksana::store_kit {
namespace {

using model::Run;
using model::RunState;
using store::Submitted;
using store::SubmitVerdict;
using store::Topic;

// Returns whether the run is a fire of a job whose runs must not overlap.
bool IsGatedFire(const Run& run) { return run.nominal_at && OverlapGuard::Concerns(run); }

bool IsRefused(const Submitted& outcome) {
    return outcome.verdict == SubmitVerdict::kSameKey ||
           outcome.verdict == SubmitVerdict::kSameFire || outcome.verdict == SubmitVerdict::kSameId;
}

// Returns whether another run has its key or its fire. The state of that run is not known yet.
bool LostToAnother(const Submitted& outcome) {
    return outcome.verdict == SubmitVerdict::kSameKey ||
           outcome.verdict == SubmitVerdict::kSameFire;
}

// Returns whether the stored run with the same id is the one that was submitted, and not that of
// another caller. Ignores members that may have changed since (a policy, a category taken from the
// type).
bool IsSame(const Run& asked, const Run& there) {
    return asked.kind == there.kind && asked.trigger == there.trigger &&
           asked.job_id == there.job_id && asked.type == there.type &&
           asked.tenant == there.tenant && asked.creator == there.creator &&
           asked.payload == there.payload && asked.priority == there.priority &&
           asked.parent == there.parent && asked.unique.key == there.unique.key;
}

}  // namespace

Result<std::vector<Submitted>> NewRuns::Insert(std::vector<Run>& runs) {
    outcomes_.assign(runs.size(), {});
    for (std::size_t i = 0; i < runs.size(); ++i) {
        Prepare(runs[i]);
        outcomes_[i].id = runs[i].id;
    }
    KSANA_TRY_VOID(TakeKeys(runs));
    KSANA_TRY_VOID(Start(runs));
    KSANA_TRY_VOID(InsertRest(runs));
    KSANA_TRY_VOID(InsertDisplaced(runs));
    KSANA_TRY_VOID(NoteStates(runs));
    return std::move(outcomes_);
}

Result<void> NewRuns::NoteStates(const std::vector<Run>& runs) {
    std::map<Uuid, RunState> there;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        Submitted& outcome = outcomes_[i];
        if (LostToAnother(outcome)) {
            there.emplace(outcome.id, RunState::kScheduled);
        } else if (!IsRefused(outcome)) {
            outcome.state = outcome.started ? outcome.started->status.state : runs[i].status.state;
        }
    }
    if (there.empty()) return {};
    std::vector<Uuid> ids;
    ids.reserve(there.size());
    for (const auto& [id, state] : there) ids.push_back(id);
    KSANA_TRY(const std::vector<Run> found, tx_.Runs(ids));
    for (const Run& run : found) there[run.id] = run.status.state;
    for (Submitted& outcome : outcomes_) {
        if (LostToAnother(outcome)) outcome.state = there[outcome.id];
    }
    return {};
}

// Inserts the runs that were refused because an earlier run of the batch had their key, if that run
// was refused in turn.
Result<void> NewRuns::InsertDisplaced(const std::vector<Run>& runs) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const bool displaced =
            outcomes_[i].verdict == SubmitVerdict::kSameKey && refused_.contains(outcomes_[i].id);
        if (displaced) places.push_back(i);
    }
    if (places.empty()) return {};
    std::vector<Run> again;
    for (const std::size_t i : places) again.push_back(runs[i]);
    NewRuns rest(changes_, tx_, ids_, start_);
    if (start_) rest.started_ = started_;
    KSANA_TRY(std::vector<Submitted> outcomes, rest.Insert(again));
    started_ = rest.started_;
    for (std::size_t i = 0; i < places.size(); ++i) {
        outcomes_[places[i]] = std::move(outcomes[i]);
    }
    return {};
}

void NewRuns::Prepare(Run& run) {
    if (run.id.IsNil()) run.id = ids_.Next();
    run.created_at = changes_.now();
    run.updated_at = changes_.now();
    if (run.status.ready_at == TimePoint{}) run.status.ready_at = changes_.now();
    run.status.state =
        run.status.ready_at <= changes_.now() ? RunState::kQueued : RunState::kScheduled;
}

// If several runs of a batch have the same key, the first one gets it.
Result<void> NewRuns::TakeKeys(const std::vector<Run>& runs) {
    std::vector<KeyClaim> claims;
    std::vector<std::size_t> claimants;
    std::map<std::pair<std::string, std::string>, Uuid> in_batch;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const Run& run = runs[i];
        if (run.unique.key.empty()) continue;
        const auto [first, fresh] = in_batch.try_emplace({run.tenant, run.unique.key}, run.id);
        if (!fresh) {
            outcomes_[i] = {SubmitVerdict::kSameKey, first->second, std::nullopt};
        } else {
            claims.push_back(ClaimOf(run));
            claimants.push_back(i);
        }
    }
    if (claims.empty()) return {};
    KSANA_TRY(const auto holders, tx_.TakeKeys(claims, changes_.now()));
    for (std::size_t c = 0; c < claims.size(); ++c) {
        // The run itself holds the key: the call was repeated, which its id will show.
        if (!holders[c] || *holders[c] == claims[c].run_id) continue;
        outcomes_[claimants[c]] = {SubmitVerdict::kSameKey, *holders[c], std::nullopt};
        // Later runs of this batch lost the key to this run; they now lose it to the actual holder.
        for (Submitted& outcome : outcomes_) {
            if (outcome.verdict == SubmitVerdict::kSameKey && outcome.id == claims[c].run_id) {
                outcome.id = *holders[c];
            }
        }
    }
    return {};
}

// A run that depends on other jobs is started by a claim, which asks about them.
bool NewRuns::MayStart(const Run& run) const {
    if (run.policy.depends || !start_ || run.kind != start_->kind) return false;
    if (!run.selector.empty() || !run.prefer.empty()) return false;
    const auto& types = start_->types;
    if (!types.empty() && std::ranges::find(types, run.type) == types.end()) return false;
    return run.status.ready_at <= changes_.now() + start_->ahead;
}

Result<void> NewRuns::Start(std::vector<Run>& runs) {
    RunRefs gated;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const bool asks = MayStart(runs[i]) || IsGatedFire(runs[i]);
        if (!IsRefused(outcomes_[i]) && asks && OverlapGuard::Concerns(runs[i])) {
            gated.push_back(&runs[i]);
        }
    }
    KSANA_TRY_VOID(gates_.Lock(gated));
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (IsRefused(outcomes_[i])) continue;
        if (IsGatedFire(runs[i])) {
            KSANA_TRY_VOID(PassGate(runs[i], outcomes_[i]));
        } else if (MayStart(runs[i]) && started_ < start_->limit) {
            KSANA_TRY_VOID(StartOne(runs[i], outcomes_[i]));
        }
    }
    return {};
}

// Starts the run, lets it wait, or skips it because enough runs of its job wait already.
Result<void> NewRuns::PassGate(Run& run, Submitted& outcome) {
    // Starts ahead of its time only if no run of the job is in the way: such a run may have ended
    // by then.
    const bool clear = run.status.ready_at <= changes_.now() || gates_.IsFree(run);
    const bool room = MayStart(run) && started_ < start_->limit && clear;
    if (leaders_.contains(run.id)) {
        if (!gates_.IsFree(run)) Skip(run, outcome);
        // The other runs of the broadcast must not stand in its way when it is claimed.
        run.policy.ignores_overlap = true;
    } else if (gates_.ExceedsQueueLimit(run)) {
        Skip(run, outcome);
    } else if (room && !gates_.IsBehindOthers(run)) {
        return StartOne(run, outcome);
    } else {
        gates_.NoteWaiting(run);
    }
    return {};
}

void NewRuns::Skip(Run& run, Submitted& outcome) const {
    const model::Event event{.kind = model::EventKind::kSkip,
                             .reason = model::SkipReason::kOverlap};
    model::Decide(run, event, changes_.now());
    outcome.verdict = SubmitVerdict::kSkipped;
}

// Returns whether the run will be refused; if so, it must not cancel other runs.
Result<bool> NewRuns::IsThere(const Run& run) {
    KSANA_TRY(const std::vector<Run> same, tx_.Runs({run.id}));
    if (!same.empty() || !run.nominal_at) return !same.empty();
    KSANA_TRY(const std::optional<Run> fire, tx_.FindFire(run.job_id, *run.nominal_at));
    return fire.has_value();
}

Result<void> NewRuns::StartOne(Run& run, Submitted& outcome) {
    if (OverlapGuard::Concerns(run) && run.policy.overlap == model::OverlapPolicy::kCancelOther) {
        KSANA_TRY(const bool there, IsThere(run));
        if (there) return {};
    }
    KSANA_TRY(const model::OverlapVerdict verdict, gates_.Ask(run));
    switch (verdict) {
        case model::OverlapVerdict::kSkip:
            Skip(run, outcome);
            return {};
        case model::OverlapVerdict::kStart:
            begin_.exec_id = ids_.Next().ToString();
            run.status.state = RunState::kQueued;
            // A run ahead of its time counts as started at its ready_at.
            model::Decide(run, begin_, std::max(changes_.now(), run.status.ready_at));
            outcome.verdict = SubmitVerdict::kStarted;
            ++started_;
            return {};
        default:
            model::Decide(run, {.kind = model::EventKind::kBlock}, changes_.now());
            return {};
    }
}

Result<void> NewRuns::InsertRest(std::vector<Run>& runs) {
    RunRefs rows;
    std::vector<std::size_t> places;
    rows.reserve(runs.size());
    places.reserve(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (IsRefused(outcomes_[i])) continue;
        rows.push_back(&runs[i]);
        places.push_back(i);
    }
    if (rows.empty()) return {};
    KSANA_TRY(const std::vector<bool> inserted, tx_.InsertRuns(rows));
    store::Topics waiting;
    std::vector<std::size_t> refused;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        Submitted& outcome = outcomes_[places[r]];
        Run& run = runs[places[r]];
        if (!inserted[r]) {
            refused_.insert(run.id);
            refused.push_back(places[r]);
            continue;
        }
        if (outcome.verdict == SubmitVerdict::kStored) waiting |= ReadyTopic(run);
        if (outcome.verdict == SubmitVerdict::kSkipped) KSANA_TRY_VOID(EndSkipped(run));
        if (outcome.verdict == SubmitVerdict::kStarted) outcome.started = std::move(run);
    }
    if (!waiting.Empty()) tx_.Touch(waiting);
    return ExplainRefusals(runs, refused);
}

// A repeated batch is refused as a whole: one read serves all its runs.
Result<void> NewRuns::ExplainRefusals(const std::vector<Run>& runs,
                                      const std::vector<std::size_t>& refused) {
    if (refused.empty()) return {};
    std::vector<Uuid> ids;
    ids.reserve(refused.size());
    for (const std::size_t i : refused) ids.push_back(runs[i].id);
    KSANA_TRY(const std::vector<Run> found, tx_.Runs(ids));
    std::map<Uuid, const Run*> there;
    for (const Run& run : found) there.emplace(run.id, &run);
    for (const std::size_t i : refused) {
        const auto same = there.find(runs[i].id);
        KSANA_TRY_VOID(
            ExplainRefusal(runs[i], same == there.end() ? nullptr : same->second, outcomes_[i]));
    }
    return {};
}

// The run ended before it began: updates its job's bookkeeping and frees the key that it took.
Result<void> NewRuns::EndSkipped(const Run& run) {
    changes_.NoteEnded(run);
    tx_.Touch(Topic::kFinished);
    if (run.unique.key.empty() || model::HoldsKey(run, changes_.now())) return {};
    return tx_.FreeKeys({ClaimOf(run)});
}

Result<void> NewRuns::ExplainRefusal(const Run& run, const Run* same, Submitted& outcome) {
    if (same != nullptr) {
        outcome = {SubmitVerdict::kSameId, run.id, std::nullopt, same->status.state,
                   !IsSame(run, *same)};
        // The stored run may have freed its key long ago or have had another one; then this call
        // has just taken the key by mistake.
        const bool its_own = same->tenant == run.tenant && same->unique.key == run.unique.key &&
                             model::HoldsKey(*same, changes_.now());
        if (!run.unique.key.empty() && !its_own) KSANA_TRY_VOID(tx_.FreeKeys({ClaimOf(run)}));
        return {};
    }
    if (!run.unique.key.empty()) KSANA_TRY_VOID(tx_.FreeKeys({ClaimOf(run)}));
    if (!run.nominal_at) return Error(Code::kInternal, "a run was refused for no reason");
    KSANA_TRY(const std::optional<Run> fire, tx_.FindFire(run.job_id, *run.nominal_at));
    if (!fire) return Error(Code::kConflict, "the run of this fire came and went; try again");
    outcome = {SubmitVerdict::kSameFire, fire->id, std::nullopt};
    return {};
}

}  // namespace ksana::store_kit
