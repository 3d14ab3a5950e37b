#include "ksana/engine/agents/agent_service.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"

namespace ksana::engine {
namespace {

using model::AgentClaim;
using model::EventVerdict;
using model::RunEvent;
using store::Applied;

store::ClaimParams ParamsOf(const AgentClaim& claim) {
    return {.filter = AgentService::FilterOf(claim),
            .owner = claim.worker,
            .lease = claim.lease,
            .limit = static_cast<std::size_t>(claim.max)};
}

}  // namespace

store::ClaimFilter AgentService::FilterOf(const AgentClaim& claim) {
    return {.kind = model::ActionKind::kQueue,
            .types = claim.types,
            .categories = claim.categories,
            .tenant = claim.tenant,
            .creator = claim.creator,
            .labels = claim.labels};
}

Result<store::Exchanged> AgentService::Exchange(std::vector<RunEvent> reports,
                                                const std::optional<AgentClaim>& claim) {
    std::vector<Said> said;
    said.reserve(reports.size());
    store::ExchangeParams params;
    params.events.reserve(reports.size());
    for (RunEvent& report : reports) {
        said.push_back(
            {report.run_id, report.event.kind, report.event.exec_id, report.event.lease});
        params.events.push_back({.run_id = report.run_id, .event = std::move(report.event)});
    }
    params.follow_up = options_.follow_up;
    if (claim) params.claim = ParamsOf(*claim);
    std::optional<AgentLimits::Turn> turn;
    if (claim && IsLimited(*claim)) {
        turn.emplace(*options_.limits);
        if (!turn->Narrow(*params.claim)) params.claim.reset();
    }
    KSANA_TRY(store::Exchanged exchanged, store_.runs().Exchange(std::move(params)));
    if (turn) turn->Note(exchanged.claimed.runs, claim->lease);
    turn.reset();
    for (std::size_t i = 0; i < said.size(); ++i) Note(said[i], exchanged.applied[i]);
    Note(exchanged.claimed);
    return exchanged;
}

bool AgentService::IsLimited(const AgentClaim& claim) const {
    return options_.limits != nullptr && options_.limits->Concern(FilterOf(claim));
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

Result<std::vector<store::Claimed>> AgentService::ClaimAll(const std::vector<AgentClaim>& claims) {
    store::ExchangeParams params;
    params.more_claims.reserve(claims.size());
    std::vector<std::size_t> places;  // indexes in `claims` of the claims that are made
    places.reserve(claims.size());
    std::optional<AgentLimits::Turn> turn;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        store::ClaimParams one = ParamsOf(claims[i]);
        if (IsLimited(claims[i])) {
            if (!turn) turn.emplace(*options_.limits);
            if (!turn->Narrow(one)) continue;
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

// A heartbeat extends the time its run counts. Any other accepted report, or the news that the
// attempt is over, frees its room.
void AgentService::NoteLimits(const Said& said, const Applied& applied) const {
    if (options_.limits == nullptr || applied.verdict == EventVerdict::kRefused) return;
    const bool beats = said.kind == model::EventKind::kProgress;
    if (beats && applied.verdict == EventVerdict::kApplied) {
        options_.limits->Extend(said.exec_id, said.lease);
    } else {
        options_.limits->Release(said.exec_id);
    }
}

void AgentService::Note(const Said& said, const Applied& applied) const {
    NoteLimits(said, applied);
    if (options_.observer != nullptr) options_.observer->Reported(said.kind, applied);
    if (applied.verdict != EventVerdict::kStale) return;
    Log(LogLevel::kWarn, "a report of an agent came too late and was refused",
        {{"run_id", said.run_id.ToString()},
         {"exec_id", said.exec_id},
         {"report", model::NameOf(said.kind)},
         {"state", model::NameOf(applied.state)}});
}

void AgentService::Note(const store::Claimed& claimed) const {
    for (const model::Run& run : claimed.runs) NoteStarted(run);
}

void AgentService::NoteStarted(const model::Run& run) const {
    if (options_.observer == nullptr) return;
    const Duration late = run.status.started_at.value_or(run.status.ready_at) - run.status.ready_at;
    options_.observer->Started(run, std::max(late, Duration::zero()));
}

}  // namespace ksana::engine
