#include "ksana/codec/v1/broker_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ksana/codec/json/json_tree.hpp"
#include "ksana/model/run/agent.hpp"

namespace ksana::codec {
namespace {

using model::EventKind;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kRunId = "0192f0c1-2345-7abc-8def-0123456789ab";
constexpr std::string_view kIncarnation = "0192f0c1-2345-7abc-8def-0123456789ff";

// A status message of c1 about the attempt e1.
std::string Message(std::string_view more) {
    return R"({"run_id":")" + std::string(kRunId) + R"(","exec_id":"e1","worker":"c1",)" +
           std::string(more) + "}";
}
model::Event Read(std::string_view more) {
    const auto read = StatusMessageFromJson(Message(more));
    EXPECT_TRUE(read) << more << ": " << read.error().Describe();
    if (!read || read->size() != 1) return {};
    const model::RunEvent& report = read->front();
    EXPECT_EQ(report.run_id.ToString(), kRunId);
    EXPECT_EQ(report.event.exec_id, "e1");
    return report.event;
}
// The paths of what is wrong with a message, sorted.
std::vector<std::string> Faults(const std::string& message) {
    const auto read = StatusMessageFromJson(message);
    EXPECT_FALSE(read) << message;
    std::vector<std::string> paths;
    if (read) return paths;
    EXPECT_EQ(read.error().code, Code::kInvalidArgument);
    for (const Problem& problem : read.error().problems) paths.push_back(problem.path);
    std::ranges::sort(paths);
    return paths;
}
using Paths = std::vector<std::string>;

// D-02
TEST(BrokerCodec, EveryStatusHasItsEvent) {
    EXPECT_EQ(Read(R"("status":"RUNNING")").kind, EventKind::kTake);
    EXPECT_EQ(Read(R"("status":"HEARTBEAT")").kind, EventKind::kProgress);
    EXPECT_EQ(Read(R"("status":"COMPLETED")").kind, EventKind::kSuccess);
    EXPECT_EQ(Read(R"("status":"FAILED","error":"no")").kind, EventKind::kRetryableFailure);
    EXPECT_EQ(Read(R"("status":"FAILED","error":"no","retry":"no")").kind,
              EventKind::kPermanentFailure);
    EXPECT_EQ(Read(R"("status":"TIMEOUT","error":"no")").kind, EventKind::kTimeout);
    EXPECT_EQ(Read(R"("status":"RELEASED")").kind, EventKind::kShutdown);
    EXPECT_EQ(Read(R"("status":"SNOOZED","after":"5s")").kind, EventKind::kSnooze);
}

TEST(BrokerCodec, WordsOfAgentsAreTakenToo) {
    EXPECT_EQ(Read(R"("outcome":"heartbeat")").kind, EventKind::kProgress);
    EXPECT_EQ(Read(R"("outcome":"succeeded")").kind, EventKind::kSuccess);
    EXPECT_EQ(Read(R"("outcome":"failed","error":{"message":"no"})").kind,
              EventKind::kRetryableFailure);
    EXPECT_EQ(Read(R"("outcome":"timed_out","error":{"message":"no"})").kind, EventKind::kTimeout);
    EXPECT_EQ(Read(R"("outcome":"released")").kind, EventKind::kShutdown);
    EXPECT_EQ(Read(R"("outcome":"snoozed","after":"1m")").after, Duration(minutes(1)));
}

TEST(BrokerCodec, WhatAReportSaysIsKept) {
    EXPECT_EQ(Read(R"("status":"RUNNING")").lease, Duration::zero()) << "none: its timeout ends it";
    EXPECT_EQ(Read(R"("status":"RUNNING","lease":"45s")").lease, Duration(seconds(45)));
    EXPECT_EQ(Read(R"("status":"RUNNING","log":["a"])").log, R"("a")");
    EXPECT_EQ(Read(R"("status":"COMPLETED","result":{"n":[1,2]})").result, R"({"n":[1,2]})");
    EXPECT_EQ(Read(R"("status":"FAILED","error":"no route")").error, "no route");
    EXPECT_EQ(Read(R"("status":"FAILED","error":{"type":"T","message":"m"})").error, "T: m");
    EXPECT_EQ(Read(R"("status":"HEARTBEAT","progress":40)").progress, 40);
}

TEST(BrokerCodec, TheOwnerIsTheConsumer) {
    EXPECT_EQ(Read(R"("status":"RUNNING")").owner, "c1");
    EXPECT_EQ(
        Read(R"("status":"RUNNING","incarnation":")" + std::string(kIncarnation) + "\"").owner,
        "c1/" + std::string(kIncarnation));
}

TEST(BrokerCodec, EveryFaultIsNamed) {
    EXPECT_EQ(Faults("{}"), (Paths{"/run_id", "/status", "/worker"}));
    EXPECT_EQ(Faults(Message(R"("status":"DONE")")), Paths{"/status"});
    EXPECT_EQ(Faults(Message(R"("status":7)")), Paths{"/status"});
    EXPECT_EQ(Faults(Message(R"("status":"running")")), Paths{"/status"});
    EXPECT_EQ(Faults(Message(R"("status":"FAILED")")), Paths{"/error"});
    EXPECT_EQ(Faults(Message(R"("status":"SNOOZED")")), Paths{"/after"});
    EXPECT_EQ(Faults(Message(R"("status":"RUNNING","lease":"1ms")")), Paths{"/lease"});
    EXPECT_EQ(Faults(Message(R"("status":"RUNNING","result":1)")), Paths{"/result"});
    EXPECT_EQ(Faults(Message(R"("status":"HEARTBEAT","progress":101)")), Paths{"/progress"});
    EXPECT_EQ(Faults(Message(R"("status":"RUNNING","outcome":"failed","error":"x")")),
              Paths{"/status"})
        << "one of both";
    EXPECT_EQ(Faults(R"({"run_id":"x","exec_id":"","worker":"a b","status":"RUNNING"})"),
              (Paths{"/exec_id", "/run_id", "/worker"}));
}

// Nobody may pass for the broker itself: that would undo what a publisher has noted.
TEST(BrokerCodec, TheNameOfTheBrokerIsNobodys) {
    EXPECT_EQ(Faults(R"({"run_id":")" + std::string(kRunId) +
                     R"(","exec_id":"e1","worker":"message broker","status":"RUNNING"})"),
              Paths{"/worker"});
    EXPECT_EQ(Faults(R"({"run_id":")" + std::string(kRunId) +
                     R"(","exec_id":"e1","worker":"","status":"RUNNING"})"),
              Paths{"/worker"});
}

TEST(BrokerCodec, AMessageMayHaveManyReports) {
    const std::string running = Message(R"("status":"RUNNING")");
    const auto read =
        StatusMessageFromJson("[" + running + "," + Message(R"("status":"COMPLETED")") + "]");
    ASSERT_TRUE(read) << read.error().Describe();
    ASSERT_EQ(read->size(), 2U);
    EXPECT_EQ(read->at(0).event.kind, EventKind::kTake);
    EXPECT_EQ(read->at(1).event.kind, EventKind::kSuccess);
    EXPECT_EQ(Faults("[" + running + "," + Message(R"("status":"DONE")") + ",7]"),
              (Paths{"/1/status", "/2"}));
    std::string many = running;
    for (std::size_t n = 1; n < model::kMaxReports; ++n) many += "," + running;
    EXPECT_TRUE(StatusMessageFromJson("[" + many + "]"));
    EXPECT_EQ(Faults("[" + many + "," + running + "]"), Paths{""});
}

TEST(BrokerCodec, WhatIsNoReportIsRefused) {
    for (const char* const text : {"", "[]", "7", "null", "{", "\xff"}) {
        EXPECT_FALSE(StatusMessageFromJson(text)) << text;
    }
}

// D-01
TEST(BrokerCodec, ATaskHasWhatAConsumerNeeds) {
    model::Run run;
    run.id = *Uuid::Parse(kRunId);
    run.type = "mail";
    run.category = "eu";
    run.priority = 7;
    run.payload = R"({"to":"ada"})";
    run.policy.timeout = minutes(5);
    run.status.exec_id = "e1";
    run.status.fence = 3;
    run.status.attempt = 2;
    const auto json = Json::Parse(TaskMessageToJson(run)).value();
    EXPECT_EQ(json.TextAt("/run_id"), kRunId);
    EXPECT_EQ(json.TextAt("/exec_id"), "e1");
    EXPECT_EQ(json.At("/fence").Int(), 3);
    EXPECT_EQ(json.At("/attempt").Int(), 2);
    EXPECT_EQ(json.TextAt("/type"), "mail");
    EXPECT_EQ(json.TextAt("/category"), "eu");
    EXPECT_EQ(json.At("/priority").Int(), 7);
    EXPECT_EQ(json.TextAt("/payload/to"), "ada");
    EXPECT_EQ(json.TextAt("/timeout"), "5m");
    EXPECT_EQ(json.TextAt("/kind"), "queue");
    run.payload.clear();
    EXPECT_TRUE(Json::Parse(TaskMessageToJson(run))) << "without a payload, too";
}

TEST(BrokerCodec, ADirectiveNamesItsAttempt) {
    EXPECT_EQ(
        DirectiveMessageToJson(*Uuid::Parse(kRunId), "e\"1", "cancel"),
        R"({"run_id":")" + std::string(kRunId) + R"(","exec_id":"e\"1","directive":"cancel"})");
}

}  // namespace
}  // namespace ksana::codec
