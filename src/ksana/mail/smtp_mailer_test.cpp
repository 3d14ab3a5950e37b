#include "ksana/mail/smtp_mailer.hpp"

#include <gtest/gtest.h>

#include <future>

#include "ksana/base/time/fake_clock.hpp"
#include "support/raw_server.hpp"

namespace ksana::mail {
namespace {

using Kind = MailOutcome::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Tests without a mail server. The answers of a server are tested end to end in
// tests/server/alert_cases.py.
class SmtpMailerTest : public ::testing::Test {
  protected:
    std::future<MailOutcome> Send(const std::string& attempt = "e") {
        return SendTo(mailer_, attempt);
    }
    std::future<MailOutcome> SendTo(SmtpMailer& mailer, const std::string& attempt = "e") {
        auto promise = std::make_shared<std::promise<MailOutcome>>();
        mailer.Send({.id = "m",
                     .to = {"a@example.com"},
                     .subject = "s",
                     .text = "t",
                     .attempt = attempt,
                     .deadline = clock_.SteadyNow() + seconds(60)},
                    [promise](MailOutcome outcome) { promise->set_value(std::move(outcome)); });
        return promise->get_future();
    }
    static bool IsThere(const std::future<MailOutcome>& outcome) {
        return outcome.wait_for(seconds(0)) == std::future_status::ready;
    }

    FakeClock clock_;
    SmtpMailer mailer_{{.url = "smtp://127.0.0.1:1", .from = "ksana@example.com"}, clock_};
};

TEST_F(SmtpMailerTest, AServerThatIsNotThereIsTriedLater) {
    ASSERT_TRUE(mailer_.Start());
    const MailOutcome outcome = Send().get();
    EXPECT_EQ(outcome.kind, Kind::kLater);
    EXPECT_NE(outcome.error.find("SMTP"), std::string::npos) << outcome.error;
}

TEST_F(SmtpMailerTest, WhatWaitsWhenItStopsIsToldToComeLater) {
    auto waiting = Send();  // never started
    mailer_.Stop();
    EXPECT_EQ(waiting.get().kind, Kind::kLater);
}

TEST_F(SmtpMailerTest, OnlySoManyWait) {
    std::vector<std::future<MailOutcome>> all;
    for (std::size_t n = 0; n < SmtpMailer::kMaxWaiting; ++n) all.push_back(Send());
    EXPECT_EQ(Send().get().kind, Kind::kLater) << "at once";
    mailer_.Stop();
    for (auto& one : all) EXPECT_EQ(one.get().kind, Kind::kLater);
}

// The sender has given up by then and sends the mail again; otherwise it would arrive twice.
TEST_F(SmtpMailerTest, WhatHasWaitedForTooLongIsNotSent) {
    std::atomic<int> connections = 0;
    const testing::RawServer server([&](testing::RawPeer&) { ++connections; });
    SmtpMailer mailer(
        {.url = "smtp://127.0.0.1:" + std::to_string(server.port()), .from = "ksana@example.com"},
        clock_);
    auto late = SendTo(mailer);
    clock_.Advance(seconds(60));
    ASSERT_TRUE(mailer.Start());
    const MailOutcome outcome = late.get();
    EXPECT_EQ(outcome.kind, Kind::kLater);
    EXPECT_EQ(outcome.error, "its time was over before it was sent");
    mailer.Stop();
    EXPECT_EQ(connections, 0);
}

TEST_F(SmtpMailerTest, OneThatHasWaitedHasOnlyWhatIsLeftOfItsTime) {
    const testing::RawServer server([](testing::RawPeer& peer) { peer.AwaitClose(); });
    SmtpMailer mailer(
        {.url = "smtp://127.0.0.1:" + std::to_string(server.port()), .from = "ksana@example.com"},
        clock_);
    auto waiting = SendTo(mailer);
    clock_.Advance(seconds(60) - milliseconds(50));
    ASSERT_TRUE(mailer.Start());
    ASSERT_EQ(waiting.wait_for(seconds(30)), std::future_status::ready) << "not a minute";
    EXPECT_EQ(waiting.get().kind, Kind::kLater);
}

TEST_F(SmtpMailerTest, OneThatWaitsCanBeTakenBack) {
    auto first = Send("one");
    auto second = Send("two");
    mailer_.Cancel("three");
    mailer_.Cancel("one");
    ASSERT_TRUE(IsThere(first));
    EXPECT_EQ(first.get().kind, Kind::kTakenBack);
    EXPECT_FALSE(IsThere(second));
    mailer_.Stop();
    EXPECT_EQ(second.get().kind, Kind::kLater);
}

}  // namespace
}  // namespace ksana::mail
