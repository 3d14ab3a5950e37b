#include "ksana/insight/explain/run_search.hpp"

#include <algorithm>

#include "ksana/codec/records/wait_cause_codec.hpp"

namespace ksana::insight {
namespace {

using model::Run;
using model::RunState;

constexpr std::size_t kLooked = 50;
// Final states of runs that started or could have: skipped and missed runs never block others.
constexpr model::RunStates kEnded = model::kAllStates & ~model::kUnfinishedStates &
                                    ~model::SetOf(RunState::kSkipped) &
                                    ~model::SetOf(RunState::kMissed);

Result<RelatedRun> Relate(store::Store& store, const Run& run) {
    KSANA_TRY(const auto start, FirstStart(store, run));
    return RelatedRun{.id = run.id,
                      .state = run.status.state,
                      .nominal_at = run.nominal_at,
                      .from = start.value_or(run.created_at),
                      .until = run.status.finished_at};
}

Result<std::vector<Run>> EndedFrom(store::Store& store, const Run& run, TimePoint from,
                                   std::optional<TimePoint> until) {
    store::RunQuery query;
    query.filter.job_id = run.job_id;
    query.filter.states = kEnded;
    query.filter.finished_from = from;
    query.filter.finished_until = until;
    query.sort = store::RunSort::kFinished;
    query.descending = until.has_value();
    query.limit = kLooked;
    KSANA_TRY(auto page, store.runs().List(query));
    return std::move(page.items);
}

// Returns the other runs of the job that existed at a time and had not ended.
Result<std::vector<Run>> ThereAt(store::Store& store, const Run& run, TimePoint at) {
    KSANA_TRY(std::vector<Run> runs, EndedFrom(store, run, at, {}));
    store::RunQuery query;
    query.filter.job_id = run.job_id;
    query.filter.states = model::kUnfinishedStates;
    query.descending = false;
    query.limit = kLooked;
    KSANA_TRY(auto page, store.runs().List(query));
    std::ranges::move(page.items, std::back_inserter(runs));
    std::erase_if(runs,
                  [&](const Run& other) { return other.id == run.id || other.created_at > at; });
    return runs;
}

}  // namespace

std::optional<model::WaitCause> CauseOf(const Run& run) {
    const bool waits = run.status.state == RunState::kRunning ||
                       run.status.outcome == model::AttemptOutcome::kDeferred;
    return waits ? codec::WaitCauseFromDetail(run.status.detail) : std::nullopt;
}

bool IsHeldBack(const Run& run) {
    return run.status.outcome == model::AttemptOutcome::kDeferred || CauseOf(run).has_value();
}

Result<std::optional<TimePoint>> FirstStart(store::Store& store, const Run& run) {
    if (run.status.attempt <= 1) {
        return IsHeldBack(run) ? std::optional<TimePoint>() : run.status.started_at;
    }
    auto history = store.runs().Get(run.id);
    // Deleted meanwhile: only the last start is known.
    if (!history) {
        if (history.error().code == Code::kNotFound) return run.status.started_at;
        return std::move(history).error();
    }
    const auto& attempts = history->attempts;
    return attempts.empty() ? run.status.started_at : std::optional(attempts.front().started_at);
}

Result<std::optional<RelatedRun>> FindBlockingRun(store::Store& store, const Run& run,
                                                  TimePoint at) {
    KSANA_TRY(const std::vector<Run> others, ThereAt(store, run, at));
    if (others.empty()) return std::optional<RelatedRun>();
    const auto first = std::ranges::max_element(others, {}, [&](const Run& other) {
        const auto& status = other.status;
        const bool under_way = status.started_at && *status.started_at <= at;
        return std::pair(under_way, other.nominal_at.value_or(other.created_at) <=
                                        run.nominal_at.value_or(run.created_at));
    });
    KSANA_TRY(auto related, Relate(store, *first));
    return std::optional(std::move(related));
}

Result<std::optional<RelatedRun>> FindCanceller(store::Store& store, const Run& run) {
    if (run.policy.overlap != model::OverlapPolicy::kCancelOther || !run.nominal_at) {
        return std::optional<RelatedRun>();
    }
    const TimePoint at = run.status.finished_at.value_or(run.updated_at);
    KSANA_TRY(std::vector<Run> others, ThereAt(store, run, at));
    std::erase_if(others, [&](const Run& other) {
        return !other.nominal_at || *other.nominal_at <= *run.nominal_at;
    });
    if (others.empty()) return std::optional<RelatedRun>();
    const auto next = std::ranges::min_element(others, {}, &Run::nominal_at);
    KSANA_TRY(auto related, Relate(store, *next));
    return std::optional(std::move(related));
}

Result<std::optional<RelatedRun>> FindAwaited(store::Store& store, const Run& run, TimePoint from,
                                              TimePoint until) {
    const auto overlap = run.policy.overlap;
    const bool waits =
        !run.policy.ignores_overlap &&
        (overlap == model::OverlapPolicy::kQueueOne || overlap == model::OverlapPolicy::kQueueAll ||
         overlap == model::OverlapPolicy::kCancelOther);
    if (!waits) return std::optional<RelatedRun>();
    KSANA_TRY(std::vector<Run> others, EndedFrom(store, run, from, until + Duration(1)));
    std::erase_if(others,
                  [&](const Run& other) { return other.id == run.id || other.created_at > until; });
    if (others.empty()) return std::optional<RelatedRun>();
    KSANA_TRY(auto related, Relate(store, others.front()));
    return std::optional(std::move(related));
}

}  // namespace ksana::insight
