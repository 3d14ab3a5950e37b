#include "ksana/worker/broker_wire.hpp"

#include "ksana/broker/memory_broker.hpp"
#include "ksana/codec/v1/broker_codec.hpp"
#include "ksana/worker/worker_fixture.hpp"

namespace ksana::worker {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kIncarnation = "0192f0c1-2345-7abc-8def-0123456789ff";
constexpr const char* kRunId = "0192f0c1-2345-7abc-8def-0123456789ab";

// A wire without its thread, over a broker in memory and servers that the test plays.
class BrokerWireTest : public ::testing::Test {
  protected:
    struct Call {
        bool answered = false;
        WireAnswer answer;
    };

    static Identity Me() {
        Identity me;
        me.name = "w1";
        me.incarnation = *Uuid::Parse(kIncarnation);
        me.kinds = {model::ActionKind::kQueue};
        me.types = {"mail"};
        me.slots = 2;
        return me;
    }
    std::shared_ptr<Call> Send(const char* path, std::string body) {
        auto call = std::make_shared<Call>();
        last_ = wire_.Send({.path = path, .body = std::move(body)}, [call](WireAnswer answer) {
            EXPECT_FALSE(call->answered) << "answered twice";
            call->answered = true;
            call->answer = std::move(answer);
        });
        return call;
    }
    std::shared_ptr<Call> Claim(int most = 2) {
        return Send(kClaim, R"({"worker":"w1","max":)" + std::to_string(most) +
                                R"(,"lease":"30s","wait":"20s"})");
    }
    std::shared_ptr<Call> Ends(const std::string& reports) {
        return Send(kExchange, R"({"worker":"w1","reports":[)" + reports + "]}");
    }
    static std::string Report(const std::string& outcome, const std::string& more = "") {
        return std::string(R"({"run_id":")") + kRunId + R"(","exec_id":"e1","outcome":")" +
               outcome + "\"" + more + "}";
    }

    std::unique_ptr<broker::Link> Open() { return broker_.Open("test").value(); }
    // Puts a message into the queue of tasks, which the publisher has declared.
    void Put(const std::string& body) {
        const auto link = Open();
        ASSERT_TRUE(link->Declare(queues_.Dead()));
        ASSERT_TRUE(link->Declare(queues_.Tasks("")));
        const auto put = link->Publish(
            {{.queue = queues_.Tasks("").name, .message = {.id = "m", .body = body}}}, seconds(1));
        ASSERT_TRUE(put && put->at(0) == broker::PublishVerdict::kStored);
    }
    void PutTask(const std::string& exec_id) {
        model::Run run;
        run.id = *Uuid::Parse(kRunId);
        run.type = "mail";
        run.payload = R"({"to":"ada"})";
        run.policy.timeout = seconds(60);
        run.status.exec_id = exec_id;
        run.status.attempt = 1;
        Put(codec::TaskMessageToJson(run));
    }
    broker::QueueState Look(const std::string& queue) {
        const auto state = Open()->Inspect(queue);
        EXPECT_TRUE(state) << queue;
        return state ? *state : broker::QueueState{};
    }
    std::size_t Tasks() { return Look(queues_.Tasks("").name).messages; }
    std::size_t Consumers() { return Look(queues_.Tasks("").name).consumers; }
    // What was said on the status queue.
    std::vector<model::RunEvent> Said() {
        std::vector<model::RunEvent> said;
        const auto link = Open();
        if (!link->Consume(queues_.Status().name, 100)) return said;
        const auto deliveries = link->Receive(Duration::zero(), 100).value();
        for (const broker::Delivery& one : deliveries) {
            auto events = codec::StatusMessageFromJson(one.message.body);
            EXPECT_TRUE(events) << one.message.body;
            if (events) std::ranges::move(*events, std::back_inserter(said));
            EXPECT_TRUE(link->Acknowledge({one.tag}));
        }
        return said;
    }
    static std::size_t Runs(const Call& call) {
        return call.answer.json.At("/runs").Items().size();
    }

    FakeClock clock_;
    SeededRandom random_{3};
    broker::MemoryBroker broker_{clock_, random_};
    engine::BrokerQueues queues_{"ksana", 1'000};
    ScriptedWire http_;
    BrokerWire wire_{
        {.identity = Me(), .lease = seconds(30), .categories = {""}},
        {.http = http_, .broker = broker_, .queues = queues_, .clock = clock_, .random = random_}};
    Wire::CallId last_ = 0;
};

// D-02
TEST_F(BrokerWireTest, AClaimIsAnsweredFromTheBroker) {
    const auto call = Claim();
    wire_.RunOnce();
    EXPECT_FALSE(call->answered) << "there is no task";
    PutTask("e1");
    wire_.RunOnce();
    ASSERT_TRUE(call->answered);
    EXPECT_FALSE(call->answer.error);
    ASSERT_EQ(Runs(*call), 1U);
    const codec::Json run = call->answer.json.At("/runs/0");
    EXPECT_EQ(run.TextAt("/exec_id"), "e1");
    EXPECT_EQ(run.TextAt("/payload/to"), "ada");
    EXPECT_EQ(run.At("/lease_expires_in").Int(), 30);
    EXPECT_EQ(run.At("/deadline_in").Int(), 60);
    const auto said = Said();
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0].event.kind, model::EventKind::kTake);
    EXPECT_EQ(said[0].event.owner, std::string("w1/") + kIncarnation);
    EXPECT_EQ(said[0].event.lease, Duration(seconds(30)));
    broker_.BreakLinks();
    EXPECT_EQ(Tasks(), 0U) << "it was acknowledged";
    EXPECT_EQ(http_.size(), 0U);
}

TEST_F(BrokerWireTest, NoMoreIsTakenThanThereAreSlots) {
    for (const char* id : {"e1", "e2", "e3"}) PutTask(id);
    const auto call = Claim(2);
    wire_.RunOnce();
    EXPECT_EQ(Runs(*call), 2U);
    EXPECT_EQ(Tasks(), 1U);
    EXPECT_EQ(Consumers(), 0U);
}

TEST_F(BrokerWireTest, NothingIsConsumedWithoutAClaim) {
    PutTask("e1");
    wire_.RunOnce();
    EXPECT_EQ(Consumers(), 0U);
    wire_.Stop();
    EXPECT_EQ(Tasks(), 1U);
}

TEST_F(BrokerWireTest, AClaimThatEndsLeavesNoConsumerBehind) {
    const auto call = Claim();
    PutTask("gone");
    ASSERT_TRUE(Open()->Purge(queues_.Tasks("").name));
    wire_.RunOnce();
    EXPECT_EQ(Consumers(), 1U);
    clock_.Advance(seconds(20));
    wire_.RunOnce();
    ASSERT_TRUE(call->answered) << "after the wait that was asked for";
    EXPECT_FALSE(call->answer.error);
    EXPECT_EQ(Runs(*call), 0U);
    EXPECT_EQ(Consumers(), 0U);
}

TEST_F(BrokerWireTest, ACancelledClaimIsAnswered) {
    const auto call = Claim();
    wire_.RunOnce();
    wire_.Cancel(last_);
    wire_.RunOnce();
    EXPECT_TRUE(call->answered);
    EXPECT_EQ(Consumers(), 0U);
}

// The server must hear that it was begun before the broker forgets it.
TEST_F(BrokerWireTest, ATaskWhoseNewsAreNotConfirmedStaysInItsQueue) {
    wire_.RunOnce();
    PutTask("e1");
    broker_.Delete(queues_.Status().name);
    const auto call = Claim();
    wire_.RunOnce();
    EXPECT_FALSE(call->answered);
    EXPECT_EQ(Tasks(), 1U);
    ASSERT_TRUE(Open()->Declare(queues_.Status()));
    wire_.RunOnce();
    ASSERT_TRUE(call->answered);
    EXPECT_EQ(Runs(*call), 1U);
}

// What the server has heard of is begun: if it went back, another worker would be sent away.
TEST_F(BrokerWireTest, OnlyWhatIsNotConfirmedGoesBack) {
    wire_.RunOnce();
    constexpr std::size_t kTasks = 1'000;  // of which many are told in one message
    for (std::size_t n = 0; n < kTasks; ++n) PutTask("e" + std::to_string(n));
    broker_.SetFaults({.refuse = 500});
    const auto call = Claim(kTasks);
    wire_.RunOnce();
    broker_.SetFaults({});
    ASSERT_TRUE(call->answered);
    const auto said = Said();
    ASSERT_GT(said.size(), 0U);
    ASSERT_LT(said.size(), kTasks);
    ASSERT_EQ(Runs(*call), said.size());
    for (std::size_t n = 0; n < said.size(); ++n) {
        EXPECT_EQ(call->answer.json.At("/runs").Items().at(n).TextAt("/exec_id"),
                  said[n].event.exec_id);
    }
    EXPECT_EQ(Tasks(), kTasks - said.size());
}

TEST_F(BrokerWireTest, ABlockedBrokerKeepsItsTasks) {
    PutTask("e1");
    broker_.SetBlocked(true);
    const auto call = Claim();
    wire_.RunOnce();
    EXPECT_FALSE(call->answered);
    EXPECT_EQ(Consumers(), 0U);
    broker_.SetBlocked(false);
    wire_.RunOnce();
    EXPECT_TRUE(call->answered);
}

TEST_F(BrokerWireTest, EndsGoToTheStatusQueue) {
    wire_.RunOnce();
    const auto call = Ends(Report("succeeded", R"(,"result":{"n":1})") + "," + Report("heartbeat"));
    wire_.RunOnce();
    ASSERT_TRUE(call->answered);
    EXPECT_FALSE(call->answer.error);
    EXPECT_EQ(call->answer.json.At("/reports").Items().size(), 2U);
    EXPECT_EQ(call->answer.json.TextAt("/reports/0/verdict"), "ok");
    const auto said = Said();
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said[0].event.kind, model::EventKind::kSuccess);
    EXPECT_EQ(said[0].event.result, R"({"n":1})");
    EXPECT_EQ(said[0].event.owner, std::string("w1/") + kIncarnation);
    EXPECT_EQ(http_.size(), 0U);
}

TEST_F(BrokerWireTest, EverythingElseGoesToTheServers) {
    Ends(Report("heartbeat"));
    Send(kRegister, "{}");
    EXPECT_TRUE(http_.Has(kExchange));
    EXPECT_TRUE(http_.Has(kRegister));
    wire_.Cancel(last_);
    http_.AnswerCancelled();
    EXPECT_FALSE(http_.Has(kRegister)) << "their cancels, too";
    wire_.RunOnce();
    EXPECT_TRUE(Said().empty());
}

TEST_F(BrokerWireTest, EndsThatAreNotConfirmedAreNotAccepted) {
    wire_.RunOnce();
    broker_.SetFaults({.refuse = 1000});
    const auto refused = Ends(Report("succeeded"));
    wire_.RunOnce();
    ASSERT_TRUE(refused->answered);
    EXPECT_TRUE(refused->answer.error);
    EXPECT_GT(refused->answer.pause, Duration::zero()) << "the loop tries again";
    broker_.SetFaults({});
    broker_.SetDown(true);
    for (int n = 0; n < 2; ++n) {
        const auto away = Ends(Report("succeeded"));
        wire_.RunOnce();
        ASSERT_TRUE(away->answered);
        ASSERT_TRUE(away->answer.error);
        EXPECT_EQ(away->answer.error->code, Code::kUnavailable);
        EXPECT_EQ(away->answer.status, 0);
    }
    EXPECT_FALSE(wire_.reachable());
}

// As a server does: the loop then fails the attempt instead of sending it for ever.
TEST_F(BrokerWireTest, AReportThatNoServerReadsIsRefused) {
    wire_.RunOnce();
    const std::string large(std::size_t{2} << 20, 'x');
    const auto call = Ends(Report("succeeded", R"(,"result":")" + large + "\""));
    wire_.RunOnce();
    ASSERT_TRUE(call->answered);
    EXPECT_EQ(call->answer.status, 400);
    ASSERT_TRUE(call->answer.error);
    EXPECT_EQ(call->answer.error->code, Code::kInvalidArgument);
    EXPECT_TRUE(Said().empty());
}

TEST_F(BrokerWireTest, WhatIsNoTaskGoesToTheDeadLetters) {
    Put("not JSON");
    Put("[1]");
    Put(std::string(R"({"run_id":")") + kRunId + R"(","exec_id":"e","timeout":"soon"})");
    Put(R"({"exec_id":"e","timeout":"1m"})");
    PutTask("e1");
    const auto call = Claim(10);
    wire_.RunOnce();
    ASSERT_TRUE(call->answered);
    EXPECT_EQ(Runs(*call), 1U);
    EXPECT_EQ(Look(queues_.Dead().name).messages, 4U);
    EXPECT_EQ(Said().size(), 1U);
    broker_.BreakLinks();
    EXPECT_EQ(Tasks(), 0U);
}

TEST_F(BrokerWireTest, ABrokerThatComesBackServesTheClaimThatWaits) {
    PutTask("e1");
    broker_.SetDown(true);
    const auto call = Claim();
    const SteadyPoint next = wire_.RunOnce();
    EXPECT_FALSE(call->answered);
    EXPECT_GT(next, clock_.SteadyNow()) << "no spinning";
    broker_.SetDown(false);
    clock_.Advance(seconds(1));
    wire_.RunOnce();
    ASSERT_TRUE(call->answered);
    EXPECT_EQ(Runs(*call), 1U);
}

TEST_F(BrokerWireTest, AConsumerThatTheBrokerEndedBeginsAgain) {
    const auto call = Claim();
    wire_.RunOnce();
    ASSERT_EQ(Consumers(), 1U);
    broker_.Delete(queues_.Tasks("").name);
    wire_.RunOnce();
    PutTask("e1");
    clock_.Advance(seconds(1));
    wire_.RunOnce();
    ASSERT_TRUE(call->answered);
    EXPECT_EQ(Runs(*call), 1U);
}

TEST_F(BrokerWireTest, AStopAnswersWhatWaits) {
    const auto claim = Claim();
    wire_.RunOnce();
    const auto ends = Ends(Report("succeeded"));
    wire_.Stop();
    EXPECT_TRUE(claim->answered && claim->answer.error);
    EXPECT_TRUE(ends->answered && ends->answer.error);
}

TEST_F(BrokerWireTest, ItsThreadServesAndStops) {
    ASSERT_TRUE(wire_.Start());
    clock_.AwaitWaiters(1);
    const auto claim = Claim();
    clock_.AwaitWaiters(1);
    PutTask("e1");
    while (Tasks() > 0 || Look(queues_.Status().name).messages == 0) {
        clock_.AwaitWaiters(1);
        clock_.Advance(milliseconds(10));
    }
    wire_.Stop();
    ASSERT_TRUE(claim->answered);
    EXPECT_EQ(Runs(*claim), 1U);
}

// D-02: the worker's loop over this wire, from its registration to its end.
TEST_F(BrokerWireTest, TheLoopOfAWorkerRunsOverIt) {
    LoopOptions options;
    options.identity = Me();
    HeldExecutor executor;
    Wakeup wakeup;
    WorkerLoop loop(
        options, WorkerLoop::Parts{
                     .clock = clock_, .wire = wire_, .executors = {&executor}, .wakeup = wakeup});
    loop.RunOnce();
    http_.Answer(kRegister, 201, R"({"name":"w1"})");
    loop.RunOnce();
    http_.Answer("/api/v1/workers/w1/heartbeat", 200,
                 R"({"state":"alive","heartbeat_in":30,"directives":[]})");
    PutTask("e1");
    for (int n = 0; n < 3; ++n) {
        loop.RunOnce();
        wire_.RunOnce();
    }
    ASSERT_TRUE(executor.started.contains("e1"));
    EXPECT_EQ(executor.started.at("e1").first->run.type, "mail");
    ASSERT_EQ(Said().size(), 1U);

    executor.End("e1", model::EventKind::kSuccess, R"({"sent":true})");
    broker_.SetFaults({.refuse = 1000});
    loop.RunOnce();
    wire_.RunOnce();
    loop.RunOnce();
    EXPECT_TRUE(Said().empty());
    broker_.SetFaults({});
    for (int n = 0; n < 3; ++n) {
        clock_.Advance(seconds(1));
        loop.RunOnce();
        wire_.RunOnce();
    }
    const auto said = Said();
    ASSERT_EQ(said.size(), 1U) << "it was tried again, and accepted once";
    EXPECT_EQ(said[0].event.kind, model::EventKind::kSuccess);
    EXPECT_EQ(said[0].event.result, R"({"sent":true})");
}

}  // namespace
}  // namespace ksana::worker
