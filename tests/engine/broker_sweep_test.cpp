// What becomes of tasks whose messages the broker has lost.

#include "engine/broker_engine_fixture.hpp"

namespace ksana::engine {
namespace {

using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;

class BrokerSweepTest : public BrokerEngineTest {
  protected:
    // A task whose message is in its queue. Returns its run.
    Uuid Published(const std::string& category = "") {
        const Uuid id = Submit("mail", category);
        Turn();
        EXPECT_EQ(StatusOf(id).owner, model::kBrokerOwner);
        return id;
    }
    void Purge(const std::string& queue) { ASSERT_TRUE(broker_.Open("p").value()->Purge(queue)); }
    // Whether the run has been published again, with no retry used up.
    void ExpectAgain(const Uuid& id, const std::string& before) {
        const model::RunStatus status = StatusOf(id);
        EXPECT_NE(status.exec_id, before);
        EXPECT_EQ(status.owner, model::kBrokerOwner);
        EXPECT_EQ(status.state, RunState::kRunning);
        EXPECT_EQ(status.attempt, 2);
        EXPECT_EQ(status.failures, 0);
    }
};

TEST_F(BrokerSweepTest, WhatADeletedQueueHadIsPublishedAgainAtOnce) {
    const Uuid id = Published();
    const Uuid other = Published("eu");
    const std::string before = StatusOf(id).exec_id;
    const std::string kept = StatusOf(other).exec_id;
    broker_.Delete(TasksOf());
    Advance(seconds(5));
    ExpectAgain(id, before);
    EXPECT_EQ(Waiting(TasksOf()), 1U);
    EXPECT_EQ(StatusOf(other).exec_id, kept) << "another queue";
    EXPECT_EQ(publisher_->counts().lost, 1U);
}

// Not only the sweep may find the queue gone, and who finds it makes it again.
TEST_F(BrokerSweepTest, APublicationThatFindsNoQueueTellsTheSweep) {
    const Uuid id = Published();
    const std::string before = StatusOf(id).exec_id;
    broker_.Delete(TasksOf());
    const Uuid next = Submit();
    Advance(seconds(2));
    Advance(seconds(2));
    ExpectAgain(id, before);
    EXPECT_EQ(StatusOf(next).owner, model::kBrokerOwner);
    EXPECT_EQ(Waiting(TasksOf()), 2U);
}

TEST_F(BrokerSweepTest, ANewLinkThatFindsNoQueueTellsTheSweep) {
    const Uuid id = Published();
    const std::string before = StatusOf(id).exec_id;
    broker_.SetDown(true);
    Turn();
    broker_.Delete(TasksOf());
    broker_.SetDown(false);
    Advance(seconds(5));  // the link turns out to be broken
    Advance(seconds(1));
    ExpectAgain(id, before);
    EXPECT_EQ(Waiting(TasksOf()), 1U);
}

// A first start finds no queue either. The sweep that this calls for may come later than tasks.
TEST_F(BrokerSweepTest, WhatIsPublishedAfterTheQueueWasMadeIsNotLost) {
    FailStore("runs.List");
    Turn();
    ASSERT_EQ(Waiting(TasksOf()), 0U) << "the link has made it";
    Advance(seconds(1));
    const Uuid id = Published();
    const std::string first = StatusOf(id).exec_id;
    for (int n = 0; n < 5; ++n) Advance(seconds(5));
    EXPECT_EQ(StatusOf(id).exec_id, first);
    EXPECT_EQ(publisher_->counts().lost, 0U);
}

TEST_F(BrokerSweepTest, WhatAnotherNodeIsAboutToPublishIsNotLostUnlessItHasDied) {
    Turn();
    const Uuid id = Submit();
    const model::AgentClaim claim{
        .worker = std::string(model::kBrokerOwner), .max = 10, .lease = minutes(10)};
    ASSERT_TRUE(agents_.Exchange({}, claim));
    const std::string claimed = StatusOf(id).exec_id;
    ASSERT_FALSE(claimed.empty());
    broker_.Delete(TasksOf());
    Advance(seconds(5));
    EXPECT_EQ(StatusOf(id).exec_id, claimed);
    Advance(seconds(5));
    broker_.Delete(TasksOf());
    Advance(seconds(5));
    ExpectAgain(id, claimed);
}

class LargeQueueTest : public BrokerEngineTest {
  protected:
    LargeQueueTest() : BrokerEngineTest(10'000) {}
};

TEST_F(LargeQueueTest, AllThatADeletedQueueHadIsPublishedAgain) {
    constexpr std::size_t kTasks = 2'500;  // more than one look finds
    for (std::size_t n = 0; n < kTasks; ++n) Submit();
    for (int turn = 0; turn < 3; ++turn) Turn();
    ASSERT_EQ(Waiting(TasksOf()), kTasks);
    broker_.Delete(TasksOf());
    for (int turn = 0; turn < 3; ++turn) Advance(seconds(5));
    EXPECT_EQ(publisher_->counts().lost, kTasks);
    EXPECT_EQ(Waiting(TasksOf()), kTasks);
}

TEST_F(BrokerSweepTest, WhatWasNotedBeforeTheClockWasSetBackIsLostToo) {
    const Uuid id = Published();
    const std::string before = StatusOf(id).exec_id;
    clock_.JumpWall(-std::chrono::hours(1));
    Advance(seconds(5));
    EXPECT_EQ(StatusOf(id).exec_id, before) << "it is in its queue";
    broker_.Delete(TasksOf());
    Advance(seconds(5));
    EXPECT_NE(StatusOf(id).exec_id, before);
}

TEST_F(BrokerSweepTest, APurgeIsNoticedWithinSeconds) {
    const Uuid id = Published();
    const std::string before = StatusOf(id).exec_id;
    Advance(seconds(1));
    Purge(TasksOf());
    for (int n = 0; n < 2; ++n) {
        Advance(seconds(5));
        EXPECT_EQ(StatusOf(id).exec_id, before) << "news may be on their way";
    }
    Advance(seconds(5));
    ExpectAgain(id, before);
}

// The queue was empty and without a consumer before the message was lost, and is so all the time.
TEST_F(BrokerSweepTest, AMessageThatIsLostOnItsWayIsNoticedToo) {
    broker_.SetFaults({.lose = 1000});
    Published();
    Advance(seconds(5));
    Advance(seconds(1));
    const Uuid id = Published();
    const std::string before = StatusOf(id).exec_id;
    for (int n = 0; n < 4; ++n) Advance(seconds(5));
    ExpectAgain(id, before);
}

// A consumer may hold a message that it has not begun: it has as long as Options::wait.
TEST_F(BrokerSweepTest, AnEmptyQueueWithAConsumerSaysNothing) {
    const Uuid id = Published();
    const std::string before = StatusOf(id).exec_id;
    ASSERT_TRUE(c1_.Begin());
    Purge(TasksOf());
    for (int n = 0; n < 59; ++n) Advance(seconds(10));
    Reap();
    EXPECT_EQ(StatusOf(id).exec_id, before);
    Advance(seconds(10));
    Reap();
    Advance(seconds(1));
    ExpectAgain(id, before);
    EXPECT_EQ(c1_.Take().size(), 1U);
}

TEST_F(BrokerSweepTest, WhatAConsumerHasBegunIsNotLost) {
    const Uuid id = Published();
    ASSERT_TRUE(c1_.Begin());
    const auto tasks = c1_.Take();
    ASSERT_EQ(tasks.size(), 1U);
    c1_.Say(tasks[0], "RUNNING", R"(,"lease":"1h")");
    Turn();
    c1_.Leave();
    broker_.Delete(TasksOf());
    for (int n = 0; n < 5; ++n) Advance(seconds(10));
    EXPECT_EQ(StatusOf(id).owner, "c1");
    EXPECT_EQ(StatusOf(id).exec_id, tasks[0].exec_id);
    EXPECT_EQ(publisher_->counts().lost, 0U);
}

TEST_F(BrokerSweepTest, OneQueueThatCannotBeLookedAtHidesNoOther) {
    const Uuid mine = Published("a");
    const Uuid lost = Published("b");
    const std::string before = StatusOf(lost).exec_id;
    broker_.Delete(TasksOf("a"));
    const auto stranger = broker_.Open("stranger").value();
    ASSERT_TRUE(stranger->Declare({.name = TasksOf("a"), .exclusive = true}));
    broker_.Delete(TasksOf("b"));
    Advance(seconds(5));
    ExpectAgain(lost, before);
    EXPECT_EQ(StatusOf(mine).owner, model::kBrokerOwner);
}

// A queue with other arguments is told, and its tasks wait in the store.
TEST_F(BrokerSweepTest, AQueueThatIsNotOursTakesNothing) {
    const auto stranger = broker_.Open("stranger").value();
    ASSERT_TRUE(stranger->Declare({.name = TasksOf("odd"), .max_length = 3}));
    const Uuid id = Submit("mail", "odd");
    const Uuid other = Submit("pdf");
    Turn();
    EXPECT_NE(StatusOf(id).state, RunState::kRunning);
    EXPECT_EQ(StatusOf(id).failures, 0);
    EXPECT_EQ(StatusOf(other).owner, model::kBrokerOwner);
    broker_.Delete(TasksOf("odd"));
    Advance(seconds(2));
    EXPECT_EQ(StatusOf(id).owner, model::kBrokerOwner);
}

TEST_F(BrokerSweepTest, ABrokerThatForgetsEverythingLosesNothing) {
    std::vector<Uuid> ids;
    for (int n = 0; n < 5; ++n) ids.push_back(Published());
    broker_.SetDown(true);
    for (const std::string& queue : {TasksOf(), queues_.Status().name, queues_.Dead().name}) {
        broker_.Delete(queue);
    }
    Advance(seconds(30));
    broker_.SetDown(false);
    for (int n = 0; n < 6; ++n) Advance(seconds(5));
    ASSERT_TRUE(c1_.Begin());
    const auto tasks = c1_.Take();
    ASSERT_EQ(tasks.size(), 5U);
    for (const TestTask& task : tasks) c1_.Say(task, "COMPLETED");
    Turn();
    for (const Uuid& id : ids) EXPECT_EQ(StatusOf(id).state, RunState::kSucceeded);
}

TEST_F(BrokerSweepTest, AStoreThatFailsIsLookedAtLater) {
    const Uuid id = Published();
    const std::string before = StatusOf(id).exec_id;
    broker_.Delete(TasksOf());
    FailStore("runs.List");
    Advance(seconds(5));
    EXPECT_EQ(StatusOf(id).exec_id, before);
    Advance(seconds(5));
    ExpectAgain(id, before);
}

}  // namespace
}  // namespace ksana::engine
