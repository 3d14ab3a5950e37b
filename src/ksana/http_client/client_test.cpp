#include "ksana/http_client/client.hpp"

#include <gtest/gtest.h>

#include "ksana/http_client/client_fixture.hpp"
#include "support/service_stress.hpp"

namespace ksana::http_client {
namespace {

INSTANTIATE_TEST_SUITE_P(BothWays, ClientTest, ::testing::Values(Way::kPlain, Way::kLibcurl),
                         NameOfWay);

// Answers with the request line and the request body.
void Echo(RawPeer& peer) {
    while (const auto request = peer.Read()) {
        const bool head = request->head.starts_with("HEAD");
        const std::string line = request->Line() + "|" + request->body;
        if (!peer.Answer(200, head ? "" : line, "X-Line: " + line + "\r\n")) return;
    }
}

TEST_P(ClientTest, SendsEveryMethodWithAndWithoutABody) {  // K-01
    const RawServer server(Echo);
    for (const HttpMethod method : {HttpMethod::kGet, HttpMethod::kPost, HttpMethod::kPut,
                                    HttpMethod::kPatch, HttpMethod::kDelete, HttpMethod::kHead}) {
        for (const std::string body : {"", "some text"}) {
            if (method == HttpMethod::kHead && !body.empty()) continue;
            const auto answer = Call({.method = method, .url = server.Url("/a?b=c"), .body = body});
            EXPECT_EQ(answer.error, CallError::kNone) << answer.error_text;
            EXPECT_EQ(answer.status, 200);
            const std::string line = std::string(NameOf(method)) + " /a?b=c HTTP/1.1|" + body;
            EXPECT_EQ(*FindHeader(answer.headers, "x-line"), line);
            EXPECT_EQ(answer.body, method == HttpMethod::kHead ? "" : line);
            EXPECT_FALSE(answer.body_truncated);
            EXPECT_EQ(answer.http_version, 11);
            EXPECT_EQ(answer.remote, "127.0.0.1:" + std::to_string(server.port()));
            EXPECT_GT(answer.timings.total, Duration::zero());
            EXPECT_LE(answer.timings.first_byte, answer.timings.total);
        }
    }
    EXPECT_EQ(server.accepted(), 1) << "the connection is used again";
    const auto statistics = client_.statistics();
    EXPECT_EQ(statistics.calls, 11U);
    EXPECT_EQ(statistics.by_error[0], 11U);
    EXPECT_EQ(statistics.connections_made, 1U);
    EXPECT_EQ(statistics.connections_reused, 10U);
}

TEST_P(ClientTest, SendsTheCallersHeadersAndNothingUnasked) {
    std::string head;
    const RawServer server([&head](RawPeer& peer) {
        while (const auto request = peer.Read()) {
            head = request->head;
            peer.Answer(204);
        }
    });
    const auto answer = Call({.method = HttpMethod::kPost,
                              .url = server.Url(),
                              .headers = {{"X-One", "1"}, {"X-Empty", ""}, {"User-Agent", "me"}},
                              .body = std::string(2'000'000, 'x')});
    EXPECT_EQ(answer.status, 204);
    const RawRequest got{head, ""};
    EXPECT_EQ(got.Header("X-One"), "1");
    EXPECT_EQ(got.Header("X-Empty"), "");
    EXPECT_EQ(got.Header("User-Agent"), "me");
    EXPECT_EQ(got.Header("Content-Length"), "2000000");
    EXPECT_EQ(got.Header("Expect"), std::nullopt);
    EXPECT_EQ(got.Header("Content-Type"), std::nullopt);
}

TEST_P(ClientTest, RefusesWhatWouldWriteBesideTheMessage) {
    const RawServer server(Echo);
    for (const Header& header : std::vector<Header>{{"X-A", "1\r\nX-B: 2"},
                                                    {"X-A\r\nX-B", "1"},
                                                    {"X A", "1"},
                                                    {"", "1"},
                                                    {"X-A", std::string("1\0", 2)},
                                                    {"Content-Length", "7"},
                                                    {"Transfer-Encoding", "chunked"},
                                                    {"Host", "other"}}) {
        const auto answer = Call({.url = server.Url(), .headers = {header}});
        EXPECT_EQ(answer.error, CallError::kOther) << header.name << ": " << header.value;
    }
    for (const auto* url : {"http://user:word@127.0.0.1/", "ftp://127.0.0.1/", "file:///etc/passwd",
                            "gopher://127.0.0.1/", "not a url", ""}) {
        const auto answer = Call({.url = url});
        EXPECT_NE(answer.error, CallError::kNone) << url;
        EXPECT_EQ(answer.status, 0) << url;
    }
    EXPECT_EQ(server.accepted(), 0);
}

TEST_P(ClientTest, ACallOverAConnectionThatWasClosedMeanwhileSucceeds) {
    // The server closes after each answer without "Connection: close".
    const RawServer server([](RawPeer& peer) {
        if (peer.Read()) peer.Answer(200, "once");
    });
    for (const HttpMethod method : {HttpMethod::kGet, HttpMethod::kPut, HttpMethod::kPost}) {
        for (int i = 0; i < 5; ++i) {
            const auto answer = Call({.method = method, .url = server.Url(), .body = "b"});
            EXPECT_EQ(answer.error, CallError::kNone) << answer.error_text;
            EXPECT_EQ(answer.body, "once");
        }
    }
    EXPECT_EQ(server.accepted(), 15);
}

// As documented on Client: a target may see a call twice.
TEST_P(ClientTest, ACallWhoseReusedConnectionEndsWithoutAnAnswerIsSentOnceMore) {
    std::atomic<int> seen = 0;
    std::atomic<bool> reset = false;
    const RawServer server([&](RawPeer& peer) {
        if (!peer.Read()) return;
        peer.Answer(200, "first");
        if (!peer.Read()) return;  // reads the second call and does not answer it
        ++seen;
        if (reset) peer.ResetOnClose();
    });
    for (const bool with_reset : {false, true}) {
        reset = with_reset;
        for (const HttpMethod method : {HttpMethod::kGet, HttpMethod::kPost}) {
            EXPECT_EQ(Call({.method = method, .url = server.Url()}).body, "first");
            const auto answer = Call({.method = method, .url = server.Url()});
            EXPECT_EQ(answer.error, CallError::kNone) << answer.error_text;
            EXPECT_EQ(answer.body, "first") << "over another connection";
            client_.Stop();  // closes all connections
            ASSERT_TRUE(client_.Start());
        }
    }
    EXPECT_EQ(seen, 4);
}

// libcurl counts the closed connections that a handle finds, and gives up at the sixth.
TEST_P(ClientTest, HoweverManyReusedConnectionsHaveEndedTheNextCallIsSentOnceMore) {
    const RawServer server([](RawPeer& peer) {
        if (peer.Read()) peer.Answer(200, "first");
        peer.Read();  // reads the second call and does not answer it
    });
    for (int i = 0; i < 20; ++i) {
        const auto answer = Call({.url = server.Url()});
        EXPECT_EQ(answer.error, CallError::kNone) << i << ": " << answer.error_text;
    }
}

TEST_P(ClientTest, ACallWhoseNewConnectionIsResetIsNotSentAgain) {
    const RawServer server([](RawPeer& peer) {
        peer.Read();
        peer.ResetOnClose();
    });
    EXPECT_EQ(Call({.url = server.Url()}).error, CallError::kProtocol);
    EXPECT_EQ(server.accepted(), 1);
}

TEST_P(ClientTest, AThousandCallsAtOnceAreAllAnswered) {
    const RawServer server(Echo);
    Answers answers;
    for (int i = 0; i < 1000; ++i) {
        client_.Send({.url = server.Url("/" + std::to_string(i))}, answers.Slot(i));
    }
    const auto all = answers.AwaitAll(1000);
    for (const auto& [number, answer] : all) {
        EXPECT_EQ(answer.error, CallError::kNone) << answer.error_text;
        EXPECT_EQ(answer.body, "GET /" + std::to_string(number) + " HTTP/1.1|");
    }
    EXPECT_LE(server.accepted(), 256) << "no more connections to one host than allowed";
}

TEST_P(ClientTest, ManyThreadsSendAndCancelAtOnce) {
    const RawServer server(Echo);
    Answers answers;
    {
        std::vector<std::jthread> crowd;
        for (int t = 0; t < 4; ++t) {
            crowd.emplace_back([&, t] {
                for (int i = 0; i < 100; ++i) {
                    const CallId id =
                        client_.Send({.url = server.Url()}, answers.Slot(t * 100 + i));
                    if (i % 3 == 0) client_.Cancel(id);
                    if (i % 5 == 0) client_.Cancel(id + 1000);
                }
            });
        }
    }
    for (const auto& [number, answer] : answers.AwaitAll(400)) {
        EXPECT_TRUE(answer.error == CallError::kNone || answer.error == CallError::kCancelled);
    }
}

TEST_P(ClientTest, CancelEndsACallUnderWay) {
    Signal arrived;
    std::atomic<bool> closed = false;
    Signal over;
    const RawServer server([&](RawPeer& peer) {
        peer.Read();
        arrived.Raise();
        closed = peer.AwaitClose();
        over.Raise();
    });
    Answers answers;
    const CallId id = client_.Send({.url = server.Url()}, answers.Slot(0));
    arrived.Await();
    client_.Cancel(id);
    EXPECT_EQ(answers.Await(0).error, CallError::kCancelled);
    over.Await();
    EXPECT_TRUE(closed) << "the target sees that nobody waits any more";
    client_.Cancel(id);  // has ended: nothing happens
    client_.Cancel(12345);
    EXPECT_EQ(client_.statistics().by_error[static_cast<std::size_t>(CallError::kCancelled)], 1U);
}

TEST_P(ClientTest, StopEndsTheCallsUnderWayAndLaterOnesAtOnce) {
    Signal arrived;
    const RawServer server([&](RawPeer& peer) {
        peer.Read();
        arrived.Raise();
        peer.AwaitClose();
    });
    Answers answers;
    for (int i = 0; i < 50; ++i) client_.Send({.url = server.Url()}, answers.Slot(i));
    arrived.Await();
    client_.Stop();
    EXPECT_EQ(answers.size(), 50U) << "all are told before Stop returns";
    client_.Send({.url = server.Url()}, answers.Slot(50));
    EXPECT_EQ(answers.size(), 51U);
    for (const auto& [number, answer] : answers.AwaitAll(51)) {
        EXPECT_EQ(answer.error, CallError::kCancelled);
    }
}

TEST_P(ClientTest, DoneMaySendTheNextCall) {
    const RawServer server(Echo);
    Answers answers;
    std::function<void(int)> send = [&](int left) {
        client_.Send({.url = server.Url()}, [&, left](CallAnswer answer) {
            if (left > 0) return send(left - 1);
            answers.Slot(0)(std::move(answer));
        });
    };
    send(100);
    EXPECT_EQ(answers.Await(0).status, 200);
    EXPECT_EQ(server.accepted(), 1);
}

TEST(Client, KeepsTheRulesOfServices) {
    SystemClock clock;
    Client client(ClientOptions{}, clock);
    testing::StressService(client, 4, 50);
}

TEST_P(ClientTest, CallsAreAnsweredOnceWhileItStartsAndStops) {
    const RawServer server(Echo);
    Answers answers;
    Client client(OptionsFor(GetParam()), clock_);
    {
        std::jthread sender([&] {
            for (int i = 0; i < 500; ++i) client.Send({.url = server.Url()}, answers.Slot(i));
        });
        for (int i = 0; i < 20; ++i) {
            ASSERT_TRUE(client.Start());
            client.Stop();
        }
    }
    client.Stop();
    EXPECT_EQ(answers.size(), 500U);
}

TEST_P(ClientTest, CallsThatWaitForAFreeConnectionTimeOut) {
    Signal arrived;
    const RawServer server([&](RawPeer& peer) {
        peer.Read();
        arrived.Raise();
        peer.AwaitClose();
    });
    Answers answers;  // must outlive the client, whose destructor ends the first call
    ClientOptions options = OptionsFor(GetParam());
    options.max_connections_per_host = 1;
    Client client(options, clock_);
    ASSERT_TRUE(client.Start());
    client.Send({.url = server.Url()}, answers.Slot(0));
    arrived.Await();
    client.Send({.url = server.Url(), .timeout = std::chrono::milliseconds(30)}, answers.Slot(1));
    EXPECT_EQ(answers.Await(1).error, CallError::kTimeout);
    EXPECT_EQ(server.accepted(), 1);
}

}  // namespace
}  // namespace ksana::http_client
