#include "ksana/engine/broker/status_listener.hpp"

#include "engine/broker_engine_fixture.hpp"

namespace ksana::engine {
namespace {

using model::RunState;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class StatusListenerTest : public BrokerEngineTest {
  protected:
    // A task that c1 has taken from its queue and not begun.
    TestTask Taken() {
        id_ = Submit();
        Turn();
        EXPECT_TRUE(c1_.here() || c1_.Begin());
        const auto tasks = c1_.Take();
        EXPECT_EQ(tasks.size(), 1U);
        return tasks.empty() ? TestTask{} : tasks[0];
    }
    // A task that c1 has begun.
    TestTask Begun() {
        TestTask task = Taken();
        c1_.Say(task, "RUNNING", kLease);
        Turn();
        EXPECT_EQ(StatusOf(id_).owner, "c1");
        return task;
    }
    std::size_t Unread() { return Waiting(queues_.Status().name).value_or(0); }

    Uuid id_;
};

// D-02, D-03
TEST_F(StatusListenerTest, RunningGivesItItsOwnerAndItsTime) {
    const TestTask task = Taken();
    clock_.Advance(seconds(20));
    c1_.Say(task, "RUNNING", kLease);
    Turn();
    const model::RunStatus status = StatusOf(id_);
    EXPECT_EQ(status.state, RunState::kRunning);
    EXPECT_EQ(status.owner, "c1");
    EXPECT_EQ(status.started_at, clock_.Now());
    EXPECT_EQ(status.deadline, clock_.Now() + minutes(1));
    EXPECT_EQ(status.lease_until, clock_.Now() + seconds(30));
    EXPECT_EQ(status.detail, "");
    clock_.Advance(seconds(1));
    c1_.Say(task, "COMPLETED", R"(,"result":{"sent":1})");
    Turn();
    EXPECT_EQ(StatusOf(id_).state, RunState::kSucceeded);
    EXPECT_EQ(StatusOf(id_).result, R"({"sent":1})");
    EXPECT_EQ(StatusOf(id_).finished_at, clock_.Now());
    EXPECT_EQ(listener_.counts().applied, 2U);
}

// D-02
TEST_F(StatusListenerTest, AFailureAndATimeoutEndTheAttempt) {
    const TestTask failed = Begun();
    c1_.Say(failed, "FAILED", R"(,"error":{"type":"Smtp","message":"no route"},"retry":"no")");
    Turn();
    EXPECT_EQ(StatusOf(id_).state, RunState::kFailed);
    EXPECT_EQ(StatusOf(id_).last_error, "Smtp: no route");
    EXPECT_EQ(StatusOf(id_).owner, "c1");
    const TestTask late = Begun();
    c1_.Say(late, "TIMEOUT", kError);
    Turn();
    EXPECT_EQ(StatusOf(id_).outcome, model::AttemptOutcome::kTimedOut);
    EXPECT_EQ(StatusOf(id_).failures, 1) << "it is tried again";
}

TEST_F(StatusListenerTest, OneThatDiesIsRetriedAfterItsLease) {
    Begun();
    Advance(seconds(29));
    Reap();
    EXPECT_EQ(StatusOf(id_).owner, "c1");
    Advance(seconds(1));
    Reap();
    EXPECT_NE(StatusOf(id_).state, RunState::kRunning);
    EXPECT_EQ(StatusOf(id_).outcome, model::AttemptOutcome::kLost);
}

// The first news of a consumer may be a heartbeat: the lease is the consumer's, not the message's.
TEST_F(StatusListenerTest, AHeartbeatThatComesFirstBeginsIt) {
    const TestTask task = Taken();
    c1_.Say(task, "HEARTBEAT", kLease);
    Turn();
    EXPECT_EQ(StatusOf(id_).owner, "c1");
    EXPECT_EQ(StatusOf(id_).lease_until, clock_.Now() + seconds(30));
}

TEST_F(StatusListenerTest, TheEndMayComeFirst) {
    const TestTask task = Taken();
    c1_.Say(task, "COMPLETED");
    c1_.Say(task, "RUNNING", kLease);
    Turn();
    EXPECT_EQ(StatusOf(id_).state, RunState::kSucceeded);
    EXPECT_EQ(listener_.counts().stale, 1U);
}

TEST_F(StatusListenerTest, AnotherResultIsCountedAndNotApplied) {
    const TestTask task = Begun();
    c1_.Say(task, "COMPLETED", R"(,"result":1)");
    c1_.Say(task, "COMPLETED", R"(,"result":1)");  // delivered twice
    c1_.Say(task, "COMPLETED", R"(,"result":2)");
    c1_.Say(task, "FAILED", kError);
    Turn();
    EXPECT_EQ(StatusOf(id_).result, "1");
    EXPECT_EQ(listener_.counts().applied, 3U);
    EXPECT_EQ(listener_.counts().conflict, 2U);
    EXPECT_EQ(listener_.counts().stale, 0U);
    EXPECT_EQ(Unread(), 0U) << "they are acknowledged";
}

TEST_F(StatusListenerTest, WhoWorksInVainIsToldSo) {
    const TestTask task = Begun();
    ASSERT_TRUE(c2_.Begin());
    c2_.Say(task, "RUNNING", kLease);  // the message came twice
    TestTask old = task;
    old.exec_id = "long-ago";
    c2_.Say(old, "HEARTBEAT", kLease);
    TestTask unknown = task;
    unknown.run_id = "0192f0c1-2345-7abc-8def-0123456789ab";
    c2_.Say(unknown, "RUNNING");
    c1_.Say(task, "RUNNING", kLease);
    Turn();
    c2_.Take();
    EXPECT_EQ(c2_.orders, (std::vector<std::string>{"cancel " + task.exec_id, "cancel long-ago",
                                                    "cancel " + task.exec_id}));
    c2_.Say(task, "COMPLETED", R"(,"result":"theirs")");
    Turn();
    EXPECT_EQ(StatusOf(id_).state, RunState::kRunning) << "only its owner ends it";
    c1_.Take();
    EXPECT_TRUE(c1_.orders.empty()) << "what is said twice is no fault";
    c1_.Say(task, "COMPLETED", R"(,"result":"mine")");
    Turn();
    EXPECT_EQ(StatusOf(id_).result, R"("mine")");
}

// G-04
TEST_F(StatusListenerTest, WhatNobodyHasBegunIsCancelledAtOnce) {
    const TestTask task = Taken();
    ASSERT_TRUE(runs_.Cancel(id_, {}));
    EXPECT_EQ(StatusOf(id_).state, RunState::kCancelled);
    c1_.Say(task, "RUNNING", kLease);
    Turn();
    c1_.Take();
    EXPECT_EQ(c1_.orders, std::vector<std::string>{"cancel " + task.exec_id});
    EXPECT_EQ(StatusOf(id_).state, RunState::kCancelled);
}

// G-04
TEST_F(StatusListenerTest, WhoHasBegunItIsAskedToStop) {
    const TestTask task = Begun();
    ASSERT_TRUE(runs_.Cancel(id_, {}));
    EXPECT_EQ(StatusOf(id_).state, RunState::kRunning);
    Turn();
    c1_.Take();
    EXPECT_EQ(c1_.orders, std::vector<std::string>{"cancel " + task.exec_id});
    // Whoever did not hear it is told with each heartbeat.
    c1_.Say(task, "HEARTBEAT", kLease);
    Turn();
    c1_.Take();
    EXPECT_EQ(c1_.orders.size(), 2U);
    c1_.Say(task, "FAILED", kError);
    Turn();
    EXPECT_EQ(StatusOf(id_).state, RunState::kCancelled);
}

TEST_F(StatusListenerTest, WhatCannotBeReadGoesToTheDeadLetters) {
    const TestTask task = Taken();
    c1_.Send("not JSON");
    c1_.Say(task, "COMPLETED");
    c1_.Send(R"({"run_id":")" + task.run_id + R"(","status":"DONE"})");
    Turn();
    EXPECT_EQ(StatusOf(id_).state, RunState::kSucceeded) << "the rest of the batch counts";
    EXPECT_EQ(listener_.counts().dead, 2U);
    EXPECT_EQ(Waiting(queues_.Dead().name), 2U);
    EXPECT_EQ(Unread(), 0U);
}

// A report that the store refuses does not hold up the others of its batch.
TEST_F(StatusListenerTest, WhatTheStoreRefusesGoesToTheDeadLetters) {
    const TestTask first = Taken();
    const Uuid first_id = id_;
    const TestTask second = Taken();
    const Uuid second_id = id_;
    const TestTask third = Taken();
    for (const TestTask& task : {first, second, third}) c1_.Say(task, "COMPLETED");
    const std::int64_t next = faults_.Calls("runs.Exchange") + 1;
    const store::Fault refused{.kind = store::FaultKind::kRefused};
    faults_.At("runs.Exchange", next, refused);      // all three
    faults_.At("runs.Exchange", next + 2, refused);  // the second alone
    listener_.RunOnce();
    EXPECT_EQ(StatusOf(first_id).state, RunState::kSucceeded);
    EXPECT_EQ(StatusOf(second_id).state, RunState::kRunning);
    EXPECT_EQ(StatusOf(id_).state, RunState::kSucceeded);
    EXPECT_EQ(listener_.counts().dead, 1U);
    EXPECT_EQ(Waiting(queues_.Dead().name), 1U);
    broker_.BreakLinks();
    EXPECT_EQ(Unread(), 0U) << "all are acknowledged";
}

TEST_F(StatusListenerTest, ARefusedReportHoldsUpNoOtherOfItsList) {
    const TestTask first = Taken();
    const Uuid first_id = id_;
    const TestTask second = Taken();
    c1_.Send("[" + c1_.Text(first, "COMPLETED") + "," + c1_.Text(second, "COMPLETED") + "]");
    const std::int64_t next = faults_.Calls("runs.Exchange") + 1;
    const store::Fault refused{.kind = store::FaultKind::kRefused};
    faults_.At("runs.Exchange", next, refused);      // both
    faults_.At("runs.Exchange", next + 2, refused);  // the second alone
    listener_.RunOnce();
    EXPECT_EQ(StatusOf(first_id).state, RunState::kSucceeded);
    EXPECT_EQ(StatusOf(id_).state, RunState::kRunning);
    EXPECT_EQ(listener_.counts().applied, 1U);
    EXPECT_EQ(listener_.counts().dead, 1U);
    EXPECT_EQ(Waiting(queues_.Dead().name), 1U);
    broker_.BreakLinks();
    EXPECT_EQ(Unread(), 0U);
}

TEST_F(StatusListenerTest, NothingIsAcknowledgedBeforeItIsStored) {
    const TestTask task = Taken();
    c1_.Say(task, "COMPLETED");
    FailStore("runs.Exchange", 3);
    SteadyPoint next = listener_.RunOnce();
    Duration before{};
    for (int n = 0; n < 2; ++n) {
        const auto pause = std::chrono::duration_cast<Duration>(next - clock_.SteadyNow());
        EXPECT_GT(pause, before) << "pauses grow";
        EXPECT_EQ(listener_.RunOnce(), next) << "not tried before";
        before = pause;
        clock_.Advance(pause);
        next = listener_.RunOnce();
    }
    EXPECT_EQ(StatusOf(id_).state, RunState::kRunning);
    broker_.BreakLinks();  // the broker still has it
    clock_.Advance(seconds(1));
    listener_.RunOnce();
    EXPECT_EQ(Unread(), 1U);
    for (int n = 0; n < 3; ++n) Advance(seconds(1));
    EXPECT_EQ(StatusOf(id_).state, RunState::kSucceeded);
    EXPECT_EQ(Unread(), 0U);
}

TEST_F(StatusListenerTest, WhatIsDeliveredAgainIsRecognised) {
    const TestTask task = Begun();
    broker_.SetFaults({.repeat = 1000});  // every message comes again
    c1_.Say(task, "COMPLETED", R"(,"result":1)");
    for (int n = 0; n < 3; ++n) listener_.RunOnce();
    broker_.SetFaults({});
    Turn();
    EXPECT_EQ(StatusOf(id_).result, "1");
    EXPECT_GT(listener_.counts().applied, 2U);
    EXPECT_EQ(listener_.counts().stale, 0U);
    EXPECT_EQ(Unread(), 0U);
}

TEST_F(StatusListenerTest, AnUnknownCommitIsRepeatedWithoutHarm) {
    const TestTask task = Begun();
    c1_.Say(task, "FAILED", kError);
    faults_.Next("runs.Exchange", {.kind = store::FaultKind::kErrorAfter});
    Turn();
    for (int n = 0; n < 3; ++n) Advance(seconds(1));
    EXPECT_EQ(StatusOf(id_).failures, 1);
    EXPECT_EQ(Unread(), 0U);
}

TEST_F(StatusListenerTest, AQueueThatWasDeletedIsMadeAgain) {
    const TestTask task = Taken();
    broker_.Delete(queues_.Status().name);
    Turn();
    Advance(seconds(1));
    ASSERT_TRUE(c1_.Say(task, "COMPLETED")) << "the queue is there again";
    Turn();
    EXPECT_EQ(StatusOf(id_).state, RunState::kSucceeded);
}

// More than a batch waits while the store fails: the thread waits too, although messages are there.
TEST_F(StatusListenerTest, AFailingStoreMakesNoThreadSpin) {
    const TestTask task = Taken();
    for (int n = 0; n < 600; ++n) ASSERT_TRUE(c1_.Say(task, "HEARTBEAT", kLease));
    c1_.Say(task, "COMPLETED");
    FailStore("runs.Exchange", 5);
    ASSERT_TRUE(listener_.Start());
    while (StatusOf(id_).state != RunState::kSucceeded) {
        clock_.AwaitWaiters(1);
        clock_.Advance(seconds(1));
    }
    listener_.Stop();
    EXPECT_EQ(Unread(), 0U);
}

TEST_F(StatusListenerTest, AStopLeavesTheRestToOtherNodes) {
    const TestTask task = Taken();
    c1_.Say(task, "COMPLETED");
    FailStore("runs.Exchange", 1);
    listener_.RunOnce();
    EXPECT_EQ(Unread(), 0U) << "it has the message";
    listener_.Stop();
    EXPECT_EQ(Unread(), 1U);
}

// The broker says only once that it has ended a consumer, mostly to a thread that waits.
TEST_F(StatusListenerTest, AQueueThatIsDeletedWhileALinkWaitsIsConsumedAgain) {
    const auto consume = [this](broker::Link& link) -> Result<void> {
        KSANA_TRY_VOID(link.Declare(queues_.Status()));
        return link.Consume(queues_.Status().name, 1);
    };
    BrokerLink link(broker_, clock_, jitter_, "a listener", consume);
    for (const bool pauses : {false, true}) {
        ASSERT_NE(link.Get(), nullptr);
        broker_.Delete(queues_.Status().name);
        const SteadyPoint soon = clock_.SteadyNow() + milliseconds(1);
        if (pauses) {
            std::stop_source stop;
            stop.request_stop();
            link.PauseUntil(soon, stop.get_token());
        } else {
            link.WaitUntil(soon, {});
        }
        EXPECT_FALSE(link.connected());
        clock_.Advance(seconds(1));
    }
    ASSERT_NE(link.Get(), nullptr);
    EXPECT_EQ(link.Get()->Inspect(queues_.Status().name)->consumers, 1U);
}

}  // namespace
}  // namespace ksana::engine
