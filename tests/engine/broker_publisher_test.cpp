#include "ksana/engine/broker/broker_publisher.hpp"

#include "engine/broker_engine_fixture.hpp"

namespace ksana::engine {
namespace {

using model::RunState;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class BrokerPublisherTest : public BrokerEngineTest {
  protected:
    // Whether a run that was published waits in the store again, with no retry used up.
    void ExpectBack(const Uuid& id,
                    model::AttemptOutcome outcome = model::AttemptOutcome::kDeferred) {
        const model::Run run = Read(id);
        EXPECT_NE(run.status.state, RunState::kRunning);
        EXPECT_EQ(run.status.failures, 0);
        EXPECT_EQ(run.status.outcome, outcome);
    }

    // Claims of an agent that fetches tasks over HTTP. Returns the runs that it got.
    class Fetcher final : public PollClient {
      public:
        explicit Fetcher(std::shared_ptr<std::vector<Uuid>> got) : got_(std::move(got)) {}
        void Send(std::vector<model::Run> runs) override {
            for (const model::Run& run : runs) got_->push_back(run.id);
        }
        void Fail(const Error& error) override { ADD_FAILURE() << error.Describe(); }
        bool gone() const override { return false; }
        void OnGone(std::function<void()> /*callback*/) override {}

      private:
        const std::shared_ptr<std::vector<Uuid>> got_;
    };
    std::shared_ptr<std::vector<Uuid>> Fetch(Duration wait = {}) {
        auto got = std::make_shared<std::vector<Uuid>>();
        model::AgentClaim claim{.worker = "fetcher", .max = 100, .wait = wait};
        polls_.Claim({.claim = std::move(claim), .client = std::make_unique<Fetcher>(got)});
        return got;
    }
};

// D-01
TEST_F(BrokerPublisherTest, ATaskIsPublishedOnceAndNoted) {
    Turn();
    const Uuid id = Submit();
    Turn();
    EXPECT_EQ(Waiting(TasksOf()), 1U);
    const model::RunStatus noted = StatusOf(id);
    EXPECT_EQ(noted.state, RunState::kRunning);
    EXPECT_EQ(noted.owner, model::kBrokerOwner);
    EXPECT_EQ(noted.detail, R"({"waits":{"reason":"broker","for":"ksana.tasks","before":0}})");
    EXPECT_EQ(noted.lease_until, clock_.Now() + minutes(10));
    EXPECT_EQ(publisher_->counts().published, 1U);
    for (int n = 0; n < 10; ++n) Advance(seconds(7));
    EXPECT_EQ(Waiting(TasksOf()), 1U) << "a queue that holds it has not lost it";

    ASSERT_TRUE(c1_.Begin());
    const auto tasks = c1_.Take();
    ASSERT_EQ(tasks.size(), 1U);
    EXPECT_EQ(tasks[0].run_id, id.ToString());
    EXPECT_EQ(tasks[0].exec_id, noted.exec_id);
    EXPECT_EQ(tasks[0].type, "mail");
    const auto json = codec::Json::Parse(tasks[0].body).value();
    EXPECT_EQ(json.TextAt("/payload/to"), "ada");
    EXPECT_EQ(json.TextAt("/timeout"), "1m");
    EXPECT_EQ(json.At("/attempt").Int(), 1);
    EXPECT_FALSE(json.TextAt("/traceparent").empty());
}

// What is submitted while the publisher's poll waits is its own at once; the rest it claims.
TEST_F(BrokerPublisherTest, ATaskThatWasThereBeforeIsPublishedToo) {
    const Uuid id = Submit();
    Turn();
    EXPECT_EQ(Waiting(TasksOf()), 1U);
    EXPECT_EQ(StatusOf(id).owner, model::kBrokerOwner);
}

// D-16
TEST_F(BrokerPublisherTest, AQueueGivesTheMostUrgentFirst) {
    for (const int priority : {0, 5, 9, 5, 3}) Submit("mail", "", priority);
    Turn();
    ASSERT_TRUE(c1_.Begin());
    std::vector<std::int32_t> order;
    for (const TestTask& task : c1_.Take()) order.push_back(task.priority);
    EXPECT_EQ(order, (std::vector<std::int32_t>{9, 5, 5, 3, 0}));
}

TEST_F(BrokerPublisherTest, EachCategoryHasItsQueue) {
    Submit("mail", "eu.west");
    Submit();
    Turn();
    EXPECT_EQ(Waiting("ksana.tasks.eu.west"), 1U);
    EXPECT_EQ(Waiting("ksana.tasks"), 1U);
}

TEST_F(BrokerPublisherTest, OtherCategoriesAreForThoseWhoFetch) {
    MakePublisher({.categories = {"eu"}});
    const Uuid eu = Submit("mail", "eu");
    const Uuid us = Submit("mail", "us");
    Turn();
    EXPECT_EQ(StatusOf(eu).owner, model::kBrokerOwner);
    EXPECT_EQ(StatusOf(us).state, RunState::kQueued);
    EXPECT_EQ(*Fetch(), std::vector<Uuid>{us});
}

TEST_F(BrokerPublisherTest, AFullQueueHoldsBackItsTypesOnly) {
    for (int n = 0; n < 10; ++n) Submit("mail", "small");
    Turn();
    ASSERT_EQ(Waiting(TasksOf("small")), 10U) << "its bound";
    const Uuid refused = Submit("mail", "small");
    Turn();
    ExpectBack(refused);
    EXPECT_EQ(publisher_->counts().refused, 1U);
    const Uuid held = Submit("mail", "small");
    const Uuid other = Submit("pdf");
    Turn();
    EXPECT_EQ(StatusOf(held).state, RunState::kQueued) << "not even claimed";
    EXPECT_EQ(StatusOf(held).attempt, 0);
    EXPECT_EQ(StatusOf(other).owner, model::kBrokerOwner);

    ASSERT_TRUE(c1_.Begin("small"));
    EXPECT_EQ(c1_.Take().size(), 10U);
    Advance(seconds(2));
    const auto tasks = c1_.Take();
    ASSERT_EQ(tasks.size(), 2U);
    EXPECT_EQ(StatusOf(refused).attempt, 1) << "the number was not used up";
    EXPECT_EQ(StatusOf(refused).fence, 2);
}

TEST_F(BrokerPublisherTest, WithoutAnAnswerItIsPublishedAgainUnderAnotherId) {
    Turn();
    broker_.SetFaults({.unknown = 1000});
    const Uuid id = Submit();
    Turn();
    ExpectBack(id, model::AttemptOutcome::kReleased);
    EXPECT_EQ(publisher_->counts().unconfirmed, 1U);
    broker_.SetFaults({});
    Advance(seconds(2));
    EXPECT_EQ(StatusOf(id).owner, model::kBrokerOwner);
    EXPECT_EQ(StatusOf(id).attempt, 2) << "a consumer may show the first one to a target";

    // Both messages may be there: the one that does not count is told so.
    ASSERT_TRUE(c1_.Begin());
    const std::string current = StatusOf(id).exec_id;
    std::size_t count = 0;
    for (const TestTask& task : c1_.Take()) {
        c1_.Say(task, "RUNNING");
        if (task.exec_id == current) c1_.Say(task, "COMPLETED");
        ++count;
    }
    Turn();
    EXPECT_EQ(StatusOf(id).state, RunState::kSucceeded);
    c1_.Take();
    EXPECT_EQ(c1_.orders.size(), count - 1);
}

TEST_F(BrokerPublisherTest, WithoutALinkTasksAreForThoseWhoFetch) {
    Turn();
    ASSERT_EQ(polls_.waiting(), 1U);
    broker_.SetDown(true);
    Advance(seconds(1));  // the broken link is noticed when it is used
    const Uuid unlucky = Submit();
    Turn();
    ExpectBack(unlucky);
    Advance(seconds(1));
    EXPECT_EQ(polls_.waiting(), 0U) << "the publisher's poll has ended";
    ASSERT_TRUE(publisher_->fault());
    EXPECT_EQ(publisher_->fault()->code, Code::kUnavailable);
    const Uuid id = Submit();
    Turn();
    EXPECT_EQ(*Fetch(), (std::vector<Uuid>{unlucky, id}));

    broker_.SetDown(false);
    Advance(seconds(15));
    EXPECT_FALSE(publisher_->fault());
    EXPECT_EQ(polls_.waiting(), 1U);
}

TEST_F(BrokerPublisherTest, PausesBetweenConnectionsGrowToTenSeconds) {
    broker_.SetDown(true);
    Duration before{};
    for (int n = 0; n < 12; ++n) {
        const auto pause =
            std::chrono::duration_cast<Duration>(publisher_->RunOnce() - clock_.SteadyNow());
        EXPECT_GE(pause,
                  std::min<Duration>(milliseconds(100) * (1 << std::min(n, 10)), seconds(10)));
        EXPECT_LE(pause, seconds(15)) << "half as much again at most";
        EXPECT_GE(pause, before / 2);
        EXPECT_EQ(publisher_->RunOnce(), clock_.SteadyNow() + pause) << "not tried before";
        before = pause;
        clock_.Advance(pause);
    }
}

// A broker without memory or disk confirms nothing: what is claimed for it would only come back.
TEST_F(BrokerPublisherTest, ABlockedBrokerIsLikeNone) {
    Turn();
    broker_.SetBlocked(true);
    const Uuid first = Submit();
    Turn();
    Advance(seconds(2));
    ExpectBack(first);
    const Uuid id = Submit();
    Turn();
    EXPECT_EQ(StatusOf(id).state, RunState::kQueued) << "it is not even claimed";
    EXPECT_EQ(*Fetch(), (std::vector<Uuid>{first, id}));
    EXPECT_TRUE(publisher_->fault());
    const Uuid later = Submit();
    broker_.SetBlocked(false);
    Advance(seconds(1));
    EXPECT_EQ(StatusOf(later).owner, model::kBrokerOwner);
}

TEST_F(BrokerPublisherTest, WhatBecameOfATaskIsReportedUntilTheStoreTakesIt) {
    Turn();
    const Uuid id = Submit();
    polls_.RunOnce();
    FailStore("runs.Exchange", 3);
    publisher_->RunOnce();
    EXPECT_EQ(Waiting(TasksOf()), 1U);
    EXPECT_EQ(StatusOf(id).detail, "") << "not noted yet";
    for (int n = 0; n < 4; ++n) Advance(seconds(1));
    EXPECT_EQ(StatusOf(id).detail,
              R"({"waits":{"reason":"broker","for":"ksana.tasks","before":0}})");
    EXPECT_EQ(Waiting(TasksOf()), 1U);
    EXPECT_EQ(polls_.waiting(), 1U) << "and goes on";
}

TEST_F(BrokerPublisherTest, AFullQueueAndAStoreThatFailsMakeNoThreadSpin) {
    for (int n = 0; n < 10; ++n) Submit();
    Turn();
    Submit();
    polls_.RunOnce();
    FailStore("runs.Exchange", 30);
    for (int n = 0; n < 20; ++n) {
        for (int more = 0; more < 3; ++more) publisher_->RunOnce();
        const SteadyPoint next = publisher_->RunOnce();
        EXPECT_GT(next, clock_.SteadyNow());
        clock_.Advance(milliseconds(300));
    }
    EXPECT_EQ(publisher_->counts().refused, 1U);
}

TEST_F(BrokerPublisherTest, AStopGivesBackWhatItHasClaimed) {
    Turn();
    const Uuid id = Submit();  // handed to the poll, not yet published
    polls_.RunOnce();
    ASSERT_EQ(StatusOf(id).owner, model::kBrokerOwner);
    publisher_->Stop();
    ExpectBack(id);
    EXPECT_EQ(Waiting(TasksOf()).value_or(0), 0U) << "it was not published";
    const Uuid late = Submit();
    polls_.RunOnce();
    EXPECT_NE(StatusOf(late).state, RunState::kRunning) << "its poll has ended too";
    EXPECT_EQ(*Fetch(), (std::vector<Uuid>{id, late}));
}

TEST_F(BrokerPublisherTest, TheThreadPublishesAndStops) {
    ASSERT_TRUE(publisher_->Start());
    clock_.AwaitWaiters(1);
    const Uuid id = Submit();
    for (int n = 0; n < 1000 && publisher_->counts().published == 0; ++n) {
        clock_.AwaitWaiters(1);
        polls_.RunOnce();
        clock_.Advance(milliseconds(10));
    }
    publisher_->Stop();
    EXPECT_EQ(publisher_->counts().published, 1U);
    polls_.RunOnce();
    EXPECT_EQ(polls_.waiting(), 0U) << "no poll stays behind";
    EXPECT_EQ(StatusOf(id).owner, model::kBrokerOwner);
}

TEST_F(BrokerPublisherTest, TypesWithALimitAreRespected) {
    book_of_limits_.Configure(
        {{LimitKey(model::LimitKind::kType, "mail"), {.max_concurrency = 2}}});
    for (int n = 0; n < 5; ++n) Submit();
    Turn();
    EXPECT_EQ(Waiting(TasksOf()), 2U);
    ASSERT_TRUE(c1_.Begin());
    ASSERT_TRUE(c2_.Begin());
    const auto tasks = c1_.Take();
    ASSERT_EQ(tasks.size(), 2U);
    // Neither what is said twice nor what a stranger says makes room: both are at work.
    for (const TestTask& task : tasks) {
        c1_.Say(task, "RUNNING", kLease);
        c1_.Say(task, "RUNNING", kLease);
        c2_.Say(task, "RUNNING", kLease);
        c2_.Say(task, "FAILED", kError);
    }
    Turn();
    EXPECT_EQ(Waiting(TasksOf()), 0U);
    c1_.Say(tasks[0], "COMPLETED");
    Turn();
    EXPECT_EQ(Waiting(TasksOf()), 1U) << "one has ended";
}

TEST(BrokerQueuesTest, NamesKeepWhatIsReadable) {
    const BrokerQueues queues("ks", 100);
    EXPECT_EQ(queues.Tasks("").name, "ks.tasks");
    EXPECT_EQ(queues.Tasks("eu-west.1").name, "ks.tasks.eu-west.1");
    EXPECT_EQ(queues.Tasks("a b/%\xc3\xbc").name, "ks.tasks.a%20b%2F%25%C3%BC");
    EXPECT_EQ(queues.Tasks("x").max_length, 100U);
    EXPECT_EQ(queues.Tasks("x").max_priority, model::kMaxPriority);
    EXPECT_EQ(queues.Tasks("x").dead_letters, "ks.dead");
    EXPECT_EQ(queues.Status().name, "ks.status");
    EXPECT_EQ(queues.Worker("w1"), "ks.worker.w1");
}

TEST(BrokerQueuesTest, LongNamesStayApartAndFit) {
    const BrokerQueues queues("ks", 100);
    const std::string text(300, '/');
    const std::string one = queues.Tasks(text + "1").name;
    const std::string two = queues.Tasks(text + "2").name;
    EXPECT_NE(one, two);
    EXPECT_EQ(one, queues.Tasks(text + "1").name);
    EXPECT_LE(one.size(), 255U);
    EXPECT_LE(queues.Worker(std::string(200, 'w')).size(), 255U);
}

}  // namespace
}  // namespace ksana::engine
