#include "ksana/exec/http_executor.hpp"
#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/exec/attempt_fixture.hpp"
#include "support/raw_server.hpp"

namespace ksana::exec {
namespace {

std::shared_ptr<const engine::ActiveAttempt> Shared(engine::ActiveAttempt attempt) {
    return std::make_shared<const engine::ActiveAttempt>(std::move(attempt));
}

using model::EventKind;
using testing::RawPeer;
using testing::RawRequest;
using testing::RawServer;

// Records the requests of a target and the outcomes of attempts, and lets a test wait for them.
class Record {
  public:
    void Got(RawRequest request) {
        const MutexLock lock(mutex_);
        requests_.push_back(std::move(request));
        changed_.NotifyAll();
    }
    engine::Executor::Done Done() {
        return [this](model::Event event) {
            const MutexLock lock(mutex_);
            events_.push_back(std::move(event));
            changed_.NotifyAll();
        };
    }
    std::vector<RawRequest> AwaitRequests(std::size_t count) {
        MutexLock lock(mutex_);
        changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) { return requests_.size() >= count; });
        return requests_;
    }
    std::vector<model::Event> AwaitEvents(std::size_t count) {
        MutexLock lock(mutex_);
        changed_.Wait(lock, [&]() KSANA_REQUIRES(mutex_) { return events_.size() >= count; });
        return events_;
    }
    std::size_t requests() {
        const MutexLock lock(mutex_);
        return requests_.size();
    }

  private:
    Mutex mutex_;
    CondVar changed_;
    std::vector<RawRequest> requests_ KSANA_GUARDED_BY(mutex_);
    std::vector<model::Event> events_ KSANA_GUARDED_BY(mutex_);
};

// Records mails and sends none.
class KeepingMailer final : public mail::Mailer {
  public:
    void Send(mail::Mail mail, Done done) override {
        mails.push_back(std::move(mail));
        dones.push_back(std::move(done));
    }
    void Cancel(std::string_view attempt) override {
        for (std::size_t n = 0; n < mails.size(); ++n) {
            if (mails[n].attempt != attempt) continue;
            dones[n]({mail::MailOutcome::Kind::kTakenBack, "taken back"});
        }
    }

    std::vector<mail::Mail> mails;
    std::vector<Done> dones;
};

class HttpExecutorTest : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(client_.Start()); }
    void TearDown() override { client_.Stop(); }

    // Answers every request with the same response, and records it.
    RawServer::Script Answering(int status, std::string body = "", std::string headers = "") {
        return [this, status, body, headers](RawPeer& peer) {
            while (auto request = peer.Read()) {
                record_.Got(std::move(*request));
                peer.Answer(status, body, headers);
            }
        };
    }

    // Reads a request and never answers.
    RawServer::Script Hanging() {
        return [this](RawPeer& peer) {
            if (auto request = peer.Read()) record_.Got(std::move(*request));
            peer.AwaitClose();
        };
    }

    // Returns an attempt whose ten seconds start now.
    engine::ActiveAttempt Fresh(model::HttpAction action) {
        engine::ActiveAttempt attempt = AttemptOf(std::move(action));
        attempt.run.status.started_at = clock_.Now();
        attempt.run.status.deadline = clock_.Now() + attempt.run.policy.timeout;
        return attempt;
    }

    model::Event Run(model::HttpAction action) {
        executor_.Start(Shared(Fresh(std::move(action))), record_.Done());
        return record_.AwaitEvents(1).front();
    }

    engine::ActiveAttempt CallbackOf(engine::CallbackCall call) {
        engine::ActiveAttempt attempt = Fresh({});
        attempt.job = nullptr;
        attempt.run.job_id.clear();
        attempt.run.trigger = model::RunTrigger::kCallback;
        attempt.callback = std::make_shared<const engine::CallbackCall>(std::move(call));
        return attempt;
    }
    engine::ActiveAttempt MailAttempt() {
        return CallbackOf(
            {.url = "mailto:a@example.com,b@example.com", .body = R"({"subject":"s","text":"t"})"});
    }

    // Executes an attempt of a callback and returns its outcome.
    model::Event Tell(engine::CallbackCall call) {
        executor_.Start(Shared(CallbackOf(std::move(call))), record_.Done());
        return record_.AwaitEvents(1).front();
    }

    SystemClock clock_;
    Record record_;
    http_client::Client client_{http_client::ClientOptions{}, clock_};
    HttpExecutor executor_{client_, clock_};
};

TEST_F(HttpExecutorTest, CallsTheUrlAndReportsSuccess) {  // K-01, K-10
    const RawServer server(Answering(200, "{\"ok\":true}"));
    const auto event = Run({.method = HttpMethod::kPost,
                            .url = server.Url("/hook/{{job_id}}"),
                            .headers = {{"Authorization", "Bearer t"}},
                            .body = R"({"run_id":"<filled-by-service>","n":{{attempt}}})"});
    EXPECT_EQ(event.kind, EventKind::kSuccess) << event.error;
    EXPECT_EQ(event.result, "{\"ok\":true}");
    EXPECT_NE(event.detail.find("\"status\":200"), std::string::npos) << event.detail;
    const auto request = record_.AwaitRequests(1).front();
    EXPECT_EQ(request.Line(), "POST /hook/job-1 HTTP/1.1");
    EXPECT_EQ(request.body, R"({"run_id":"0192f0c1-2345-7abc-8def-0123456789ab","n":2})");
    EXPECT_EQ(request.Header("X-Ksana-Run-Id"), "0192f0c1-2345-7abc-8def-0123456789ab");
    EXPECT_EQ(request.Header("Authorization"), "Bearer t");
    EXPECT_EQ(request.Header("Content-Type"), "application/json");
    EXPECT_EQ(request.Header("Expect"), std::nullopt);
    EXPECT_TRUE(request.Header("traceparent"));
    EXPECT_EQ(executor_.kind(), model::ActionKind::kHttp);
}

TEST_F(HttpExecutorTest, AFailureCarriesWhatTheTargetSaid) {  // K-09
    const RawServer server(Answering(503, "busy", "Retry-After: 7\r\n"));
    const auto event = Run({.url = server.Url()});
    EXPECT_EQ(event.kind, EventKind::kRetryableFailure);
    EXPECT_EQ(event.after, Duration(std::chrono::seconds(7)));
    EXPECT_EQ(event.error, "HTTP 503 from 127.0.0.1:" + std::to_string(server.port()));
    EXPECT_NE(event.detail.find("\"body\":\"busy\""), std::string::npos) << event.detail;
}

TEST_F(HttpExecutorTest, ARedirectIsAPermanentFailure) {  // K-09
    const RawServer server(Answering(302, "", "Location: http://127.0.0.1:1/\r\n"));
    EXPECT_EQ(Run({.url = server.Url()}).kind, EventKind::kPermanentFailure);
}

TEST_F(HttpExecutorTest, ARefusedConnectionIsTriedAgain) {  // K-09
    std::uint16_t port = 0;
    {
        port = RawServer([](RawPeer&) {}).port();
    }
    const std::string target = "127.0.0.1:" + std::to_string(port);
    const auto event = Run({.url = "http://" + target + "/"});
    EXPECT_EQ(event.kind, EventKind::kRetryableFailure);
    EXPECT_EQ(event.error, "connection refused by " + target);
}

TEST_F(HttpExecutorTest, AForbiddenAddressIsAPermanentFailure) {
    const auto event = Run({.url = "http://169.254.169.254/latest/meta-data"});
    EXPECT_EQ(event.kind, EventKind::kPermanentFailure);
    EXPECT_EQ(event.error, "169.254.169.254:80 is a metadata service: not an allowed target");
}

TEST_F(HttpExecutorTest, ATargetThatHangsTimesOut) {  // K-09
    const RawServer server(Hanging());
    engine::ActiveAttempt attempt = Fresh({.url = server.Url()});
    attempt.run.policy.timeout = std::chrono::milliseconds(50);
    executor_.Start(Shared(std::move(attempt)), record_.Done());
    const auto event = record_.AwaitEvents(1).front();
    EXPECT_EQ(event.kind, EventKind::kTimeout);
    EXPECT_EQ(event.error,
              "no answer from 127.0.0.1:" + std::to_string(server.port()) + " within 50ms");
}

TEST_F(HttpExecutorTest, WhatCannotBeSentFailsAtOnce) {
    const RawServer server(Answering(200));
    const auto event = Run({.url = server.Url("/{{nobody}}")});
    EXPECT_EQ(event.kind, EventKind::kPermanentFailure);
    EXPECT_EQ(event.error, "there is no value for the placeholder \"nobody\"");
    // Its deadline passed long ago.
    executor_.Start(Shared(AttemptOf({.url = server.Url()})), record_.Done());
    EXPECT_EQ(record_.AwaitEvents(2).back().kind, EventKind::kTimeout);
    EXPECT_EQ(record_.requests(), 0U);
}

TEST_F(HttpExecutorTest, CancelEndsTheAttempt) {
    const RawServer server(Hanging());
    executor_.Start(Shared(Fresh({.url = server.Url()})), record_.Done());
    record_.AwaitRequests(1);
    executor_.Cancel("another");
    executor_.Cancel("exec-2");
    EXPECT_EQ(record_.AwaitEvents(1).front().kind, EventKind::kCancelled);
    executor_.Cancel("exec-2");  // the attempt is over: nothing happens
}

TEST_F(HttpExecutorTest, AStoppingClientDoesNotCancelRuns) {
    const RawServer server(Hanging());
    executor_.Start(Shared(Fresh({.url = server.Url()})), record_.Done());
    record_.AwaitRequests(1);
    client_.Stop();
    const auto event = record_.AwaitEvents(1).front();
    EXPECT_EQ(event.kind, EventKind::kRetryableFailure);
    EXPECT_EQ(event.error, "the server stopped while the call was under way");
    executor_.Start(Shared(Fresh({.url = server.Url()})), record_.Done());
    EXPECT_EQ(record_.AwaitEvents(2).back().kind, EventKind::kRetryableFailure);
}

TEST_F(HttpExecutorTest, ManyAttemptsAtOnceEachEndOnce) {
    const RawServer server(Answering(200));
    {
        std::vector<std::jthread> crowd;
        for (int t = 0; t < 4; ++t) {
            crowd.emplace_back([&, t] {
                for (int i = 0; i < 50; ++i) {
                    engine::ActiveAttempt attempt = Fresh({.url = server.Url()});
                    const std::string id = "exec-" + std::to_string(t * 1000 + i);
                    attempt.run.status.exec_id = id;
                    executor_.Start(Shared(std::move(attempt)), record_.Done());
                    if (i % 3 == 0) executor_.Cancel(id);
                }
            });
        }
    }
    record_.AwaitEvents(200);
    client_.Stop();
    const auto events = record_.AwaitEvents(200);
    EXPECT_EQ(events.size(), 200U);
    for (const auto& event : events) {
        EXPECT_TRUE(event.kind == EventKind::kSuccess || event.kind == EventKind::kCancelled)
            << event.error;
    }
}

TEST_F(HttpExecutorTest, ACallbackIsSignedAndSentAsItIs) {  // T-10, T-11
    const RawServer server(Answering(204));
    const std::string body = R"({"ext":"{{run_id}}","result":null})";
    const auto event = Tell({.method = model::CallbackMethod::kPut,
                             .url = server.Url("/done"),
                             .body = body,
                             .access_key = "shop",
                             .secrets = {"new", "old"}});
    EXPECT_EQ(event.kind, EventKind::kSuccess) << event.error;
    const auto request = record_.AwaitRequests(1).front();
    EXPECT_EQ(request.Line(), "PUT /done HTTP/1.1");
    EXPECT_EQ(request.body, body) << "no placeholders are filled";
    EXPECT_EQ(request.Header("webhook-id"), "0192f0c1-2345-7abc-8def-0123456789ab");
    EXPECT_EQ(request.Header("Ksana-Access-Key"), "shop");
    EXPECT_EQ(request.Header("Content-Type"), "application/json");
    EXPECT_EQ(request.Header("Ksana-Job-Id"), std::nullopt);
    const std::string signatures = request.Header("webhook-signature").value_or("");
    EXPECT_TRUE(signatures.starts_with("v1,")) << signatures;
    EXPECT_NE(signatures.find(" v1,"), std::string::npos) << signatures;
}

TEST_F(HttpExecutorTest, AReceiverThatRefusesACallbackIsAskedAgain) {
    const RawServer server(Answering(404));
    EXPECT_EQ(Tell({.url = server.Url("/"), .body = "{}"}).kind, EventKind::kRetryableFailure);
}

TEST_F(HttpExecutorTest, AReceiverThatIsGoneIsNot) {
    const RawServer server(Answering(410));
    EXPECT_EQ(Tell({.url = server.Url("/"), .body = "{}"}).kind, EventKind::kPermanentFailure);
}

TEST_F(HttpExecutorTest, ACallbackForNobodyIsDone) {
    const auto event = Tell({.url = "", .body = "{}"});
    EXPECT_EQ(event.kind, EventKind::kSuccess);
    EXPECT_NE(event.detail.find("not sent"), std::string::npos);
}

TEST_F(HttpExecutorTest, ACallbackThatCannotBeSignedIsNotSent) {
    const RawServer server(Answering(200));
    const auto event = Tell({.url = server.Url("/"), .body = "{}", .fault = "no secret"});
    EXPECT_EQ(event.kind, EventKind::kPermanentFailure);
    EXPECT_NE(event.error.find("no secret"), std::string::npos);
    EXPECT_EQ(record_.requests(), 0U);
}

TEST_F(HttpExecutorTest, AMailHasTheTimeThatIsLeftOfItsAttempt) {
    KeepingMailer mailer;
    FakeClock clock;
    HttpExecutor executor(client_, clock, {}, &mailer);
    engine::ActiveAttempt attempt = MailAttempt();
    attempt.run.status.deadline = clock.Now() + std::chrono::seconds(3);  // of ten
    executor.Start(Shared(attempt), record_.Done());
    ASSERT_EQ(mailer.mails.size(), 1U);
    EXPECT_EQ(mailer.mails[0].to, (std::vector<std::string>{"a@example.com", "b@example.com"}));
    EXPECT_EQ(mailer.mails[0].deadline, clock.SteadyNow() + std::chrono::seconds(3));
    clock.Advance(std::chrono::seconds(3));
    executor.Start(Shared(std::move(attempt)), record_.Done());
    EXPECT_EQ(record_.AwaitEvents(1).front().kind, EventKind::kTimeout);
    EXPECT_EQ(mailer.mails.size(), 1U) << "none was left";
}

TEST_F(HttpExecutorTest, WhomAMailWasNotTakenForIsNoted) {
    KeepingMailer mailer;
    HttpExecutor executor(client_, clock_, {}, &mailer);
    executor.Start(Shared(MailAttempt()), record_.Done());
    mailer.dones.at(0)({mail::MailOutcome::Kind::kSent, "not taken for b@example.com (550 no)"});
    const auto event = record_.AwaitEvents(1).front();
    EXPECT_EQ(event.kind, EventKind::kSuccess);
    EXPECT_EQ(event.detail, R"-({"note":"not taken for b@example.com (550 no)"})-");
}

TEST_F(HttpExecutorTest, AMailThatWaitsCanBeCancelled) {
    KeepingMailer mailer;
    HttpExecutor executor(client_, clock_, {}, &mailer);
    executor.Start(Shared(MailAttempt()), record_.Done());
    executor.Cancel("another");
    executor.Cancel("exec-2");
    EXPECT_EQ(record_.AwaitEvents(1).front().kind, EventKind::kCancelled);
}

}  // namespace
}  // namespace ksana::exec
