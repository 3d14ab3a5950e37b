// Planning fires and starting runs ahead of their time.
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::OverlapPolicy;
using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_P(StoreTest, AFireAheadOfItsTimeIsStartedAtItsTime) {
    Create(MakeJob("j1"));
    const TimePoint nominal = now_ + minutes(1);
    now_ += seconds(50);
    EXPECT_EQ(PlanAhead(seconds(9)).jobs, 0U);
    const store::Planned planned = PlanAhead(seconds(10));
    EXPECT_EQ(planned.now, now_);
    ASSERT_EQ(planned.started.size(), 1U);
    const model::Run& run = planned.started[0];
    EXPECT_EQ(run.status.state, RunState::kRunning);
    EXPECT_EQ(run.status.started_at, nominal);
    EXPECT_GT(*run.status.lease_until, nominal);
    EXPECT_EQ(Read(run.id).run, run);
    EXPECT_EQ(jobs().Get("j1")->state.next_run_at, nominal + minutes(1));
    EXPECT_EQ(PlanAhead(seconds(10)).jobs, 0U) << "once";
    now_ = nominal;
    EXPECT_EQ(Report(run, EventKind::kSuccess).verdict, model::EventVerdict::kApplied);
}

// By then the run that must not overlap with it may have ended.
TEST_P(StoreTest, AFireThatMightOverlapIsLeftUntilItsTime) {
    for (const auto& [id, overlap] :
         {std::pair("skip", OverlapPolicy::kSkip), std::pair("queue", OverlapPolicy::kQueueAll),
          std::pair("cancel", OverlapPolicy::kCancelOther),
          std::pair("allow", OverlapPolicy::kAllow)}) {
        model::Job job = MakeJob(id);
        job.overlap = overlap;
        Create(job);
    }
    now_ += minutes(1);
    const auto first = PlanAhead({}).started;
    ASSERT_EQ(first.size(), 4U);
    now_ += seconds(50);
    const auto ahead = PlanAhead(seconds(30));
    EXPECT_EQ(ahead.jobs, 1U);
    EXPECT_FALSE(ahead.more);
    ASSERT_EQ(ahead.started.size(), 1U);
    EXPECT_EQ(ahead.started[0].job_id, "allow");
    for (const model::Run& run : first) Report(run, EventKind::kSuccess);
    const auto later = PlanAhead(seconds(30));
    EXPECT_EQ(later.started.size(), 3U);
    EXPECT_EQ(later.skipped, 0U);
}

TEST_P(StoreTest, AFireIsSkippedAtItsTimeAndNotBefore) {
    Create(MakeJob("j1"));
    now_ += minutes(1);
    ASSERT_EQ(PlanAhead({}).started.size(), 1U);
    now_ += seconds(50);
    EXPECT_EQ(PlanAhead(seconds(10)).runs, 0U);
    now_ += seconds(10);
    EXPECT_EQ(PlanAhead(seconds(10)).skipped, 1U);
}

// Without a free slot, or with another kind, the run waits like any run that is not ready.
TEST_P(StoreTest, AFireAheadThatCannotBeStartedIsScheduled) {
    Create(MakeJob("j1"));
    now_ += seconds(50);
    auto planned = jobs().PlanDue({.now = now_, .look_ahead = seconds(30), .start = {}},
                                  [this](const model::Job& job, TimePoint) {
                                      return PlanEveryMinute(job, *job.state.next_run_at);
                                  });
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->runs, 1U);
    EXPECT_TRUE(ClaimHttp().empty());
    now_ += seconds(10);
    EXPECT_EQ(ClaimHttp().size(), 1U);
}

TEST_P(StoreTest, WhatDiesBeforeItsTimeIsTakenBack) {
    Create(MakeJob("j1"));
    now_ += seconds(50);
    const auto planned = PlanAhead(seconds(10));
    ASSERT_EQ(planned.started.size(), 1U);
    const auto reaped = runs().Reap({.now = now_, .lost_owners = {"me"}});
    ASSERT_TRUE(reaped);
    ASSERT_EQ(reaped->runs.size(), 1U);
    EXPECT_NE(reaped->runs[0].status.state, RunState::kRunning);
}

}  // namespace
}  // namespace ksana::conformance
