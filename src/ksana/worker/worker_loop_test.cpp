#include "ksana/worker/worker_fixture.hpp"

namespace ksana::worker {
namespace {

using codec::Json;
using model::EventKind;
using std::chrono::seconds;

// D-05: registers before it claims, beats with its load, claims for its free slots.
TEST_F(WorkerLoopTest, RegistersBeatsAndClaims) {
    Run();
    EXPECT_EQ(wire_.size(), 1U);
    const Json said = Json::Parse(wire_.BodyTo(kRegister)).value();
    EXPECT_EQ(said.TextAt("/name"), "w1");
    EXPECT_EQ(said.TextAt("/incarnation"), "0192f0c1-2345-7abc-8def-0123456789ff");
    EXPECT_EQ(said.TextAt("/kinds/0"), "queue");
    EXPECT_EQ(said.TextAt("/types/0"), "mail");
    EXPECT_EQ(said.At("/slots").Int(), 2);
    Answer(kRegister, 201, "{}");
    ASSERT_TRUE(wire_.Has(kHeartbeat));
    EXPECT_EQ(Json::Parse(wire_.BodyTo(kHeartbeat))->At("/busy").Int(), 0);
    const Json claim = Json::Parse(wire_.BodyTo(kClaim)).value();
    EXPECT_EQ(claim.TextAt("/incarnation"), "0192f0c1-2345-7abc-8def-0123456789ff");
    EXPECT_EQ(claim.At("/max").Int(), 2);
    EXPECT_EQ(claim.TextAt("/wait"), "20s");
    Answer(kHeartbeat, 200, R"({"heartbeat_in":30,"directives":[]})");
    Claim("e1");
    EXPECT_EQ(executor_.started.size(), 1U);
    EXPECT_EQ(executor_.started.at("e1").first->run.payload, R"({"to":"ada"})");
    EXPECT_EQ(Json::Parse(wire_.BodyTo(kClaim))->At("/max").Int(), 1);
    Advance(seconds(30));
    EXPECT_EQ(Json::Parse(wire_.BodyTo(kHeartbeat))->At("/busy").Int(), 1);
}

// Nothing is due between the heartbeats of an idle worker whose poll waits.
TEST_F(WorkerLoopTest, IdleWorkerSleepsUntilItsHeartbeat) {
    Register();
    EXPECT_EQ(next_, clock_.SteadyNow() + seconds(30));
}

// D-02: the report frees the slot and asks for the next run in the same call.
TEST_F(WorkerLoopTest, ReportsAndClaimsInOneCall) {
    Register();
    Answer(kClaim, 200, R"({"runs":[)" + ClaimedJson("e1") + "," + ClaimedJson("e2") + "]}");
    EXPECT_FALSE(wire_.Has(kClaim)) << "all slots are busy";
    executor_.End("e1", EventKind::kSuccess, R"({"sent":true})");
    Run();
    const Json body = Json::Parse(wire_.BodyTo(kExchange)).value();
    EXPECT_EQ(body.TextAt("/reports/0/outcome"), "succeeded");
    EXPECT_TRUE(body.At("/reports/0/result/sent").True());
    EXPECT_EQ(body.At("/claim/max").Int(), 1);
    EXPECT_EQ(loop_->pending(), 1U);
    Answer(kExchange, 200,
           R"({"reports":[{"run_id":"r","verdict":"ok"}],"runs":[)" + ClaimedJson("e3") + "]}");
    EXPECT_EQ(loop_->pending(), 0U);
    EXPECT_TRUE(executor_.started.contains("e3"));
}

// A report is repeated until it is answered.
TEST_F(WorkerLoopTest, LostAnswerIsAskedForAgain) {
    Register();
    Claim("e1");
    executor_.End("e1", EventKind::kSuccess);
    Run();
    Answer(kExchange, 0);
    EXPECT_FALSE(wire_.Has(kExchange));
    EXPECT_EQ(loop_->pending(), 1U);
    Advance(seconds(1));
    EXPECT_EQ(Json::Parse(wire_.BodyTo(kExchange))->TextAt("/reports/0/exec_id"), "e1");
    Exchanged("ok");
    EXPECT_EQ(loop_->pending(), 0U);
}

TEST_F(WorkerLoopTest, ResultThatIsRefusedBecomesAFailure) {
    Register();
    Claim("e1");
    executor_.End("e1", EventKind::kSuccess, "1");
    Run();
    Answer(kExchange, 400);
    const Json body = Json::Parse(wire_.BodyTo(kExchange)).value();
    EXPECT_EQ(body.TextAt("/reports/0/outcome"), "failed");
    EXPECT_EQ(body.TextAt("/reports/0/retry"), "no");
    EXPECT_NE(body.TextAt("/reports/0/error/message").find("ResultRefused"), std::string::npos);
}

TEST_F(WorkerLoopTest, RenewsAtAThirdOfTheLeaseWithNews) {
    Register();
    Claim("e1");
    executor_.started.at("e1").first->tell({.progress = 40, .note = "page 4", .log = "\"line\""});
    Advance(std::chrono::milliseconds(199));
    EXPECT_FALSE(wire_.Has(kExchange));
    Advance(std::chrono::milliseconds(1));
    Json beat = Json::Parse(wire_.BodyTo(kExchange)).value();
    EXPECT_EQ(beat.TextAt("/reports/0/outcome"), "heartbeat");
    EXPECT_EQ(beat.At("/reports/0/progress").Int(), 40);
    EXPECT_EQ(beat.TextAt("/reports/0/note"), "page 4");
    EXPECT_EQ(beat.TextAt("/reports/0/log/0"), "line");
    Exchanged("ok");
    Advance(seconds(10));
    beat = Json::Parse(wire_.BodyTo(kExchange)).value();
    EXPECT_FALSE(beat.Has("/reports/0/progress")) << "told once";
}

// The rest of the log goes before the end, in portions that the server takes.
TEST_F(WorkerLoopTest, EndCarriesTheRestOfTheLog) {
    Register();
    Claim("e1");
    executor_.started.at("e1").first->tell({.progress = {}, .note = {}, .log = "\"first\""});
    std::string log = "\"0\"";
    for (int n = 1; n < 150; ++n) log += ",\"" + std::to_string(n) + "\"";
    model::Event event;
    event.kind = EventKind::kSuccess;
    event.log = log;
    executor_.started.at("e1").second(std::move(event));
    Run();
    const Json reports = Json::Parse(wire_.BodyTo(kExchange))->At("/reports");
    ASSERT_EQ(reports.Items().size(), 3U);
    EXPECT_EQ(reports.TextAt("/0/log/0"), "first");
    EXPECT_EQ(reports.At("/0/log").Items().size(), 100U);
    EXPECT_EQ(reports.TextAt("/1/outcome"), "heartbeat");
    EXPECT_EQ(reports.TextAt("/1/log/50"), "149");
    EXPECT_EQ(reports.TextAt("/2/outcome"), "succeeded");
}

// News of a renewal that was not answered are told again.
TEST_F(WorkerLoopTest, UnheardNewsAreToldAgain) {
    Register();
    Claim("e1");
    executor_.started.at("e1").first->tell({.progress = 40, .note = {}, .log = "\"a\""});
    Advance(seconds(1));
    executor_.started.at("e1").first->tell({.progress = {}, .note = {}, .log = "\"b\""});
    Answer(kExchange, 0);
    Advance(seconds(1));
    const Json beat = Json::Parse(wire_.BodyTo(kExchange)).value();
    EXPECT_EQ(beat.At("/reports/0/progress").Int(), 40);
    EXPECT_EQ(beat.At("/reports/0/log").Compact(), R"(["a","b"])");
}

// Without an answer for the length of the lease, by the steady clock, the worker fences itself.
TEST_F(WorkerLoopTest, StopsWhatItHasNoLeaseFor) {
    Register();
    Claim("e1");
    for (int n = 0; n < 29; ++n) {
        Advance(seconds(1));
        if (wire_.Has(kExchange)) Answer(kExchange, 0);
    }
    EXPECT_TRUE(executor_.cancelled.empty());
    clock_.JumpWall(std::chrono::hours(-5));
    Advance(seconds(1));
    EXPECT_EQ(executor_.cancelled, std::vector<std::string>{"e1"});
    EXPECT_EQ(loop_->running(), 1U) << "until it has stopped";
    executor_.End("e1", EventKind::kSuccess);
    Run();
    EXPECT_EQ(loop_->running(), 0U);
    EXPECT_EQ(loop_->pending(), 0U) << "nothing is reported";
}

// An answered renewal counts from when it was sent.
TEST_F(WorkerLoopTest, LeaseCountsFromTheSending) {
    Register();
    Claim("e1");
    Advance(seconds(10));
    ASSERT_TRUE(wire_.Has(kExchange));
    clock_.Advance(seconds(19));
    Exchanged("ok");  // sent at 10: the lease ends at 40
    Answer(kExchange, 0);
    Advance(seconds(11));
    EXPECT_EQ(executor_.cancelled, std::vector<std::string>{"e1"});
}

TEST_F(WorkerLoopTest, StaleRenewalStopsTheAttempt) {
    Register();
    Claim("e1");
    Advance(seconds(10));
    Exchanged("stale");
    EXPECT_EQ(executor_.cancelled, std::vector<std::string>{"e1"});
    executor_.End("e1", EventKind::kCancelled);
    Run();
    EXPECT_EQ(loop_->pending(), 0U);
}

TEST_F(WorkerLoopTest, CancelReachesTheExecutor) {
    Register();
    Claim("e1");
    Advance(seconds(10));
    Exchanged("ok", R"(,"directives":["cancel"])");
    EXPECT_EQ(executor_.cancelled, std::vector<std::string>{"e1"});
    executor_.End("e1", EventKind::kCancelled);
    Run();
    EXPECT_EQ(Json::Parse(wire_.BodyTo(kExchange))->TextAt("/reports/0/outcome"), "failed");
}

// D-04: at the deadline the attempt is stopped, and reported as timed out.
TEST_F(WorkerLoopTest, TimeoutStopsAndIsReported) {
    Register();
    Claim("e1");
    for (int n = 0; n < 60; ++n) {
        EXPECT_TRUE(executor_.cancelled.empty()) << n;
        Advance(seconds(1));
        if (wire_.Has(kExchange)) Exchanged("ok");
        if (wire_.Has(kHeartbeat)) Answer(kHeartbeat, 200, R"({"heartbeat_in":30})");
    }
    EXPECT_EQ(executor_.cancelled, std::vector<std::string>{"e1"});
    executor_.End("e1", EventKind::kCancelled);
    Run();
    EXPECT_EQ(Json::Parse(wire_.BodyTo(kExchange))->TextAt("/reports/0/outcome"), "timed_out");
}

// D-05: SIGTERM: claims no more, finishes, deregisters.
TEST_F(WorkerLoopTest, DrainFinishesThenLeaves) {
    Register();
    Claim("e1");
    ASSERT_TRUE(wire_.Has(kClaim));
    loop_->Drain();
    Run();
    Run();
    EXPECT_FALSE(wire_.Has(kClaim)) << "the poll is ended";
    EXPECT_TRUE(Json::Parse(wire_.BodyTo(kHeartbeat))->At("/draining").True());
    EXPECT_FALSE(wire_.Has(kFarewellPath));
    executor_.End("e1", EventKind::kSuccess);
    Run();
    EXPECT_FALSE(Json::Parse(wire_.BodyTo(kExchange))->Has("/claim"));
    Exchanged("ok");
    Answer(kFarewellPath, 204);
    EXPECT_TRUE(loop_->over());
    EXPECT_FALSE(loop_->failure());
}

// The server answers the farewell before a heartbeat that was sent earlier.
TEST_F(WorkerLoopTest, AHeartbeatThatComesAfterTheFarewellFencesNothing) {
    Register();
    loop_->Drain();
    Run();
    Run();
    ASSERT_TRUE(wire_.Has(kHeartbeat));
    ASSERT_TRUE(wire_.Has(kFarewellPath));
    Answer(kHeartbeat, 409);
    EXPECT_FALSE(loop_->failure());
    Answer(kFarewellPath, 204);
    EXPECT_TRUE(loop_->over());
    EXPECT_FALSE(loop_->failure());
}

TEST_F(WorkerLoopTest, HurriedDrainGivesBack) {
    Register();
    Claim("e1");
    loop_->Drain();
    Run();
    loop_->Hurry();
    Run();
    EXPECT_EQ(executor_.cancelled, std::vector<std::string>{"e1"});
    EXPECT_FALSE(wire_.Has(kExchange));
    Advance(seconds(5));  // it does not stop
    Run();
    EXPECT_EQ(Json::Parse(wire_.BodyTo(kExchange))->TextAt("/reports/0/outcome"), "released");
    Exchanged("ok");
    Answer(kFarewellPath, 204);
    EXPECT_TRUE(loop_->over());
}

// Runs that arrive after the drain began are given back at once.
TEST_F(WorkerLoopTest, LateClaimIsGivenBack) {
    Register();
    loop_->Drain();
    wire_.Answer(kClaim, 200, R"({"runs":[)" + ClaimedJson("e1") + "]}");
    Run();
    EXPECT_TRUE(executor_.started.empty());
    EXPECT_EQ(Json::Parse(wire_.BodyTo(kExchange))->TextAt("/reports/0/outcome"), "released");
}

// D-05: another worker under the same name: stops everything and fails.
TEST_F(WorkerLoopTest, AnotherIncarnationFencesIt) {
    Register();
    Claim("e1");
    Advance(seconds(30));
    Answer(kHeartbeat, 409);
    EXPECT_EQ(executor_.cancelled, std::vector<std::string>{"e1"});
    EXPECT_FALSE(loop_->over());
    executor_.End("e1", EventKind::kCancelled);
    Run();
    EXPECT_TRUE(loop_->over());
    ASSERT_TRUE(loop_->failure());
    EXPECT_EQ(loop_->failure()->code, Code::kLeaseLost);
    EXPECT_NE(loop_->failure()->message.find("w1"), std::string::npos);
}

TEST_F(WorkerLoopTest, ForgottenWorkerRegistersAgainAndKeepsItsWork) {
    Register();
    Claim("e1");
    for (int n = 0; n < 3; ++n) {
        Advance(seconds(10));
        Exchanged("ok");
    }
    Answer(kHeartbeat, 404);
    ASSERT_TRUE(wire_.Has(kRegister));
    Answer(kRegister, 201, "{}");
    EXPECT_TRUE(executor_.cancelled.empty());
    EXPECT_TRUE(wire_.Has(kHeartbeat));
}

TEST_F(WorkerLoopTest, RefusedRegistrationEndsIt) {
    Run();
    Answer(kRegister, 400);
    Run();
    EXPECT_TRUE(loop_->over());
    ASSERT_TRUE(loop_->failure());
}

TEST_F(WorkerLoopTest, UnreachableServerIsTriedAgain) {
    Run();
    Answer(kRegister, 0);
    EXPECT_FALSE(wire_.Has(kRegister));
    Advance(seconds(1));
    EXPECT_TRUE(wire_.Has(kRegister));
}

// A poll at a server that was left is ended, and goes to the next one.
TEST_F(WorkerLoopTest, PollFollowsTheTurn) {
    Register();
    wire_.Turn();
    Run();
    wire_.AnswerCancelled();
    Run();
    ASSERT_TRUE(wire_.Has(kClaim));
    EXPECT_EQ(wire_.size(), 1U);
}

// A server that is about to stop answers polls early.
TEST_F(WorkerLoopTest, EarlyEmptyPollLeavesTheServer) {
    Register();
    Advance(seconds(1));
    Answer(kClaim, 204);
    EXPECT_EQ(wire_.turns(), 1U);
    EXPECT_TRUE(wire_.Has(kClaim)) << "at the next server";
}

TEST_F(WorkerLoopTest, PersonDrainsIt) {
    Register();
    Advance(seconds(30));
    Answer(kHeartbeat, 200, R"({"heartbeat_in":30,"directives":["drain"]})");
    Run();
    Run();
    Answer(kFarewellPath, 204);
    EXPECT_TRUE(loop_->over());
    EXPECT_FALSE(loop_->failure());
}

}  // namespace
}  // namespace ksana::worker
