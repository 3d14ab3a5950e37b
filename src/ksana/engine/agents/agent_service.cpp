#include "ksana/engine/agents/agent_service.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::engine {
namespace {

using model::AgentClaim;
using model::EventVerdict;
using model::RunEvent;
using store::Applied;

// Commands and calls have no types that a worker could serve, or that have limits.
bool HasTypes(model::ActionKind kind) {
    return kind == model::ActionKind::kQueue || kind == model::ActionKind::kHandler;
}

// What a claim asks for among the runs of one kind.
store::ClaimFilter FilterOf(const AgentClaim& claim, model::ActionKind kind) {
    store::ClaimFilter filter{.kind = kind, .tenant = claim.tenant, .creator = claim.creator};
    if (HasTypes(kind)) {
        filter.types = claim.types;
        filter.without = claim.without;
    }
    if (kind == model::ActionKind::kQueue) filter.categories = claim.categories;
    filter.labels = claim.labels;
    // Calls that demand no labels are for the servers.
    filter.only_selective = kind == model::ActionKind::kHttp;
    return filter;
}

}  // namespace

store::ClaimParams AgentService::ParamsOf(const AgentClaim& claim, Aim aim) {
    store::ClaimParams params{.filter = {},
                              .owner = model::OwnerName(claim.worker, claim.incarnation),
                              .lease = claim.lease,
                              .limit = static_cast<std::size_t>(claim.max)};
    if (!claim.incarnation.IsNil()) {
        params.worker = claim.worker;
        params.incarnation = claim.incarnation;
    }
    const bool named = aim == Aim::kOwn && !claim.incarnation.IsNil();
    for (std::size_t i = 0; i < claim.kinds.size(); ++i) {
        store::ClaimFilter filter = FilterOf(claim, claim.kinds[i]);
        if (named) filter.labels[model::kWorkerLabel] = claim.worker;
        if (i == 0) {
            params.filter = std::move(filter);
        } else {
            params.others.push_back(std::move(filter));
        }
    }
    return params;
}

bool AgentService::Wants(const AgentClaim& claim, const model::Run& run, TimePoint now) {
    const store::ClaimParams params = ParamsOf(claim, Aim::kOwn);
    return store::Matches(params.filter, run, now) ||
           std::ranges::any_of(params.others, [&](const store::ClaimFilter& filter) {
               return store::Matches(filter, run, now);
           });
}

Result<store::Exchanged> AgentService::Exchange(std::vector<RunEvent> reports,
                                                const std::optional<AgentClaim>& claim) {
    std::vector<Said> said;
    said.reserve(reports.size());
    store::ExchangeParams params;
    params.events.reserve(reports.size());
    for (RunEvent& report : reports) {
        said.push_back({.run_id = report.run_id,
                        .kind = report.event.kind,
                        .exec_id = report.event.exec_id,
                        .lease = report.event.lease,
                        .by_broker = report.event.owner == model::kBrokerOwner});
        params.events.push_back({.run_id = report.run_id, .event = std::move(report.event)});
    }
    params.follow_up = options_.follow_up;
    params.want_runs = options_.want_runs;
    if (claim) params.claim = ParamsOf(*claim, Aim::kOwn);
    std::optional<AgentLimits::Turn> turn;
    if (claim && IsLimited(*params.claim)) {
        turn.emplace(*options_.limits);
        if (!Narrow(*turn, *params.claim)) params.claim.reset();
    }
    KSANA_TRY(store::Exchanged exchanged, store_.runs().Exchange(std::move(params)));
    if (turn) turn->Note(exchanged.claimed.runs, claim->lease);
    turn.reset();
    for (std::size_t i = 0; i < said.size(); ++i) Note(said[i], exchanged.applied[i]);
    Note(exchanged.claimed);
    return exchanged;
}

bool AgentService::IsLimited(const store::ClaimParams& params) const {
    if (options_.limits == nullptr) return false;
    const auto concerned = [this](const store::ClaimFilter& filter) {
        return HasTypes(filter.kind) && options_.limits->Concern(filter);
    };
    return concerned(params.filter) || std::ranges::any_of(params.others, concerned);
}

// Leaves out the kinds that have no room. Returns false if none is left.
bool AgentService::Narrow(AgentLimits::Turn& turn, store::ClaimParams& params) const {
    std::vector<store::ClaimFilter> all = std::move(params.others);
    all.insert(all.begin(), std::move(params.filter));
    std::vector<store::ClaimFilter> left;
    for (store::ClaimFilter& filter : all) {
        if (!HasTypes(filter.kind)) {
            left.push_back(std::move(filter));
            continue;
        }
        store::ClaimParams one{.filter = std::move(filter),
                               .owner = params.owner,
                               .lease = params.lease,
                               .limit = params.limit};
        if (!turn.Narrow(one)) continue;
        params.limit = std::min(params.limit, one.limit);
        left.push_back(std::move(one.filter));
    }
    if (left.empty()) return false;
    params.filter = std::move(left.front());
    left.erase(left.begin());
    params.others = std::move(left);
    return true;
}

Result<Applied> AgentService::Report(RunEvent report) {
    std::vector<RunEvent> one;
    one.push_back(std::move(report));
    KSANA_TRY(store::Exchanged exchanged, Exchange(std::move(one), {}));
    Applied& applied = exchanged.applied.at(0);
    switch (applied.verdict) {
        case EventVerdict::kApplied:
        case EventVerdict::kDuplicate:
            return std::move(applied);
        case EventVerdict::kStale:
            return Error(Code::kLeaseLost, std::move(applied.reason));
        case EventVerdict::kRefused:
            return Error(Code::kConflict, std::move(applied.reason));
        case EventVerdict::kNotFound:
            return Error(Code::kNotFound, std::move(applied.reason));
    }
    return Error(Code::kInternal, "a report without a verdict");
}

Result<std::vector<store::Claimed>> AgentService::ClaimAll(const std::vector<AgentClaim>& claims,
                                                           Aim aim) {
    store::ExchangeParams params;
    params.more_claims.reserve(claims.size());
    std::vector<std::size_t> places;  // indexes in `claims` of the claims that are made
    places.reserve(claims.size());
    std::optional<AgentLimits::Turn> turn;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        store::ClaimParams one = ParamsOf(claims[i], aim);
        if (IsLimited(one)) {
            if (!turn) turn.emplace(*options_.limits);
            if (!Narrow(*turn, one)) continue;
        }
        params.more_claims.push_back(std::move(one));
        places.push_back(i);
    }
    std::vector<store::Claimed> all(claims.size());
    if (places.empty()) return all;
    KSANA_TRY(store::Exchanged exchanged, store_.runs().Exchange(std::move(params)));
    for (std::size_t n = 0; n < places.size(); ++n) {
        store::Claimed& claimed = exchanged.more_claimed[n];
        if (turn) turn->Note(claimed.runs, claims[places[n]].lease);
        Note(claimed);
        all[places[n]] = std::move(claimed);
    }
    return all;
}

void AgentService::GiveBack(const std::vector<model::Run>& runs) {
    if (runs.empty()) return;
    if (options_.limits != nullptr) {
        for (const model::Run& run : runs) options_.limits->Release(run.status.exec_id);
    }
    std::vector<model::RunEvent> events;
    events.reserve(runs.size());
    for (const model::Run& run : runs) {
        events.push_back({.run_id = run.id,
                          .event = {.kind = model::EventKind::kShutdown,
                                    .exec_id = run.status.exec_id,
                                    .error = "nobody was there to take it"}});
    }
    store::ExchangeParams params;
    params.events = std::move(events);
    params.follow_up = options_.follow_up;
    if (const auto given = store_.runs().Exchange(std::move(params)); !given) {
        Log(LogLevel::kWarn, "runs for an agent that has gone wait for the end of their lease",
            {{"runs", runs.size()}, {"error", given.error().Describe()}});
    }
}

// A heartbeat extends the time its run counts, as does the news that it has begun; said again, that
// changes nothing, and without a lease the run counts as long as its message would have. Any other
// accepted report, or the news that the attempt is over, frees its room; not what a stranger says
// about an attempt that goes on.
void AgentService::NoteLimits(const Said& said, const Applied& applied) const {
    if (options_.limits == nullptr || applied.verdict == EventVerdict::kRefused) return;
    const bool takes = said.kind == model::EventKind::kTake;
    if (applied.goes_on || (takes && applied.verdict == EventVerdict::kDuplicate)) return;
    const bool beats = takes || said.kind == model::EventKind::kProgress;
    if (beats && applied.verdict == EventVerdict::kApplied) {
        if (said.lease > Duration::zero()) options_.limits->Extend(said.exec_id, said.lease);
    } else {
        options_.limits->Release(said.exec_id);
    }
}

void AgentService::Note(const Said& said, const Applied& applied) const {
    // A consumer may have begun the run before it is noted as published.
    if (said.by_broker && applied.verdict == EventVerdict::kStale) return;
    NoteLimits(said, applied);
    const bool begun = said.kind == model::EventKind::kTake && said.lease > Duration::zero();
    if (begun && options_.expires_in) options_.expires_in(said.lease);
    if (options_.observer != nullptr) options_.observer->Reported(said.kind, applied);
    const bool late = applied.verdict == EventVerdict::kStale;
    if (!late && applied.verdict != EventVerdict::kRefused) return;
    // Without the exec_id: the attempt may go on, and whoever has its exec_id may report on it.
    Log(LogLevel::kWarn,
        late ? "a report of an agent came too late and was refused"
             : "a report of an agent was refused",
        {{"run_id", said.run_id.ToString()},
         {"report", model::NameOf(said.kind)},
         {"state", model::NameOf(applied.state)}});
}

void AgentService::Note(const store::Claimed& claimed) const {
    for (const model::Run& run : claimed.runs) NoteStarted(run);
    if (options_.observer != nullptr && claimed.skipped > 0) {
        options_.observer->Skipped(claimed.skipped);
    }
}

void AgentService::NoteStarted(const model::Run& run) const {
    const auto expires = model::ExpiresAt(run);
    if (expires && options_.expires_in) {
        options_.expires_in(*expires - run.status.started_at.value_or(*expires));
    }
    if (options_.observer == nullptr) return;
    const Duration late = run.status.started_at.value_or(run.status.ready_at) - run.status.ready_at;
    options_.observer->Started(run, std::max(late, Duration::zero()));
}

}  // namespace ksana::engine
