// Runs that a limit or an open breaker holds back.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/dispatcher_fixture.hpp"
#include "ksana/codec/records/wait_cause_codec.hpp"

namespace ksana::engine {
namespace {

using model::AttemptOutcome;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class WaitingTest : public DispatcherTest {
  protected:
    void SetUp() override {
        DispatcherTest::SetUp();
        Make({.slots = 100});
    }

    void Limit(int most) { Configure({.description = {}, .max_concurrency = most, .rate = {}}); }
    void Configure(const model::Limit& limit) {
        limits_.Configure({{"group:default", limit}});
        dispatcher_->LimitsChanged();
    }

    // Runs the loops of a node for `time`; every attempt ends after `takes`.
    void RunFor(Duration time, std::optional<Duration> takes = {}) {
        const TimePoint end = clock_.Now() + time;
        while (clock_.Now() < end) {
            RunOnce();
            dispatcher_->StartDue();
            for (const auto& [exec_id, task] : executor_.attempts) {
                began_.try_emplace(exec_id, clock_.Now());
            }
            most_at_once_ = std::max(most_at_once_, executor_.attempts.size());
            clock_.Advance(milliseconds(50));
            if (!takes) continue;
            for (const std::string& exec_id : Ended(*takes)) {
                executor_.End(exec_id, EventKind::kSuccess);
            }
        }
    }
    std::vector<std::string> Ended(Duration takes) const {
        std::vector<std::string> ended;
        for (const auto& [exec_id, task] : executor_.attempts) {
            const auto began = began_.find(exec_id);
            if (began != began_.end() && clock_.Now() - began->second >= takes) {
                ended.push_back(exec_id);
            }
        }
        return ended;
    }

    model::Run Read(const Uuid& id) { return store_->runs().Get(id)->run; }
    std::size_t Count(const std::vector<Uuid>& ids, RunState state) {
        return static_cast<std::size_t>(
            std::ranges::count_if(ids, [&](const Uuid& id) { return StateOf(id) == state; }));
    }
    std::string OnlyOne() {
        EXPECT_EQ(executor_.attempts.size(), 1U);
        return executor_.attempts.empty() ? "" : executor_.attempts.begin()->first;
    }
    // Ends every attempt in flight as if its target were unreachable.
    void TargetIsDown() {
        while (!executor_.attempts.empty()) {
            executor_.Down(std::string(executor_.attempts.begin()->first));
        }
        RunOnce();
    }

    std::map<std::string, TimePoint> began_;
    std::size_t most_at_once_ = 0;
};

TEST_F(WaitingTest, AGroupOfTwoHasNeverMoreThanTwoUnderWay) {
    Limit(2);
    const auto ids = Submit(20);
    RunFor(seconds(40), milliseconds(500));
    EXPECT_EQ(most_at_once_, 2U);
    EXPECT_EQ(Count(ids, RunState::kSucceeded), 20U);
    for (const Uuid& id : ids) {
        EXPECT_EQ(Read(id).status.attempt, 1) << "waiting is no attempt";
        EXPECT_EQ(store_->runs().Get(id)->attempts.size(), 1U);
    }
}

TEST_F(WaitingTest, HundredsWaitInTheStoreAndAllComeToTheirTurn) {
    Limit(5);
    const auto ids = Submit(300);
    RunFor(seconds(10), milliseconds(100));
    EXPECT_GT(Count(ids, RunState::kScheduled), 100U) << "given back";
    RunFor(minutes(3), milliseconds(100));
    EXPECT_EQ(most_at_once_, 5U);
    EXPECT_EQ(Count(ids, RunState::kSucceeded), 300U);
}

struct SeenDeferrals final : Observer {
    void Ended(const AttemptEnd& /*end*/) override { ++ended; }
    void Deferred(const model::Run& /*run*/, const model::WaitCause& cause) override {
        causes.push_back(cause);
    }
    std::size_t ended = 0;
    std::vector<model::WaitCause> causes;
};

TEST_F(WaitingTest, AnAttemptThatIsGivenBackIsSeenAsDeferredWithItsCause) {
    SeenDeferrals seen;
    Make({.slots = 100, .observer = &seen});
    Limit(1);
    Submit(200);
    RunFor(seconds(1));
    EXPECT_EQ(seen.ended, 0U) << "nothing ran to its end";
    ASSERT_FALSE(seen.causes.empty());
    EXPECT_EQ(seen.causes[0].reason, model::WaitReason::kLimited);
    EXPECT_EQ(seen.causes[0].key, "group:default");
}

TEST_F(WaitingTest, ARateIsNotExceeded) {
    Configure({.description = {}, .max_concurrency = {}, .rate = model::Rate{.count = 5}});
    const auto ids = Submit(200);
    RunFor(seconds(10));
    EXPECT_GE(executor_.started.size(), 49U);
    EXPECT_LE(executor_.started.size(), 51U);
    RunFor(seconds(60), Duration(1));
    EXPECT_EQ(Count(ids, RunState::kSucceeded), 200U);
}

TEST_F(WaitingTest, OthersAreNotHeldUp) {
    Make({.slots = 4});
    Limit(1);
    model::Job job;
    job.id = "other";
    job.name = "other";
    job.group = "other";
    job.action = model::HttpAction{.url = "http://127.0.0.1/"};
    ASSERT_TRUE(store_->jobs().Write({.now = {}, .writes = {{.job = job, .plan = {}}}})->at(0));
    Submit(500);
    RunFor(seconds(1));
    model::Run run;
    run.job_id = "other";
    run.kind = model::ActionKind::kHttp;
    run.status.ready_at = clock_.Now();
    const auto submitted = store_->runs().Submit({.now = {}, .runs = {run}, .start = {}});
    RunFor(seconds(3));
    ASSERT_EQ(executor_.attempts.size(), 2U);
    EXPECT_EQ(Read(submitted->at(0).id).status.state, RunState::kRunning);
}

TEST_F(WaitingTest, TheTimeOfAnAttemptBeginsWithItsCall) {
    Limit(1);
    const auto ids = Submit(2);
    RunFor(minutes(4));  // of the five minutes that each attempt has
    const std::string first = OnlyOne();
    executor_.End(first, EventKind::kSuccess);
    const TimePoint began = clock_.Now();
    RunFor(milliseconds(100));
    const ActiveAttempt& attempt = *executor_.attempts.at(OnlyOne()).first;
    EXPECT_GE(*attempt.run.status.deadline, began + minutes(5) - milliseconds(50));
    const model::Run run = Read(attempt.run.id);
    EXPECT_GE(*run.status.deadline, began + minutes(5));
    EXPECT_GE(*run.status.started_at, began) << "it started when it was called";
    EXPECT_EQ(run.status.detail, "");
    RunFor(minutes(4));
    EXPECT_TRUE(executor_.cancelled.empty());
    RunFor(minutes(2));
    EXPECT_EQ(executor_.cancelled.size(), 1U);
}

TEST_F(WaitingTest, WhoeverLooksAtARunSeesWhatItWaitsFor) {
    Limit(1);
    const auto ids = Submit(3);
    RunFor(seconds(3));
    int waiting = 0;
    for (const Uuid& id : ids) {
        const auto cause = codec::WaitCauseFromDetail(Read(id).status.detail);
        if (!cause) continue;
        ++waiting;
        EXPECT_EQ(cause->key, "group:default");
        EXPECT_LE(cause->before, 1);
    }
    EXPECT_EQ(waiting, 2);
    EXPECT_EQ(dispatcher_->WaitingForLimits().at("group:default"), 2U);
    EXPECT_EQ(dispatcher_->UseOfGroup("default").waiting, 2U);
    EXPECT_EQ(dispatcher_->UnderWay(), 1U);
}

TEST_F(WaitingTest, ItsTimeoutIsNothingToWhoWaits) {
    Limit(1);
    const auto ids = Submit(2);
    RunFor(minutes(20));
    const store::Reaped reaped =
        *store_->runs().Reap({.now = {}, .lost_owners = {}, .limit = 100, .follow_up = {}});
    for (const model::Run& run : reaped.runs) {
        EXPECT_EQ(run.status.exec_id, executor_.started.at(0)) << "only what was called is overdue";
    }
}

TEST_F(WaitingTest, CancelWorksAtOnce) {
    Limit(1);
    const auto ids = Submit(3);
    RunFor(milliseconds(200));
    for (const Uuid& id : ids) {
        if (Read(id).status.exec_id == OnlyOne()) continue;
        model::Event cancel;
        cancel.kind = EventKind::kCancel;
        ASSERT_TRUE(store_->runs().Apply({{.run_id = id, .event = cancel}}));
    }
    RunFor(milliseconds(200));
    EXPECT_EQ(Count(ids, RunState::kCancelled), 2U);
    EXPECT_TRUE(dispatcher_->WaitingForLimits().empty());
    EXPECT_EQ(executor_.started.size(), 1U);
}

TEST_F(WaitingTest, AShutdownGivesThemBackUnharmed) {
    Limit(1);
    const auto ids = Submit(3);
    RunFor(milliseconds(200));
    dispatcher_->Close();
    RunOnce();
    EXPECT_EQ(Count(ids, RunState::kQueued), 2U);
    executor_.End(OnlyOne(), EventKind::kSuccess);
    RunOnce();
    EXPECT_TRUE(dispatcher_->Idle());
}

TEST_F(WaitingTest, AfterAPauseLongerThanTheLeaseNothingIsStarted) {
    Limit(1);
    const auto ids = Submit(2);
    RunFor(milliseconds(200));
    const std::string first = OnlyOne();
    clock_.Advance(minutes(2));  // the process was suspended
    executor_.End(first, EventKind::kSuccess);
    dispatcher_->StartDue();
    EXPECT_EQ(executor_.started.size(), 1U) << "its lease ran out; somebody else may have it";
    RunFor(seconds(1), Duration(1));
    EXPECT_EQ(Count(ids, RunState::kSucceeded), 2U) << "nobody had it";
}

TEST_F(WaitingTest, ARaisedLimitIsSeenAtOnceAndALoweredOneCountsWhatRuns) {
    Submit(10);
    RunFor(milliseconds(100));
    EXPECT_EQ(executor_.attempts.size(), 10U);
    Limit(4);
    Submit(10);
    RunFor(milliseconds(100));
    EXPECT_EQ(executor_.attempts.size(), 10U) << "ten of four are under way";
    Limit(15);
    RunFor(milliseconds(100));
    EXPECT_EQ(executor_.attempts.size(), 15U);
    limits_.Configure({});
    dispatcher_->LimitsChanged();
    RunFor(milliseconds(100));
    EXPECT_EQ(executor_.attempts.size(), 20U);
}

TEST_F(WaitingTest, ADeadTargetUsesUpNoAttempts) {
    const auto ids = Submit(1);
    RunFor(milliseconds(100));
    TargetIsDown();
    const auto more = Submit(3);
    RunFor(milliseconds(100));
    TargetIsDown();  // the second consecutive failure opens the breaker
    ASSERT_EQ(limits_.Uses(clock_.SteadyNow()).at(0).breaker->state, BreakerState::kOpen);
    const auto late = Submit(5);
    executor_.started.clear();
    RunFor(seconds(2));
    EXPECT_TRUE(executor_.started.empty());
    for (const Uuid& id : late) {
        const model::RunStatus status = Read(id).status;
        EXPECT_EQ(status.state, RunState::kScheduled);
        EXPECT_EQ(status.failures, 0);
        EXPECT_EQ(status.outcome, AttemptOutcome::kDeferred);
        const auto cause = codec::WaitCauseFromDetail(status.detail);
        ASSERT_TRUE(cause);
        EXPECT_EQ(cause->reason, model::WaitReason::kBreakerOpen);
        EXPECT_EQ(cause->key, "host:127.0.0.1:80");
        EXPECT_GT(status.ready_at, clock_.Now());
    }
    for (int n = 0; n < 600; ++n) {  // for ten minutes
        RunFor(seconds(1));
        EXPECT_LE(executor_.attempts.size(), 1U) << "one sees whether it is back";
        TargetIsDown();
    }
    EXPECT_GT(executor_.started.size(), 5U);
    for (const Uuid& id : late) {
        EXPECT_EQ(Read(id).status.failures, 0) << "that it is down is known";
        EXPECT_FALSE(model::IsFinal(StateOf(id)));
    }
    RunFor(minutes(3), milliseconds(10));  // the target is back
    EXPECT_EQ(Count(late, RunState::kSucceeded), 5U);
    EXPECT_FALSE(limits_.active());
}

TEST_F(WaitingTest, WhatThePlannerStartsPassesTheSameGate) {
    Limit(1);
    const store::StartAs room = dispatcher_->Reserve();
    model::Run run;
    run.job_id = "job";
    run.kind = model::ActionKind::kHttp;
    run.policy.timeout = seconds(1);
    run.status.ready_at = clock_.Now();
    const auto submitted =
        store_->runs().Submit({.now = {}, .runs = std::vector(3, run), .start = room});
    std::vector<AttemptPointer> attempts;
    const auto job = std::make_shared<const model::Job>(*store_->jobs().Get("job"));
    for (const auto& one : *submitted) attempts.push_back(MakeAttempt(*one.started, job));
    dispatcher_->Begin(std::move(attempts), room);
    EXPECT_EQ(executor_.attempts.size(), 1U);
    EXPECT_EQ(dispatcher_->WaitingForLimits().at("group:default"), 2U);
    RunFor(seconds(1), milliseconds(50));
    EXPECT_EQ(executor_.started.size(), 3U);
}

TEST_F(WaitingTest, TheNodesOwnRateHoldsUpAll) {
    LimitTracker own({.node_rate = model::Rate{.count = 10}, .breaker = {}, .name = {}});
    Dispatcher::Options options;
    options.owner = "node/1";
    options.slots = 100;
    options.limits = &own;
    dispatcher_ = std::make_unique<Dispatcher>(*store_, executor_, clock_, options);
    Submit(50);
    RunFor(seconds(2));
    EXPECT_GE(executor_.started.size(), 19U);
    EXPECT_LE(executor_.started.size(), 21U);
    for (auto& [exec_id, task] : std::exchange(executor_.attempts, {})) task.second({});
    dispatcher_.reset();
}

}  // namespace
}  // namespace ksana::engine
