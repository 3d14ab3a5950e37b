#include <gtest/gtest.h>

#include "ksana/http_client/client_fixture.hpp"

// What differs for calls without libcurl: host names, and limits shared with libcurl.

namespace ksana::http_client {
namespace {

class PlainPathTest : public ::testing::Test {
  protected:
    void Start(const ClientOptions& options = {}) {
        client_.emplace(options, clock_);
        ASSERT_TRUE(client_->Start());
    }

    CallAnswer Call(CallRequest request) {
        Answers answers;
        client_->Send(std::move(request), answers.Slot(0));
        return answers.Await(0);
    }

    // Returns when the client's thread has begun every call sent before.
    void AwaitTurn() {
        EXPECT_EQ(Call({.headers = {{"not a name", ""}}}).error, CallError::kOther);
    }

    static std::string ByName(const RawServer& server) {
        return "http://localhost:" + std::to_string(server.port()) + "/";
    }

    SystemClock clock_;
    std::optional<Client> client_;
};

void AnswerAlways(RawPeer& peer) {
    while (peer.Read()) peer.Answer(204);
}

TEST_F(PlainPathTest, ANameIsResolvedByLibcurlAndItsAddressRemembered) {
    const RawServer server(AnswerAlways);
    Start();
    const std::string remote = "127.0.0.1:" + std::to_string(server.port());
    for (int i = 0; i < 5; ++i) {
        const auto answer = Call({.url = ByName(server)});
        EXPECT_EQ(answer.status, 204) << answer.error_text;
        EXPECT_EQ(answer.remote, remote);
        EXPECT_EQ(answer.reused, i > 1);
    }
    EXPECT_EQ(server.accepted(), 2) << "libcurl's connection and ours";
}

TEST_F(PlainPathTest, WhereTheRememberedAddressRefusesLibcurlTriesOthers) {
    std::string url;
    {
        const RawServer server(AnswerAlways);
        Start();
        url = ByName(server);
        EXPECT_EQ(Call({.url = url}).status, 204);
    }
    for (int i = 0; i < 3; ++i) {
        const auto answer = Call({.url = url, .connect_timeout = std::chrono::seconds(5)});
        EXPECT_EQ(answer.error, CallError::kConnect) << answer.error_text;
        EXPECT_TRUE(answer.error_text.starts_with("connection refused by ")) << answer.error_text;
    }
}

TEST_F(PlainPathTest, ARememberedAddressIsHeldAgainstTheRulesOfEachCall) {
    const RawServer server(AnswerAlways);
    Start();
    const auto strict = std::make_shared<EgressRules>(EgressRules{.policy = EgressPolicy::kPublic});
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(Call({.url = ByName(server)}).status, 204);
        const auto answer = Call({.url = ByName(server), .egress = strict});
        EXPECT_EQ(answer.error, CallError::kEgressRefused) << answer.error_text;
    }
}

TEST_F(PlainPathTest, ACallByNameOverAConnectionThatWasClosedIsSentOnceMore) {
    const RawServer server([](RawPeer& peer) {
        if (peer.Read()) peer.Answer(204);
        peer.Read();  // reads the second call and does not answer it
    });
    Start();
    for (int i = 0; i < 10; ++i) {
        const auto answer = Call({.method = HttpMethod::kPost, .url = ByName(server), .body = "b"});
        EXPECT_EQ(answer.error, CallError::kNone) << i << ": " << answer.error_text;
    }
}

TEST_F(PlainPathTest, ACallByNameIsCancelledWhereverItIs) {
    const RawServer server([](RawPeer& peer) { peer.AwaitClose(); });
    Start();
    for (int i = 0; i < 50; ++i) {
        Answers answers;
        client_->Cancel(client_->Send({.url = ByName(server)}, answers.Slot(0)));
        EXPECT_EQ(answers.Await(0).error, CallError::kCancelled);
    }
}

TEST_F(PlainPathTest, TheLimitOfAHostCountsLibcurlsConnections) {
    const RawServer server(AnswerAlways);
    Start({.max_connections_per_host = 1});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(Call({.url = ByName(server)}).status, 204);
        EXPECT_EQ(Call({.url = ByName(server) + "a/../b"}).status, 204) << "one for libcurl";
    }
    EXPECT_EQ(server.accepted(), 1);
}

TEST_F(PlainPathTest, AConnectionThatIdlesMakesRoomForAnotherHost) {
    Signal closed;
    const RawServer first([&closed](RawPeer& peer) {
        AnswerAlways(peer);
        closed.Raise();
    });
    const RawServer second(AnswerAlways);
    Start({.max_connections = 1});
    EXPECT_EQ(Call({.url = first.Url()}).status, 204);
    EXPECT_EQ(Call({.url = second.Url()}).status, 204);
    closed.Await();
    EXPECT_EQ(client_->statistics().connections_made, 2U);
}

TEST_F(PlainPathTest, ACallWaitsForAConnectionOfAnotherHost) {
    Signal arrived;
    Signal release;
    const RawServer first([&](RawPeer& peer) {
        if (!peer.Read()) return;
        arrived.Raise();
        release.Await();
        peer.Answer(204);
        AnswerAlways(peer);
    });
    const RawServer second(AnswerAlways);
    const RawServer third(AnswerAlways);
    Start({.max_connections = 1});
    Answers answers;
    client_->Send({.url = first.Url()}, answers.Slot(0));
    arrived.Await();
    for (int i = 1; i <= 10; ++i) {
        client_->Send({.url = (i % 2 == 0 ? second : third).Url()}, answers.Slot(i));
    }
    const CallId last = client_->Send({.url = first.Url()}, answers.Slot(11));
    client_->Send({.url = second.Url(), .timeout = std::chrono::milliseconds(20)},
                  answers.Slot(12));
    client_->Cancel(last);
    EXPECT_EQ(answers.Await(11).error, CallError::kCancelled);
    const auto late = answers.Await(12);
    EXPECT_EQ(late.error, CallError::kTimeout);
    EXPECT_EQ(late.error_text, "no free connection to 127.0.0.1:" + std::to_string(second.port()));
    EXPECT_EQ(client_->statistics().connections_made, 1U);
    release.Raise();
    for (const auto& [number, answer] : answers.AwaitAll(13)) {
        EXPECT_EQ(answer.status, number < 11 ? 204 : 0) << number << answer.error_text;
    }
}

TEST_F(PlainPathTest, WhatComesUnaskedEndsTheConnection) {
    Signal closed;
    const RawServer server([&closed](RawPeer& peer) {
        peer.Read();
        peer.Answer(204);
        peer.Read();
        peer.Answer(204, "", "X-Second: 1\r\n");
        peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        if (peer.AwaitClose()) closed.Raise();
    });
    Start();
    EXPECT_FALSE(Call({.url = server.Url()}).reused);
    const auto second = Call({.url = server.Url()});
    EXPECT_NE(FindHeader(second.headers, "x-second"), nullptr);
    closed.Await();
    EXPECT_FALSE(Call({.url = server.Url()}).reused) << "and not the answer that nobody asked for";
}

TEST_F(PlainPathTest, AWaitingCallGetsTheConnectionOfOneThatIsGivenUp) {
    Signal arrived;
    const RawServer server([&arrived](RawPeer& peer) {
        if (!peer.Read()) return;
        if (peer.number() == 1) {
            arrived.Raise();
            peer.AwaitClose();
        }
        peer.Answer(204);
    });
    Start({.max_connections_per_host = 1});
    Answers answers;
    const CallId first = client_->Send({.url = server.Url()}, answers.Slot(0));
    arrived.Await();
    client_->Send({.url = server.Url()}, answers.Slot(1));
    AwaitTurn();
    EXPECT_EQ(answers.size(), 0U);
    client_->Cancel(first);
    EXPECT_EQ(answers.Await(0).error, CallError::kCancelled);
    EXPECT_EQ(answers.Await(1).status, 204);
}

TEST_F(PlainPathTest, CallsThatCannotConnectDoNotHoldUpThoseThatWait) {
    std::uint16_t port = 0;
    {
        port = RawServer([](RawPeer&) {}).port();
    }
    Start({.max_connections_per_host = 2});
    Answers answers;
    for (int i = 0; i < 100; ++i) {
        client_->Send({.url = "http://127.0.0.1:" + std::to_string(port) + "/"}, answers.Slot(i));
    }
    for (const auto& [number, answer] : answers.AwaitAll(100)) {
        EXPECT_EQ(answer.error, CallError::kConnect);
    }
}

}  // namespace
}  // namespace ksana::http_client
