#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ksana/model/job/job.hpp"

// The rules of dependencies between jobs (docs/dependencies.md). Pure functions.

namespace ksana::model {

// The most jobs that may name one job in depends_on or in an `after` schedule.
inline constexpr std::size_t kMaxDependants = 1'000;

// Returns the ids of the jobs that this one names in depends_on and in an `after` schedule, each
// once, in order.
std::vector<std::string> ParentsOf(const JobDefinition& job);
// Returns whether the job's schedule is of kind `after` and names `parent`.
bool Follows(const JobDefinition& job, const std::string& parent);
// Returns whether the job names `parent` in depends_on.
bool DependsOn(const JobDefinition& job, const std::string& parent);

// How the latest run of a job stands for the jobs that depend on it.
enum class ParentState : std::uint8_t {
    kNone,        // there was no run yet
    kUnfinished,  // it is not over, or its fire is due and has not become a run yet
    kSucceeded,   // succeeded, completing, or closed by a person (resolved)
    kFailed,      // failed, timed_out, cancelled, or held for a person
};

// Returns whether a run in this state counts as a run of its job for other jobs: those that were
// skipped or missed did not take place.
constexpr bool CountsForOthers(RunState state) {
    return state != RunState::kSkipped && state != RunState::kMissed;
}

ParentState ParentStateOf(RunState latest);
// Returns the state of a job of which no run is stored (run_log `none`, or deleted since): its
// counters tell.
ParentState ParentStateOf(const JobState& counters);

// One dependency of a run that is about to start.
struct DependencyView {
    const Dependency* dependency = nullptr;
    ParentState state = ParentState::kNone;
};

enum class DependencyVerdict : std::uint8_t { kStart, kWait, kSkip };

struct DependencyDecision {
    DependencyVerdict verdict = DependencyVerdict::kStart;
    const DependencyView* because = nullptr;  // of kWait and kSkip: the first that is in the way
};

// Decides about a run. A failed job with on_failure `skip` takes precedence over jobs to wait for.
DependencyDecision DecideDependencies(std::span<const DependencyView> dependencies);

// Returns a text such as `the latest run of "load" failed`.
std::string DependencyText(const DependencyView& view);

// Returns whether a transition is an end of the run for jobs that follow it (`after`): it became
// final or completing. A held run has not ended: a person decides about it. A skipped or missed run
// did not take place.
bool EndsForFollowers(RunState before, RunState after);
// Returns when a final run ended for them: a run with a callback did when its work was done, not
// when the callback was delivered.
TimePoint EndForFollowers(const RunStatus& status);
// Returns whether an end in this state makes a fire of a schedule with `on`.
bool Matches(schedule::AfterOn on, RunState ended);

// Returns the nominal time of a fire that follows an end at `ended`: later than every earlier fire
// of the job, by a microsecond if need be. nullopt: the schedule begins later or is over.
std::optional<TimePoint> FireAfter(const Job& job, TimePoint ended);

}  // namespace ksana::model
