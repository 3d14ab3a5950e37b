// The limit of a type while the node that has published a task is not the one that hears of it.

#include "engine/broker_engine_fixture.hpp"

namespace ksana::engine {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kShortLease = R"(,"lease":"10s")";

// The node of the fixture publishes; what consumers say reaches another one.
class BrokerLimitsTest : public BrokerEngineTest {
  protected:
    BrokerLimitsTest() {
        book_of_limits_.Configure(
            {{LimitKey(model::LimitKind::kType, "mail"), {.max_concurrency = 1}}});
    }

    // As Turn, but it is the other node that listens.
    void Elapse(Duration time) {
        clock_.Advance(time);
        for (int n = 0; n < 4; ++n) {
            polls_.RunOnce();
            publisher_->RunOnce();
            other_listener_.RunOnce();
        }
    }
    // Two tasks, of which the consumer has taken the one that the limit lets through.
    TestTask TakeFirst() {
        for (int n = 0; n < 2; ++n) ids_of_runs_.push_back(Submit());
        EXPECT_TRUE(c1_.Begin());
        Elapse(seconds(1));
        const auto tasks = c1_.Take();
        EXPECT_EQ(tasks.size(), 1U);
        return tasks.empty() ? TestTask() : tasks[0];
    }
    std::size_t InUse() { return book_of_limits_.Uses(clock_.SteadyNow()).at(0).in_use; }

    AgentService other_agents_{*store_, {}};
    StatusListener other_listener_{{.broker = broker_,
                                    .queues = queues_,
                                    .agents = other_agents_,
                                    .clock = clock_,
                                    .random = jitter_,
                                    .tell = {}}};
    std::vector<Uuid> ids_of_runs_;
};

TEST_F(BrokerLimitsTest, AnEndThatAnotherNodeHearsMakesRoomAtOnce) {
    const TestTask task = TakeFirst();
    c1_.Say(task, "RUNNING", kLease);
    Elapse(seconds(1));
    EXPECT_TRUE(c1_.Take().empty());
    c1_.Say(task, "COMPLETED");
    Elapse(seconds(1));
    Elapse(seconds(1));
    EXPECT_EQ(c1_.Take().size(), 1U);
}

TEST_F(BrokerLimitsTest, ARetryThatAnotherNodeStoresMakesRoom) {
    const TestTask task = TakeFirst();
    c1_.Say(task, "FAILED", R"(,"error":"no","retry":{"after":"1h"})");
    Elapse(seconds(1));
    Elapse(seconds(1));
    EXPECT_EQ(c1_.Take().size(), 1U);
}

TEST_F(BrokerLimitsTest, ACancelOfWhatNobodyHasBegunMakesRoom) {
    (void)TakeFirst();
    ASSERT_TRUE(runs_.Cancel(ids_of_runs_[0], {}));
    Elapse(seconds(1));
    Elapse(seconds(1));
    EXPECT_EQ(c1_.Take().size(), 1U);
}

TEST_F(BrokerLimitsTest, RoomIsMadeForOtherNodesWhereNobodyWaits) {
    const TestTask task = TakeFirst();
    publisher_->Stop();
    polls_.RunOnce();
    ASSERT_EQ(polls_.waiting(), 0U);
    c1_.Say(task, "COMPLETED");
    other_listener_.RunOnce();
    clock_.Advance(seconds(1));
    EXPECT_LE(polls_.RunOnce(), clock_.SteadyNow() + minutes(60));
    EXPECT_EQ(InUse(), 0U);
}

// The lease of the claim was that of the message, and says nothing of the work.
TEST_F(BrokerLimitsTest, WhoWorksForLongerThanAMessageWaitsKeepsItsRoom) {
    MakePublisher({.wait = minutes(1)});
    const TestTask task = TakeFirst();
    Elapse(seconds(50));
    c1_.Say(task, "RUNNING");  // the timeout of a minute begins
    for (int n = 0; n < 5; ++n) {
        Elapse(seconds(10));
        EXPECT_TRUE(c1_.Take().empty()) << "both would be at work";
        EXPECT_EQ(InUse(), 1U);
    }
    Reap();
    Elapse(seconds(20));
    Reap();
    Elapse(seconds(5));
    EXPECT_EQ(c1_.Take().size(), 1U) << "its time is over";
}

TEST_F(BrokerLimitsTest, HeartbeatsThatAnotherNodeHearsKeepTheRoom) {
    MakePublisher({.wait = seconds(20)});
    const TestTask task = TakeFirst();
    c1_.Say(task, "RUNNING", kShortLease);
    for (int n = 0; n < 8; ++n) {
        Elapse(seconds(5));
        c1_.Say(task, "HEARTBEAT", kShortLease);
        Reap();
        EXPECT_TRUE(c1_.Take().empty());
        EXPECT_EQ(InUse(), 1U);
    }
}

TEST_F(BrokerLimitsTest, WhileTheStoreFailsNothingIsTakenForOver) {
    MakePublisher({.wait = seconds(20)});
    const TestTask task = TakeFirst();
    c1_.Say(task, "RUNNING", kShortLease);
    Elapse(seconds(5));
    FailStore("runs.List", 3);
    c1_.Say(task, "COMPLETED");
    Elapse(seconds(1));
    EXPECT_EQ(InUse(), 1U);
    for (int n = 0; n < 20; ++n) Elapse(seconds(1));
    EXPECT_EQ(c1_.Take().size(), 1U) << "it answers again";
}

}  // namespace
}  // namespace ksana::engine
