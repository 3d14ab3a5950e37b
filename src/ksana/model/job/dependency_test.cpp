// D-17, N-20: the rules of dependencies between jobs.
#include "ksana/model/job/dependency.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

using schedule::AfterOn;
using std::chrono::seconds;
using Strings = std::vector<std::string>;

TEST(Dependency, EveryJobThatIsNamedIsAParentOnce) {
    JobDefinition job;
    job.depends_on = {{"b", {}}, {"a", {}}};
    job.schedule = {.kind = schedule::ScheduleKind::kAfter};
    job.schedule.jobs = {"c", "a"};
    EXPECT_EQ(ParentsOf(job), (Strings{"a", "b", "c"}));
    EXPECT_TRUE(Follows(job, "c") && !Follows(job, "b"));
    EXPECT_TRUE(DependsOn(job, "b") && !DependsOn(job, "c"));
    job.schedule.kind = schedule::ScheduleKind::kOnce;
    EXPECT_FALSE(Follows(job, "c"));
}

TEST(Dependency, AFailedJobThatSaysSkipGoesBeforeOneToWaitFor) {
    const Dependency skip{"s", OnDependencyFailure::kSkip};
    const Dependency wait{"w", OnDependencyFailure::kWait};
    const Dependency run{"r", OnDependencyFailure::kRun};
    const auto decide = [](std::vector<DependencyView> views) {
        const auto decision = DecideDependencies(views);
        return std::pair(decision.verdict,
                         decision.because ? decision.because->dependency->job_id : "");
    };
    using V = DependencyVerdict;
    using S = ParentState;
    EXPECT_EQ(decide({}), std::pair(V::kStart, std::string()));
    EXPECT_EQ(decide({{&skip, S::kSucceeded}, {&run, S::kFailed}}),
              std::pair(V::kStart, std::string()));
    EXPECT_EQ(decide({{&wait, S::kFailed}, {&run, S::kNone}}),
              std::pair(V::kWait, std::string("w")));
    EXPECT_EQ(decide({{&wait, S::kUnfinished}, {&skip, S::kFailed}}),
              std::pair(V::kSkip, std::string("s")));
    EXPECT_EQ(decide({{&skip, S::kUnfinished}}), std::pair(V::kWait, std::string("s")));
}

TEST(Dependency, CountersTellOfAJobWithoutStoredRuns) {
    EXPECT_EQ(ParentStateOf(JobState{}), ParentState::kNone);
    EXPECT_EQ(ParentStateOf(JobState{.total_runs = 2}), ParentState::kSucceeded);
    EXPECT_EQ(ParentStateOf(JobState{.consecutive_failures = 1, .total_runs = 2}),
              ParentState::kFailed);
}

TEST(Dependency, OnlyRunsThatTookPlaceEnd) {
    EXPECT_TRUE(EndsForFollowers(RunState::kRunning, RunState::kCompleting));
    EXPECT_FALSE(EndsForFollowers(RunState::kCompleting, RunState::kSucceeded));
    EXPECT_FALSE(EndsForFollowers(RunState::kRunning, RunState::kHeld));
    EXPECT_TRUE(EndsForFollowers(RunState::kHeld, RunState::kResolved));
    EXPECT_FALSE(EndsForFollowers(RunState::kQueued, RunState::kSkipped));
    EXPECT_TRUE(Matches(AfterOn::kSuccess, RunState::kResolved));
    EXPECT_FALSE(Matches(AfterOn::kSuccess, RunState::kCancelled));
    EXPECT_TRUE(Matches(AfterOn::kFailure, RunState::kTimedOut));
    EXPECT_FALSE(Matches(AfterOn::kFailure, RunState::kSucceeded));
    EXPECT_TRUE(Matches(AfterOn::kAny, RunState::kFailed));
}

TEST(Dependency, ARunWithACallbackEndsBeforeItsDelivery) {
    RunStatus status{.outcome = AttemptOutcome::kSucceeded,
                     .ended_at = TimePoint(seconds(1)),
                     .finished_at = TimePoint(seconds(2))};
    EXPECT_EQ(EndForFollowers(status), TimePoint(seconds(1)));
    status.outcome = AttemptOutcome::kFailed;  // then held, and closed by a person
    EXPECT_EQ(EndForFollowers(status), TimePoint(seconds(2)));
}

TEST(Dependency, AFireIsLaterThanAllBefore) {
    Job job;
    const TimePoint now{seconds(1000)};
    job.state.planned_until = now;
    EXPECT_EQ(FireAfter(job, now + seconds(1)), now + seconds(1));
    EXPECT_EQ(FireAfter(job, now), now + Duration(1));
    EXPECT_EQ(FireAfter(job, now - seconds(9)), now + Duration(1));
    job.schedule.end_at = now + seconds(1);
    EXPECT_EQ(FireAfter(job, now + seconds(2)), std::nullopt);
    job.schedule.start_at = now + seconds(1);
    EXPECT_EQ(FireAfter(job, now), std::nullopt);
}

}  // namespace
}  // namespace ksana::model
