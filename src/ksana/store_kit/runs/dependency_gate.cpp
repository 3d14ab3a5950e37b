#include "ksana/store_kit/runs/dependency_gate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "ksana/codec/records/wait_cause_codec.hpp"

namespace ksana::store_kit {
namespace {

using model::DependencyVerdict;
using model::DependencyView;
using model::Event;
using model::EventKind;
using model::ParentState;
using model::Run;

// The most runs that are looked at to find the latest that took place. Behind so many skipped ones
// the counters of the job answer.
constexpr std::size_t kLook = 1'000;
// Of so many runs with the highest ids the one that was made last is the latest.
constexpr std::size_t kNearest = 20;

constexpr model::RunStates kCounted = model::kAllStates & ~model::SetOf(model::RunState::kSkipped) &
                                      ~model::SetOf(model::RunState::kMissed);

}  // namespace

Result<void> DependencyGate::Lock(const RunRefs& runs) {
    std::set<std::string> ids;
    for (const Run* run : runs) {
        if (Concerns(*run) && !jobs_.contains(run->job_id)) ids.insert(run->job_id);
    }
    if (ids.empty()) return {};
    KSANA_TRY(std::vector<model::Job> jobs, tx_.Jobs({ids.begin(), ids.end()}));
    std::set<std::string> parents;
    for (model::Job& job : jobs) {
        for (const model::Dependency& one : job.depends_on) {
            if (!parents_.contains(one.job_id)) parents.insert(one.job_id);
        }
        std::string id = job.id;
        jobs_.insert_or_assign(std::move(id), std::move(job));
    }
    if (parents.empty()) return {};
    KSANA_TRY(std::vector<model::Job> locked, tx_.LockJobs({parents.begin(), parents.end()}));
    for (model::Job& parent : locked) {
        std::string id = parent.id;
        parents_.insert_or_assign(std::move(id), std::move(parent));
    }
    return {};
}

Result<Event> DependencyGate::Ask(const Run& run) {
    Event start{.kind = EventKind::kUnblock};
    const auto job = jobs_.find(run.job_id);
    if (job == jobs_.end()) return start;
    std::vector<DependencyView> views;
    for (const model::Dependency& one : job->second.depends_on) {
        KSANA_TRY(const ParentState state, StateOf(one.job_id, run));
        views.push_back({&one, state});
    }
    const auto decision = model::DecideDependencies(views);
    if (decision.verdict == DependencyVerdict::kStart) return start;
    const TimePoint since = std::max(run.status.ready_at, run.created_at);
    const TimePoint until = run.status.wait_until.value_or(since + run.policy.max_wait);
    const std::string why = model::DependencyText(*decision.because);
    Event event{.detail = codec::WaitCauseToDetail({.reason = model::WaitReason::kDependency,
                                                    .key = decision.because->dependency->job_id})};
    if (decision.verdict == DependencyVerdict::kSkip) {
        event.kind = EventKind::kSkip;
        event.reason = model::SkipReason::kDependency;
        event.error = why;
    } else if (until <= now_) {
        event.kind = EventKind::kSkip;
        event.reason = model::SkipReason::kDependency;
        event.error = why + ", and max_wait is over";
    } else {
        event.kind = EventKind::kBlock;
        event.wait_until = until;
    }
    return event;
}

// A fire of the other job whose time has come and that is not a run yet counts as one: jobs with
// the same schedule are planned in any order.
Result<ParentState> DependencyGate::StateOf(const std::string& parent, const Run& run) {
    const auto found = parents_.find(parent);
    if (found == parents_.end()) return ParentState::kNone;
    const model::Job& job = found->second;
    const TimePoint fire = run.nominal_at.value_or(run.created_at);
    if (job.enabled && job.state.next_run_at && *job.state.next_run_at <= fire) {
        return ParentState::kUnfinished;
    }
    if (const auto known = latest_.find(parent); known != latest_.end()) return known->second;
    KSANA_TRY(const ParentState state, LatestOf(job));
    latest_[parent] = state;
    return state;
}

// The ids of runs rise with time, but nodes draw them, each by its own clock; created_at is the
// store's time.
Result<ParentState> DependencyGate::LatestOf(const model::Job& parent) {
    RunList list{.limit = kNearest, .look = kLook};
    list.filter.job_id = parent.id;
    const bool kept = parent.run_log != model::RunLog::kNone;
    list.filter.states = kept ? kCounted : model::kUnfinishedStates;
    KSANA_TRY(const ListedRuns latest, tx_.ListRuns(list));
    if (!latest.rows.empty()) {
        const auto order = [](const Run& run) { return std::pair(run.created_at, run.id); };
        return model::ParentStateOf(std::ranges::max(latest.rows, {}, order).status.state);
    }
    return model::ParentStateOf(parent.state);
}

}  // namespace ksana::store_kit
