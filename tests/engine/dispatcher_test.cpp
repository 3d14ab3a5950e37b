#include "ksana/engine/dispatch/dispatcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/dispatcher_fixture.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::engine {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST_F(DispatcherTest, StartsWhatIsReadyWithItsJobAndReportsTheEnd) {
    const auto ids = Submit(1);
    RunOnce();
    ASSERT_EQ(executor_.started.size(), 1U);
    const ActiveAttempt& attempt = *executor_.attempts.begin()->second.first;
    ASSERT_TRUE(attempt.job);
    EXPECT_EQ(attempt.job->name, "name of job");
    EXPECT_EQ(StateOf(ids[0]), RunState::kRunning);
    executor_.End(executor_.started[0], EventKind::kSuccess);
    EXPECT_EQ(wakes_, 1);
    RunOnce();
    EXPECT_EQ(StateOf(ids[0]), RunState::kSucceeded);
    EXPECT_TRUE(dispatcher_->Idle());
}

TEST_F(DispatcherTest, NeverMoreThanItsSlots) {
    Submit(10);
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 4U);
    const Step full = RunOnce();
    EXPECT_FALSE(full.again) << "there is no room: landing wakes the loop";
    EXPECT_EQ(executor_.started.size(), 4U);
    executor_.End(executor_.started[1], EventKind::kSuccess);
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 5U) << "in the transaction that took the report";
}

TEST_F(DispatcherTest, ComesAgainWhenARunIsDue) {
    Submit(1, seconds(90));
    const Step step = RunOnce();
    EXPECT_EQ(step.next, clock_.Now() + seconds(90));
    EXPECT_TRUE(executor_.started.empty());
    clock_.Advance(seconds(90));
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 1U);
}

TEST_F(DispatcherTest, ComesAgainForARetry) {
    const auto ids = Submit(1);
    RunOnce();
    executor_.End(executor_.started[0], EventKind::kRetryableFailure, "503");
    const Step step = RunOnce();
    EXPECT_EQ(StateOf(ids[0]), RunState::kScheduled);
    ASSERT_TRUE(step.next);
    clock_.Advance(*step.next - clock_.Now());
    RunOnce();
    ASSERT_EQ(executor_.started.size(), 2U);
    executor_.End(executor_.started[1], EventKind::kRetryableFailure, "503 again");
    RunOnce();
    EXPECT_EQ(StateOf(ids[0]), RunState::kFailed);
    EXPECT_EQ(store_->jobs().Get("job")->state.last_error, "503 again");
}

TEST_F(DispatcherTest, KeepsTheLeasesOfWhatIsUnderWay) {
    const auto ids = Submit(1);
    const Step step = RunOnce();
    ASSERT_TRUE(step.within);
    EXPECT_LE(*step.within, seconds(4)) << "what the planner starts meanwhile has times of its own";
    for (int n = 0; n < 12; ++n) {
        clock_.Advance(seconds(10));
        RunOnce();
        const auto reaped = store_->runs().Reap({});
        ASSERT_TRUE(reaped->runs.empty()) << n;
    }
    EXPECT_EQ(StateOf(ids[0]), RunState::kRunning);
}

TEST_F(DispatcherTest, ALostLeaseStopsTheAttemptAndItsReportIsRefused) {
    const auto ids = Submit(1);
    RunOnce();
    clock_.Advance(seconds(40));  // the machine was suspended
    ASSERT_EQ(store_->runs().Reap({})->runs.size(), 1U);
    RunOnce();
    ASSERT_EQ(executor_.cancelled.size(), 1U);
    const auto before = store_->runs().Get(ids[0])->run;
    executor_.End(executor_.started[0], EventKind::kSuccess);
    RunOnce();
    EXPECT_EQ(store_->runs().Get(ids[0])->run.status.failures, before.status.failures);
    EXPECT_NE(StateOf(ids[0]), RunState::kSucceeded);
}

TEST_F(DispatcherTest, ALostAttemptThatDoesNotStopLetsTheLoopRest) {
    const auto ids = Submit(1);
    RunOnce();
    model::Event cancel;
    cancel.kind = EventKind::kCancel;
    ASSERT_TRUE(store_->runs().Apply({{.run_id = ids[0], .event = cancel}}));
    RunOnce();  // asks the attempt to stop; the executor ignores it
    clock_.Advance(seconds(40));
    ASSERT_EQ(store_->runs().Reap({})->runs.size(), 1U);
    RunOnce();
    const Step step = RunOnce();
    EXPECT_FALSE(step.again);
    EXPECT_GT(step.within.value_or(minutes(1)), seconds(1)) << "there is no lease to renew";
}

TEST_F(DispatcherTest, WhatIsStoppedBeforeItsJobCouldBeReadIsNotStarted) {
    store::FaultPlan faults;
    auto faulty = store::MakeFaultyStore(*store_, faults);
    Dispatcher dispatcher(*faulty, executor_, clock_, {.owner = "node/2", .limits = &limits_});
    const auto ids = Submit(2);
    faults.Next("jobs.GetMany", {.kind = store::FaultKind::kErrorBefore, .delay = {}});
    ASSERT_TRUE(dispatcher.RunOnce());
    EXPECT_EQ(dispatcher.UnderWay(), 2U) << "claimed, but not started";
    dispatcher.Close();
    dispatcher.StopAll();
    ASSERT_TRUE(dispatcher.RunOnce());
    ASSERT_TRUE(dispatcher.RunOnce());
    EXPECT_TRUE(executor_.started.empty());
    EXPECT_TRUE(dispatcher.Idle());
    for (const Uuid& id : ids) {
        EXPECT_EQ(StateOf(id), RunState::kQueued);
        EXPECT_EQ(store_->runs().Get(id)->run.status.failures, 0);
    }
}

TEST_F(DispatcherTest, FindsWhatNobodyToldItOf) {
    RunOnce();
    subscription_ = {};  // the notification is lost
    Submit(1);
    Submit(1, seconds(90));
    RunOnce();
    EXPECT_TRUE(executor_.started.empty());
    clock_.Advance(seconds(5));  // the longest sleep of a loop
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 1U);
    clock_.Advance(seconds(5));
    const Step step = RunOnce();
    ASSERT_TRUE(step.next);
    EXPECT_EQ(*step.next, clock_.Now() + seconds(80));
}

TEST_F(DispatcherTest, AClockThatIsSetBackKeepsNothingInTheQueue) {
    Submit(1);
    clock_.JumpWall(-std::chrono::hours(24));
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 1U);
}

TEST_F(DispatcherTest, PassesOnTheWishToCancel) {
    const auto ids = Submit(1);
    RunOnce();
    model::Event cancel;
    cancel.kind = EventKind::kCancel;
    ASSERT_TRUE(store_->runs().Apply({{.run_id = ids[0], .event = cancel}}));
    RunOnce();
    ASSERT_EQ(executor_.cancelled, executor_.started);
    executor_.End(executor_.started[0], EventKind::kCancelled);
    RunOnce();
    EXPECT_EQ(StateOf(ids[0]), RunState::kCancelled);
}

TEST_F(DispatcherTest, AnAttemptThatTakesTooLongIsStoppedAndTimesOut) {
    const auto ids = Submit(1);
    RunOnce();
    for (int n = 0; n < 31; ++n) {
        clock_.Advance(seconds(10));
        RunOnce();
    }
    ASSERT_EQ(executor_.cancelled, executor_.started);
    executor_.End(executor_.started[0], EventKind::kCancelled);
    RunOnce();
    const auto run = store_->runs().Get(ids[0]);
    EXPECT_EQ(run->attempts.at(0).outcome, model::AttemptOutcome::kTimedOut);
}

// Attempts are taken together and handed over one by one.
TEST_F(DispatcherTest, AStopInTheMiddleOfStartsReachesThemAll) {
    Submit(2);
    executor_.before_start = [this] {
        dispatcher_->Close();
        dispatcher_->StopAll();
    };
    RunOnce();
    ASSERT_EQ(executor_.started.size(), 1U) << "the second is not even started";
    EXPECT_EQ(std::ranges::count(executor_.cancelled, executor_.started[0]), 2)
        << "once before the executor knew it, and once after";
}

TEST_F(DispatcherTest, AShutdownUsesUpNoAttempt) {  // K-18
    const auto ids = Submit(2);
    RunOnce();
    dispatcher_->Close();
    Submit(1);
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 2U) << "nothing new";
    dispatcher_->StopAll();
    EXPECT_EQ(executor_.cancelled.size(), 2U);
    executor_.End(executor_.started[0], EventKind::kCancelled);
    dispatcher_->Abandon();  // the other attempt does not stop
    RunOnce();
    EXPECT_TRUE(dispatcher_->Idle());
    for (const Uuid& id : ids) {
        const auto run = store_->runs().Get(id)->run;
        EXPECT_FALSE(model::IsFinal(run.status.state));
        EXPECT_NE(run.status.state, RunState::kRunning);
        EXPECT_EQ(run.status.failures, 0);
    }
}

TEST_F(DispatcherTest, ThePlannersRunsTakeSlotsToo) {
    const store::StartAs start = dispatcher_->Reserve();
    EXPECT_EQ(start.limit, 4U);
    EXPECT_EQ(dispatcher_->Reserve().limit, 0U);
    Submit(3);
    RunOnce();
    EXPECT_TRUE(executor_.started.empty()) << "all the room is the planner's";
    dispatcher_->Begin({}, start);
    EXPECT_GT(wakes_, 0) << "somebody had waited for it";
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 3U);
}

TEST_F(DispatcherTest, LateRunsAreStartedAtALimitedRate) {
    Make({.slots = 1000, .late_start_rate = 10});
    Submit(35);
    clock_.Advance(minutes(1));
    EXPECT_FALSE(dispatcher_->Load().starts_held_back);
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 10U);
    EXPECT_EQ(dispatcher_->Load().slots, 1000U);
    EXPECT_EQ(dispatcher_->Load().busy, 10U);
    EXPECT_TRUE(dispatcher_->Load().starts_held_back);
    const Step step = RunOnce();
    EXPECT_FALSE(step.again);
    ASSERT_TRUE(step.within);
    EXPECT_EQ(*step.within, std::chrono::milliseconds(100));
    clock_.Advance(seconds(1));
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 24U) << "a ramp: faster while there is more";
    clock_.Advance(seconds(1));
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 35U);
}

TEST_F(DispatcherTest, RunsOnTimeAreNotLimited) {
    Make({.slots = 1000, .late_start_rate = 10});
    for (int n = 0; n < 5; ++n) {
        Submit(10);
        RunOnce();
    }
    EXPECT_EQ(executor_.started.size(), 50U);
}

TEST_F(DispatcherTest, ReportsSurviveAStoreThatIsDown) {
    store::FaultPlan faults;
    auto faulty = store::MakeFaultyStore(*store_, faults);
    Dispatcher dispatcher(*faulty, executor_, clock_, {.owner = "node/2", .limits = &limits_});
    const auto ids = Submit(1);
    ASSERT_TRUE(dispatcher.RunOnce());
    executor_.End(executor_.started[0], EventKind::kSuccess);
    for (const auto fault : {store::FaultKind::kErrorBefore, store::FaultKind::kErrorAfter}) {
        faults.Next("runs.Exchange", {.kind = fault, .delay = {}});
        EXPECT_FALSE(dispatcher.RunOnce());
        EXPECT_FALSE(dispatcher.Idle()) << "it is not forgotten";
    }
    ASSERT_TRUE(dispatcher.RunOnce());
    EXPECT_TRUE(dispatcher.Idle());
    EXPECT_EQ(StateOf(ids[0]), RunState::kSucceeded);
}

TEST_F(DispatcherTest, NewsOfARunningAttemptAreStoredWithinASecond) {
    const auto ids = Submit(1);
    RunOnce();
    const auto attempt = executor_.attempts.begin()->second.first;
    const auto status = [&] { return store_->runs().Get(ids[0])->run.status; };
    const int before = wakes_;
    attempt->tell({.progress = 40, .note = "half", .log = R"("one")"});
    attempt->tell({.log = R"("two")"});
    EXPECT_EQ(wakes_, before + 1) << "the loop is told once";
    EXPECT_LE(*RunOnce().within, seconds(1));
    EXPECT_EQ(status().progress, 0) << "news are gathered";
    clock_.Advance(seconds(1));
    RunOnce();
    EXPECT_EQ(status().progress, 40);
    EXPECT_EQ(status().progress_note, "half");
    EXPECT_EQ(status().detail, R"({"log":["one","two"]})");
    attempt->tell({.log = R"("three")"});
    executor_.End(executor_.started[0], EventKind::kSuccess);
    RunOnce();
    EXPECT_EQ(status().detail, R"({"log":["one","two","three"]})");
    attempt->tell({.log = R"("late")"});
    EXPECT_EQ(status().state, RunState::kSucceeded);
}

TEST_F(DispatcherTest, NewsSurviveAStoreThatIsDownAndStayBounded) {
    store::FaultPlan faults;
    auto faulty = store::MakeFaultyStore(*store_, faults);
    Dispatcher dispatcher(*faulty, executor_, clock_, {.owner = "node/2", .limits = &limits_});
    const auto ids = Submit(1);
    ASSERT_TRUE(dispatcher.RunOnce());
    const auto attempt = executor_.attempts.begin()->second.first;
    attempt->tell({.progress = 10, .log = R"("one")"});
    clock_.Advance(seconds(1));
    faults.Next("runs.Exchange", {.kind = store::FaultKind::kErrorBefore, .delay = {}});
    EXPECT_FALSE(dispatcher.RunOnce());
    attempt->tell({.log = R"("two")"});
    ASSERT_TRUE(dispatcher.RunOnce());
    EXPECT_EQ(store_->runs().Get(ids[0])->run.status.detail, R"({"log":["one","two"]})");
    EXPECT_EQ(store_->runs().Get(ids[0])->run.status.progress, 10);
    for (int n = 0; n < 1000; ++n) attempt->tell({.log = '"' + std::string(1000, 'x') + '"'});
    clock_.Advance(seconds(1));
    ASSERT_TRUE(dispatcher.RunOnce());
    EXPECT_LE(store_->runs().Get(ids[0])->run.status.detail.size(), 70'000U);
    executor_.End(executor_.started[0], EventKind::kSuccess);
    ASSERT_TRUE(dispatcher.RunOnce());
}

TEST_F(DispatcherTest, ADeletedJobIsNoTask) {
    Submit(1);
    // Between claim and start: the run is running, and its job is deleted.
    executor_.started.clear();
    const auto claimed = store_->runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "other", .limit = 1});
    ASSERT_EQ(claimed->runs.size(), 1U);
    ASSERT_TRUE(store_->jobs().Delete({.now = {}, .id = "job", .expected_version = {}}));
    model::Event back;
    back.kind = EventKind::kShutdown;
    back.exec_id = claimed->runs[0].status.exec_id;
    ASSERT_TRUE(store_->runs().Apply({{.run_id = claimed->runs[0].id, .event = back}}));
    RunOnce();
    ASSERT_EQ(executor_.attempts.size(), 1U);
    EXPECT_FALSE(executor_.attempts.begin()->second.first->job);
}

}  // namespace
}  // namespace ksana::engine
