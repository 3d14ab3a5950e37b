#include "ksana/store_kit/runs/exchange.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "ksana/codec/records/document_codec.hpp"
#include "ksana/model/run/claim_order.hpp"
#include "ksana/store_kit/documents/kit_events.hpp"
#include "ksana/store_kit/runs/overlap_guard.hpp"

namespace ksana::store_kit {
namespace {

using model::Event;
using model::EventKind;
using model::EventVerdict;
using model::Run;
using store::Applied;

// The most scheduled runs that one claim queues; a longer backlog takes several claims.
constexpr std::size_t kDueBatch = 1'000;

// Finds runs by id. The runs must stay in place.
class RunsById {
  public:
    explicit RunsById(std::vector<Run>& runs) {
        runs_.reserve(runs.size());
        for (Run& run : runs) runs_.push_back(&run);
        std::ranges::sort(runs_, {}, &Run::id);
    }
    // Returns null if there is no such run.
    Run* Find(const Uuid& id) const {
        const auto found = std::ranges::lower_bound(runs_, id, {}, &Run::id);
        return found != runs_.end() && (*found)->id == id ? *found : nullptr;
    }

  private:
    std::vector<Run*> runs_;
};

Applied ApplyOne(RunChanges& changes, Run& run, const Event& event) {
    // Only a claim starts runs, because it checks for overlap.
    if (event.kind == EventKind::kStart) {
        return {.verdict = EventVerdict::kRefused,
                .state = run.status.state,
                .reason = "a run is started by claiming it"};
    }
    const std::optional<TimePoint> began = run.status.started_at;
    const bool was_running = run.status.state == model::RunState::kRunning;
    model::Transition made = changes.Change(run, event);
    const bool over = was_running && run.status.state != model::RunState::kRunning;
    return {.verdict = made.verdict,
            .state = run.status.state,
            .cancel_requested = run.status.cancel_requested,
            .callback = made.callback,
            .reason = std::move(made.reason),
            .goes_on = made.goes_on,
            .kind = run.kind,
            .type = run.type,
            .took = over && began ? std::optional(changes.now() - *began) : std::nullopt};
}

// A claim and the place of its result.
struct Wanted {
    const store::ClaimParams* params;
    store::Claimed* claimed;
};

// Serves claims with equal filters by one query with the sum of their limits, and divides the runs
// among them in order. Lives for one transaction.
class JointClaim {
  public:
    JointClaim(Transaction& tx, RunChanges& changes, RunSource& ids)
        : tx_(tx), changes_(changes), ids_(ids) {}

    Result<void> Ask(std::span<const Wanted> wanted) {
        std::size_t limit = 0;
        for (const Wanted& one : wanted) limit += one.params->limit;
        KSANA_TRY_VOID(tx_.MakeDue(changes_.now(), kDueBatch));
        KSANA_TRY(std::vector<Run> candidates, Candidates(*wanted.front().params, limit));
        for (const Wanted& one : wanted) one.claimed->more = candidates.size() == limit;
        OverlapGuard gates(tx_, changes_);
        KSANA_TRY_VOID(gates.Lock(RefsTo(candidates)));
        DependencyGate others(tx_, changes_.now());
        KSANA_TRY_VOID(others.Lock(RefsTo(candidates)));
        KSANA_TRY(const Shares started, Start(candidates, wanted, gates, others));
        KSANA_TRY_VOID(changes_.Flush());
        HandOut(candidates, started, wanted, gates);
        return {};
    }

  private:
    using Shares = std::vector<std::vector<Run*>>;  // the runs that each claim has started

    // The first runs by rank over all filters of a claim. A claim with several filters may lock
    // more runs than it takes; they are free again at the end of the transaction.
    Result<std::vector<Run>> Candidates(const store::ClaimParams& params, std::size_t limit) {
        KSANA_TRY(std::vector<Run> all, tx_.LockReady(params.filter, changes_.now(), limit));
        if (params.others.empty()) return all;
        for (const store::ClaimFilter& filter : params.others) {
            KSANA_TRY(std::vector<Run> more, tx_.LockReady(filter, changes_.now(), limit));
            std::ranges::move(more, std::back_inserter(all));
        }
        const auto place = [](const Run& run) {
            return std::pair(model::ClaimRank(run.status.ready_at, run.priority), run.id);
        };
        std::ranges::sort(all, {}, place);
        const auto rest = std::ranges::unique(all, {}, &Run::id);
        all.erase(rest.begin(), rest.end());
        if (all.size() > limit) all.resize(limit);
        return all;
    }

    Result<Shares> Start(std::vector<Run>& candidates, std::span<const Wanted> wanted,
                         OverlapGuard& gates, DependencyGate& others) {
        Shares started(wanted.size());
        Event start{.kind = EventKind::kStart};
        std::size_t turn = 0;
        for (Run& run : candidates) {
            // The start of an earlier candidate has cancelled this run.
            if (gates.CancelledStatus(run.id) != nullptr) continue;
            for (; turn < wanted.size(); ++turn) {
                if (started[turn].size() == wanted[turn].params->limit) continue;
                KSANA_TRY(const bool may, MayClaim(*wanted[turn].params));
                if (may) break;
            }
            if (turn == wanted.size()) break;  // the rest stays in the queue
            KSANA_TRY(const bool passed, Pass(run, others, *wanted[turn].claimed));
            if (!passed) continue;
            KSANA_TRY(const model::OverlapVerdict verdict, gates.Ask(run));
            if (verdict == model::OverlapVerdict::kSkip) {
                changes_.Change(run,
                                {.kind = EventKind::kSkip, .reason = model::SkipReason::kOverlap});
                ++wanted[turn].claimed->skipped;
            } else if (verdict == model::OverlapVerdict::kStart) {
                start.owner = wanted[turn].params->owner;
                start.lease = wanted[turn].params->lease;
                start.exec_id = ids_.Next().ToString();
                const auto made = changes_.Change(run, start);
                if (made.verdict == model::EventVerdict::kApplied) started[turn].push_back(&run);
            } else {
                changes_.Change(run, {.kind = EventKind::kBlock});
            }
        }
        return started;
    }

    // Returns whether the jobs that the run's job depends on let it start.
    Result<bool> Pass(Run& run, DependencyGate& others, store::Claimed& claimed) {
        if (!DependencyGate::Concerns(run)) return true;
        KSANA_TRY(const EventKind kind, changes_.AskGate(others, run));
        claimed.skipped += kind == EventKind::kSkip ? 1 : 0;
        return kind == EventKind::kUnblock;
    }

    // Reads the row of a worker when the first run is about to be its own, not for every claim in
    // vain. A worker that is replaced while this transaction commits loses the run a moment later.
    Result<bool> MayClaim(const store::ClaimParams& params) {
        if (params.worker.empty()) return true;
        const std::pair key(params.worker, params.incarnation);
        if (const auto known = may_claim_.find(key); known != may_claim_.end()) {
            return known->second;
        }
        KSANA_TRY(const std::vector<model::Document> rows,
                  tx_.ListDocuments({.kind = "worker",
                                     .prefix = params.worker,
                                     .alive_at = changes_.now(),
                                     .limit = 1}));
        bool may = false;
        if (!rows.empty() && rows[0].key == params.worker) {
            KSANA_TRY(const model::Worker worker, codec::WorkerFromJson(rows[0].body));
            may = worker.incarnation == params.incarnation && !worker.deregistered &&
                  !worker.draining && !worker.drain_requested;
        }
        may_claim_.emplace(key, may);
        return may;
    }

    static void HandOut(std::vector<Run>& candidates, const Shares& started,
                        std::span<const Wanted> wanted, const OverlapGuard& gates) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            for (Run* run : started[i]) {
                if (const auto* status = gates.CancelledStatus(run->id)) run->status = *status;
            }
            std::vector<Run>& runs = wanted[i].claimed->runs;
            if (started[i].size() == candidates.size()) {
                runs = std::move(candidates);
                return;
            }
            runs.reserve(started[i].size());
            for (Run* run : started[i]) runs.push_back(std::move(*run));
        }
    }

    Transaction& tx_;
    RunChanges& changes_;
    RunSource& ids_;
    std::map<std::pair<std::string, Uuid>, bool> may_claim_;
};

// Joins adjacent claims with equal filters into one query, as long as its limit is within
// kMaxBatch.
Result<void> ClaimAll(Transaction& tx, RunChanges& changes, std::span<const Wanted> wanted,
                      RunSource& ids) {
    JointClaim claim(tx, changes, ids);
    while (!wanted.empty()) {
        std::size_t count = 1;
        std::size_t limit = wanted[0].params->limit;
        while (count < wanted.size() && wanted[count].params->filter == wanted[0].params->filter &&
               wanted[count].params->others == wanted[0].params->others &&
               limit + wanted[count].params->limit <= store::kMaxBatch) {
            limit += wanted[count++].params->limit;
        }
        KSANA_TRY_VOID(claim.Ask(wanted.first(count)));
        wanted = wanted.subspan(count);
    }
    return {};
}

bool IsApplied(const Applied& outcome) { return outcome.verdict == EventVerdict::kApplied; }

}  // namespace

Result<void> ExchangeWrite::DoAll(Transaction& tx, std::span<SharedWrite* const> all) {
    Calls calls;
    calls.reserve(all.size());
    for (SharedWrite* one : all) calls.push_back(static_cast<ExchangeWrite*>(one));
    std::optional<TimePoint> now = params_.now;
    if (!now) {
        KSANA_TRY(now, tx.Now());
    }
    // If one caller has a follow-up, it also applies to what results from all reports together (the
    // parents of callbacks).
    const auto follows = std::ranges::find_if(
        calls, [](const ExchangeWrite* call) { return bool(call->params_.follow_up); });
    const store::FollowUp& follow_up =
        follows == calls.end() ? params_.follow_up : (*follows)->params_.follow_up;
    RunChanges changes(tx, *now, follow_up, ids_);
    KSANA_TRY_VOID(ApplyEvents(tx, changes, calls, follow_up));
    KSANA_TRY_VOID(KeepAudits(tx, *now, calls));
    std::vector<Wanted> wanted;
    for (ExchangeWrite* call : calls) {
        store::Exchanged& made = call->made_;
        made.claimed = {};
        made.more_claimed.assign(call->params_.more_claims.size(), {});
        if (call->params_.claim) wanted.push_back({&*call->params_.claim, &made.claimed});
        for (std::size_t i = 0; i < made.more_claimed.size(); ++i) {
            wanted.push_back({&call->params_.more_claims[i], &made.more_claimed[i]});
        }
    }
    return ClaimAll(tx, changes, wanted, ids_);
}

std::size_t ExchangeWrite::weight() const {
    std::size_t rows = 1 + params_.events.size() + (params_.claim ? params_.claim->limit : 0);
    for (const store::ClaimParams& claim : params_.more_claims) rows += claim.limit;
    return rows;
}

Result<void> ExchangeWrite::ApplyEvents(Transaction& tx, RunChanges& changes, const Calls& calls,
                                        const store::FollowUp& for_all) {
    std::vector<Uuid> ids;
    for (const ExchangeWrite* call : calls) {
        for (const model::RunEvent& event : call->params_.events) ids.push_back(event.run_id);
    }
    if (ids.empty()) return {};
    KSANA_TRY(std::vector<Run> rows, tx.LockRuns(ids));
    const RunsById by_id(rows);
    for (ExchangeWrite* call : calls) {
        changes.FollowBy(call->params_.follow_up);
        std::vector<Applied>& outcomes = call->made_.applied;
        outcomes.clear();
        outcomes.reserve(call->params_.events.size());
        for (const model::RunEvent& event : call->params_.events) {
            if (Run* const run = by_id.Find(event.run_id)) {
                const TimePoint ready_at = run->status.ready_at;
                outcomes.push_back(ApplyOne(changes, *run, event.event));
                const bool wanted = call->params_.want_runs && IsApplied(outcomes.back()) &&
                                    event.event.kind != EventKind::kProgress;
                if (!wanted) continue;
                outcomes.back().run = std::make_shared<const Run>(*run);
                outcomes.back().ready_at = ready_at;
            } else {
                outcomes.push_back(
                    {.reason = fmt::format("there is no run {}", event.run_id.ToString())});
            }
        }
    }
    changes.FollowBy(for_all);
    return changes.Flush();
}

Result<void> ExchangeWrite::KeepAudits(Transaction& tx, TimePoint now, const Calls& calls) {
    for (const ExchangeWrite* call : calls) {
        if (!call->params_.audit || !std::ranges::any_of(call->made_.applied, IsApplied)) continue;
        KSANA_TRY_VOID(KeepAudit(tx, now, call->params_.audit));
    }
    return {};
}

Result<store::Reaped> ReapRuns(Transaction& tx, RunChanges& changes,
                               const store::ReapParams& params, std::string& join_cursor) {
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
    KSANA_TRY(std::vector<Run> strays, tx.LockWronglyBlocked(params.limit));
    for (Run& run : strays) changes.Change(run, {.kind = EventKind::kUnblock});
    KSANA_TRY_VOID(changes.Flush());
    KSANA_TRY(std::vector<Run> awaiting, tx.LockAwaiting(changes.now(), params.limit));
    reaped.more |= awaiting.size() == params.limit;
    KSANA_TRY_VOID(changes.LookAgain(awaiting, join_cursor));
    return reaped;
}

}  // namespace ksana::store_kit
