#include "ksana/model/job/job_tally.hpp"

#include <gtest/gtest.h>

namespace ksana::model {
namespace {

Run Ended(RunState state, int attempt = 1) {
    Run run;
    run.status.state = state;
    run.status.attempt = attempt;
    if (attempt > 0) run.status.started_at = TimePoint(Duration(attempt));
    run.status.last_error = state == RunState::kSucceeded ? "" : "boom";
    return run;
}

// K-16, G-02: a tally of several runs changes a job as adding the runs one by one does.
TEST(JobTally, AddsUpLikeOneByOne) {
    const RunState ends[] = {RunState::kFailed,    RunState::kTimedOut, RunState::kSucceeded,
                             RunState::kSkipped,   RunState::kFailed,   RunState::kHeld,
                             RunState::kCancelled, RunState::kMissed};
    for (std::size_t from = 0; from < std::size(ends); ++from) {
        Job one_by_one;
        one_by_one.state.consecutive_failures = 4;
        Job batch = one_by_one;
        JobTally all;
        for (std::size_t i = from; i < std::size(ends); ++i) {
            const bool started = ends[i] != RunState::kSkipped && ends[i] != RunState::kMissed;
            const model::Run run = Ended(ends[i], started ? static_cast<int>(i) + 1 : 0);
            JobTally single;
            AddToTally(single, run);
            ApplyTally(single, one_by_one);
            AddToTally(all, run);
        }
        ApplyTally(all, batch);
        EXPECT_EQ(batch, one_by_one) << from;
    }
}

TEST(JobTally, CountsWhatRan) {
    Job job;
    JobTally tally;
    AddToTally(tally, Ended(RunState::kFailed));
    AddToTally(tally, Ended(RunState::kFailed));
    AddToTally(tally, Ended(RunState::kSkipped, 0));
    ApplyTally(tally, job);
    EXPECT_EQ(job.state.total_runs, 2);
    EXPECT_EQ(job.state.consecutive_failures, 2);
    EXPECT_EQ(job.state.last_state, RunState::kSkipped);
    EXPECT_EQ(job.state.last_run_at, TimePoint(Duration(1)));
}

TEST(JobTally, EndsOnce) {
    EXPECT_TRUE(EndsForJob(RunState::kRunning, RunState::kCompleting));
    EXPECT_FALSE(EndsForJob(RunState::kCompleting, RunState::kSucceeded));
    EXPECT_FALSE(EndsForJob(RunState::kRunning, RunState::kScheduled));
    EXPECT_FALSE(EndsForJob(RunState::kHeld, RunState::kResolved));
}

}  // namespace
}  // namespace ksana::model
