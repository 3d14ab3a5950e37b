#include "ksana/store_kit/exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "ksana/store_kit/overlap_gates.hpp"

namespace ksana::store_kit {
namespace {

using model::Event;
using model::EventKind;
using model::Run;
using store::Applied;
using store::ApplyVerdict;

// Runs made queued in one go before a claim; a longer backlog takes several claims.
constexpr std::size_t kDueBatch = 1'000;

ApplyVerdict VerdictOf(model::Verdict verdict) {
    switch (verdict) {
        case model::Verdict::kApplied:
            return ApplyVerdict::kApplied;
        case model::Verdict::kDuplicate:
            return ApplyVerdict::kDuplicate;
        case model::Verdict::kStale:
            return ApplyVerdict::kStale;
        case model::Verdict::kRefused:
            return ApplyVerdict::kRefused;
    }
    return ApplyVerdict::kRefused;
}

class RunsById {
  public:
    explicit RunsById(std::vector<Run>& runs) {
        runs_.reserve(runs.size());
        for (Run& run : runs) runs_.push_back(&run);
        std::ranges::sort(runs_, {}, &Run::id);
    }
    // Null: not there.
    Run* Find(const Uuid& id) const {
        const auto found = std::ranges::lower_bound(runs_, id, {}, &Run::id);
        return found != runs_.end() && (*found)->id == id ? *found : nullptr;
    }

  private:
    std::vector<Run*> runs_;
};

Applied ApplyOne(RunChanges& changes, Run& run, const Event& event) {
    // Starting is the business of a claim, which asks the gates.
    if (event.kind == EventKind::kStart) {
        return {.verdict = ApplyVerdict::kRefused,
                .state = run.status.state,
                .reason = "a run is started by claiming it"};
    }
    model::Transition made = changes.Change(run, event);
    return {.verdict = VerdictOf(made.verdict),
            .state = run.status.state,
            .cancel_requested = run.status.cancel_requested,
            .callback = made.callback,
            .reason = std::move(made.reason)};
}

}  // namespace

Result<std::vector<Applied>> ApplyEvents(Transaction& tx, RunChanges& changes,
                                         const std::vector<store::RunEvent>& events) {
    std::vector<Applied> outcomes;
    if (events.empty()) return outcomes;
    std::vector<Uuid> ids;
    ids.reserve(events.size());
    for (const store::RunEvent& event : events) ids.push_back(event.run_id);
    KSANA_TRY(std::vector<Run> rows, tx.LockRuns(ids));
    RunsById by_id(rows);
    outcomes.reserve(events.size());
    for (const store::RunEvent& event : events) {
        if (Run* const run = by_id.Find(event.run_id)) {
            outcomes.push_back(ApplyOne(changes, *run, event.event));
        } else {
            outcomes.push_back(
                {.reason = fmt::format("there is no run {}", event.run_id.ToString())});
        }
    }
    KSANA_TRY_VOID(changes.Flush());
    return outcomes;
}

Result<store::Claimed> ClaimRuns(Transaction& tx, RunChanges& changes,
                                 const store::ClaimParams& params, UuidGenerator& ids) {
    store::Claimed claimed;
    KSANA_TRY_VOID(tx.MakeDue(changes.now(), kDueBatch));
    KSANA_TRY(std::vector<Run> candidates, tx.LockReady(params.filter, params.limit));
    claimed.more = candidates.size() == params.limit;
    OverlapGates gates(tx, changes);
    KSANA_TRY_VOID(gates.Lock(RefsTo(candidates)));
    std::vector<Run*> started;
    started.reserve(candidates.size());
    Event start{.kind = EventKind::kStart, .owner = params.owner, .lease = params.lease};
    for (Run& run : candidates) {
        // A fire before it has taken its place.
        if (gates.CancelledStatus(run.id) != nullptr) continue;
        KSANA_TRY(const model::OverlapVerdict verdict, gates.Ask(run));
        if (verdict == model::OverlapVerdict::kSkip) {
            changes.Change(run, {.kind = EventKind::kSkip, .reason = model::SkipReason::kOverlap});
            ++claimed.skipped;
        } else if (verdict == model::OverlapVerdict::kStart) {
            start.exec_id = ids.Next().ToString();
            const auto made = changes.Change(run, start);
            if (made.verdict == model::Verdict::kApplied) started.push_back(&run);
        } else {
            changes.Change(run, {.kind = EventKind::kBlock});
        }
    }
    KSANA_TRY_VOID(changes.Flush());
    for (Run* run : started) {
        if (const auto* status = gates.CancelledStatus(run->id)) run->status = *status;
    }
    if (started.size() == candidates.size()) {
        claimed.runs = std::move(candidates);
    } else {
        for (Run* run : started) claimed.runs.push_back(std::move(*run));
    }
    return claimed;
}

Result<std::vector<store::Claimed>> ClaimMore(Transaction& tx, RunChanges& changes,
                                              const std::vector<store::ClaimParams>& claims,
                                              UuidGenerator& ids) {
    std::vector<store::Claimed> claimed(claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i) {
        const bool in_vain =
            i > 0 && claims[i].filter == claims[i - 1].filter && !claimed[i - 1].more;
        if (in_vain) continue;
        KSANA_TRY(claimed[i], ClaimRuns(tx, changes, claims[i], ids));
    }
    return claimed;
}

Result<store::Reaped> ReapRuns(Transaction& tx, RunChanges& changes,
                               const store::ReapParams& params) {
    store::Reaped reaped;
    KSANA_TRY(std::vector<Run> expired, tx.LockExpired(changes.now(), params.limit));
    reaped.more = expired.size() == params.limit;
    std::erase_if(expired,
                  [&](const Run& run) { return !model::OverdueEvent(run, changes.now()); });
    for (Run& run : expired) changes.Change(run, *model::OverdueEvent(run, changes.now()));
    KSANA_TRY_VOID(changes.Flush());
    reaped.runs = std::move(expired);
    if (!params.lost_owners.empty()) {
        KSANA_TRY(std::vector<Run> owned, tx.LockOwned(params.lost_owners, params.limit));
        reaped.more |= owned.size() == params.limit;
        for (Run& run : owned) {
            changes.Change(run, {.kind = EventKind::kLostOwner,
                                 .exec_id = run.status.exec_id,
                                 .error = fmt::format("lost: \"{}\" is gone", run.status.owner)});
        }
        KSANA_TRY_VOID(changes.Flush());
        std::ranges::move(owned, std::back_inserter(reaped.runs));
    }
    KSANA_TRY(std::vector<Run> strays, tx.LockStray(params.limit));
    for (Run& run : strays) changes.Change(run, {.kind = EventKind::kUnblock});
    KSANA_TRY_VOID(changes.Flush());
    return reaped;
}

}  // namespace ksana::store_kit
