#include "ksana/model/job/dependency.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace ksana::model {

std::vector<std::string> ParentsOf(const JobDefinition& job) {
    std::vector<std::string> parents;
    parents.reserve(job.depends_on.size() + job.schedule.jobs.size());
    for (const Dependency& dependency : job.depends_on) parents.push_back(dependency.job_id);
    parents.insert(parents.end(), job.schedule.jobs.begin(), job.schedule.jobs.end());
    std::ranges::sort(parents);
    const auto rest = std::ranges::unique(parents);
    parents.erase(rest.begin(), rest.end());
    return parents;
}

bool Follows(const JobDefinition& job, const std::string& parent) {
    return job.schedule.kind == schedule::ScheduleKind::kAfter &&
           std::ranges::find(job.schedule.jobs, parent) != job.schedule.jobs.end();
}

bool DependsOn(const JobDefinition& job, const std::string& parent) {
    return std::ranges::find(job.depends_on, parent, &Dependency::job_id) != job.depends_on.end();
}

ParentState ParentStateOf(RunState latest) {
    switch (latest) {
        case RunState::kSucceeded:
        case RunState::kCompleting:
        case RunState::kResolved:
            return ParentState::kSucceeded;
        case RunState::kFailed:
        case RunState::kTimedOut:
        case RunState::kCancelled:
        case RunState::kHeld:
            return ParentState::kFailed;
        case RunState::kScheduled:
        case RunState::kQueued:
        case RunState::kRunning:
            return ParentState::kUnfinished;
        case RunState::kSkipped:
        case RunState::kMissed:
            break;
    }
    return ParentState::kNone;
}

ParentState ParentStateOf(const JobState& counters) {
    if (counters.total_runs == 0) return ParentState::kNone;
    return counters.consecutive_failures == 0 ? ParentState::kSucceeded : ParentState::kFailed;
}

namespace {

DependencyVerdict VerdictOf(const DependencyView& view) {
    if (view.state == ParentState::kSucceeded) return DependencyVerdict::kStart;
    if (view.state != ParentState::kFailed) return DependencyVerdict::kWait;
    switch (view.dependency->on_failure) {
        case OnDependencyFailure::kSkip:
            return DependencyVerdict::kSkip;
        case OnDependencyFailure::kWait:
            return DependencyVerdict::kWait;
        case OnDependencyFailure::kRun:
            return DependencyVerdict::kStart;
    }
    return DependencyVerdict::kWait;
}

}  // namespace

DependencyDecision DecideDependencies(std::span<const DependencyView> dependencies) {
    DependencyDecision decision;
    for (const DependencyView& view : dependencies) {
        const DependencyVerdict verdict = VerdictOf(view);
        if (verdict <= decision.verdict) continue;
        decision = {verdict, &view};
    }
    return decision;
}

std::string DependencyText(const DependencyView& view) {
    const std::string& id = view.dependency->job_id;
    switch (view.state) {
        case ParentState::kNone:
            return fmt::format("\"{}\" has not run yet", id);
        case ParentState::kUnfinished:
            return fmt::format("the latest run of \"{}\" is not over", id);
        case ParentState::kFailed:
            return fmt::format("the latest run of \"{}\" did not succeed", id);
        case ParentState::kSucceeded:
            break;
    }
    return fmt::format("the latest run of \"{}\" succeeded", id);
}

bool EndsForFollowers(RunState before, RunState after) {
    const auto over = [](RunState state) {
        return IsFinal(state) || state == RunState::kCompleting;
    };
    return !over(before) && over(after) && CountsForOthers(after);
}

TimePoint EndForFollowers(const RunStatus& status) {
    const bool done = status.outcome == AttemptOutcome::kSucceeded && status.ended_at;
    return done ? *status.ended_at : status.finished_at.value_or(TimePoint());
}

bool Matches(schedule::AfterOn on, RunState ended) {
    const bool success = ParentStateOf(ended) == ParentState::kSucceeded;
    return on == schedule::AfterOn::kAny || success == (on == schedule::AfterOn::kSuccess);
}

std::optional<TimePoint> FireAfter(const Job& job, TimePoint ended) {
    const TimePoint known = job.state.planned_until.value_or(job.state.created_at);
    const TimePoint nominal = std::max(ended, known + Duration(1));
    if (job.schedule.start_at && nominal < *job.schedule.start_at) return std::nullopt;
    if (job.schedule.end_at && nominal > *job.schedule.end_at) return std::nullopt;
    return nominal;
}

}  // namespace ksana::model
