#include <gtest/gtest.h>

#include "ksana/http_client/client_fixture.hpp"

// Misbehaving targets: the time and memory of a call stay bounded, and the answer says what
// happened.

namespace ksana::http_client {
namespace {

using std::chrono::milliseconds;

// A listening port with a full backlog: further connection attempts stay pending.
class FullListener {
  public:
    FullListener() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        void* plain = &address;
        auto* const target = static_cast<sockaddr*>(plain);
        socklen_t size = sizeof address;
        const int listener = Make();
        bind(listener, target, size);
        listen(listener, 0);
        getsockname(listener, target, &size);
        port_ = ntohs(address.sin_port);
        for (int i = 0; i < 4; ++i) connect(Make(), target, size);
    }
    ~FullListener() {
        for (const int fd : fds_) close(fd);
    }
    FullListener(const FullListener&) = delete;
    FullListener& operator=(const FullListener&) = delete;

    std::uint16_t port() const { return port_; }

  private:
    int Make() {
        fds_.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        return fds_.back();
    }

    std::vector<int> fds_;
    std::uint16_t port_ = 0;
};

class HostileTargetTest : public ClientTest {
  protected:
    // Returns the client's view of a server that answers with `bytes` and closes.
    CallAnswer AnswerTo(const std::string& bytes, CallRequest request = {}) {
        const RawServer server([&bytes](RawPeer& peer) {
            if (peer.Read()) peer.Send(bytes);
        });
        request.url = server.Url();
        return Call(std::move(request));
    }
};

INSTANTIATE_TEST_SUITE_P(BothWays, HostileTargetTest, ::testing::Values(Way::kPlain, Way::kLibcurl),
                         NameOfWay);

TEST_P(HostileTargetTest, ARefusedConnectionSaysWhoRefused) {
    std::uint16_t port = 0;
    {
        port = RawServer([](RawPeer&) {}).port();
    }
    const auto answer = Call({.url = "http://127.0.0.1:" + std::to_string(port) + "/"});
    EXPECT_EQ(answer.error, CallError::kConnect);
    EXPECT_EQ(answer.error_text, "connection refused by 127.0.0.1:" + std::to_string(port));
    EXPECT_EQ(answer.remote, "127.0.0.1:" + std::to_string(port));
}

TEST_P(HostileTargetTest, AConnectionThatIsNotMadeTimesOut) {
    const FullListener listener;
    const std::string where = "127.0.0.1:" + std::to_string(listener.port());
    for (const auto& [connect_timeout, timeout] :
         {std::pair(milliseconds(50), milliseconds(10'000)),
          std::pair(milliseconds(50), milliseconds(50)),
          std::pair(milliseconds(10'000), milliseconds(50))}) {
        const auto answer = Call({.url = "http://" + where + "/",
                                  .connect_timeout = connect_timeout,
                                  .timeout = timeout});
        EXPECT_EQ(answer.error, CallError::kTimeout);
        EXPECT_EQ(answer.error_text, "no connection to " + where);
        EXPECT_EQ(answer.timings.connect, Duration::zero());
    }
}

TEST_P(HostileTargetTest, ANameThatDoesNotExistIsADnsError) {
    const auto answer = Call({.url = "http://no-such-host.invalid/"});
    EXPECT_EQ(answer.error, CallError::kDns);
    EXPECT_NE(answer.error_text.find("no-such-host.invalid"), std::string::npos);
}

TEST_P(HostileTargetTest, AServerThatHangsTimesOut) {
    const RawServer server([](RawPeer& peer) { peer.AwaitClose(); });
    const auto answer = Call({.url = server.Url(), .timeout = milliseconds(50)});
    EXPECT_EQ(answer.error, CallError::kTimeout);
    EXPECT_EQ(answer.error_text, "no answer from 127.0.0.1:" + std::to_string(server.port()));
    EXPECT_EQ(answer.status, 0);
}

TEST_P(HostileTargetTest, ABodyThatTricklesTimesOut) {
    const RawServer server([](RawPeer& peer) {
        peer.Read();
        peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        while (!peer.AwaitClose(10) && peer.Send("x")) {
        }
    });
    const auto answer = Call({.url = server.Url(), .timeout = milliseconds(80)});
    EXPECT_EQ(answer.error, CallError::kTimeout);
    EXPECT_EQ(answer.status, 200);
    EXPECT_LT(answer.body.size(), 100U);
}

TEST_P(HostileTargetTest, HeadersThatTrickleTimeOut) {
    const RawServer server([](RawPeer& peer) {
        peer.Read();
        peer.Send("HTTP/1.1 200 OK\r\nX-Slow: ");
        while (!peer.AwaitClose(10) && peer.Send("x")) {
        }
    });
    EXPECT_EQ(Call({.url = server.Url(), .timeout = milliseconds(80)}).error, CallError::kTimeout);
}

TEST_P(HostileTargetTest, AnEndlessBodyIsCutAndItsStatusKept) {
    std::atomic<bool> closed = false;
    Signal over;
    const RawServer server([&](RawPeer& peer) {
        peer.Read();
        peer.Send("HTTP/1.1 200 OK\r\n\r\n");
        while (peer.Send(std::string(10'000, 'x'))) {
        }
        closed = true;
        over.Raise();
    });
    const auto answer = Call({.url = server.Url(), .max_kept = 1000, .max_read = 100'000});
    EXPECT_EQ(answer.error, CallError::kNone) << answer.error_text;
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.body_truncated);
    EXPECT_EQ(answer.body, std::string(1000, 'x'));
    over.Await();
    EXPECT_TRUE(closed);
}

TEST_P(HostileTargetTest, ALongBodyIsReadToItsEndSoThatTheConnectionStays) {
    const RawServer server([](RawPeer& peer) {
        while (peer.Read()) peer.Answer(200, std::string(50'000, 'x'));
    });
    for (int i = 0; i < 3; ++i) {
        const auto answer = Call({.url = server.Url(), .max_kept = 10});
        EXPECT_EQ(answer.body.size(), 10U);
        EXPECT_TRUE(answer.body_truncated);
    }
    EXPECT_EQ(server.accepted(), 1);
    EXPECT_FALSE(Call({.url = server.Url(), .max_kept = 50'000}).body_truncated);
}

TEST_P(HostileTargetTest, AHundredThousandHeadersEndTheCall) {
    std::string head = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 100'000; ++i) head += "X-Header-" + std::to_string(i) + ": value\r\n";
    const auto answer = AnswerTo(head + "\r\n");
    EXPECT_EQ(answer.error, CallError::kProtocol);
    EXPECT_NE(answer.error_text.find("bytes of headers"), std::string::npos) << answer.error_text;
    EXPECT_LT(answer.headers.size(), 5'000U);
}

TEST_P(HostileTargetTest, OneEndlessHeaderEndsTheCall) {
    const RawServer server([](RawPeer& peer) {
        peer.Read();
        peer.Send("HTTP/1.1 200 OK\r\nX: ");
        while (peer.Send(std::string(10'000, 'x'))) {
        }
    });
    const auto answer = Call({.url = server.Url()});
    EXPECT_NE(answer.error, CallError::kNone);
    EXPECT_NE(answer.error, CallError::kTimeout);
}

TEST_P(HostileTargetTest, WhatIsNoHttpIsAProtocolError) {
    for (const std::string& bytes :
         {std::string("SSH-2.0-OpenSSH\r\n"), std::string("\0\1\2\3\4\5\6\7 junk", 13),
          std::string("HTTP/9.9 200 OK\r\n\r\n"), std::string()}) {
        const auto answer = AnswerTo(bytes);
        EXPECT_EQ(answer.error, CallError::kProtocol) << bytes << ": " << answer.error_text;
        EXPECT_FALSE(answer.error_text.empty());
    }
}

TEST_P(HostileTargetTest, AHeadThatDoesNotEndIsNoAnswer) {
    for (const char* const bytes :
         {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Le",
          "HTTP/1.1 200 OK\r\nX-Header: y\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"}) {
        const auto answer = AnswerTo(bytes);
        EXPECT_EQ(answer.error, CallError::kProtocol) << bytes << answer.error_text;
        EXPECT_FALSE(answer.error_text.empty());
    }
}

TEST_P(HostileTargetTest, BrokenChunksAreAProtocolError) {
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const auto* chunks : {"zz\r\nabc\r\n", "5\r\nab", "3\r\nabcXX\r\n", "-1\r\n",
                               "fffffffffffffffffff\r\nabc", "3\r\nabc\r\n"}) {
        const auto answer = AnswerTo(head + chunks);
        EXPECT_EQ(answer.error, CallError::kProtocol) << chunks << ": " << answer.error_text;
        EXPECT_EQ(answer.status, 200);
    }
    EXPECT_EQ(AnswerTo(head + "3\r\nabc\r\n0\r\n\r\n").body, "abc");
}

TEST_P(HostileTargetTest, ABodyThatEndsTooEarlyIsAProtocolError) {
    EXPECT_EQ(AnswerTo("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").error,
              CallError::kProtocol);
}

TEST_P(HostileTargetTest, PlainHttpBehindHttpsIsATlsError) {
    const RawServer server([](RawPeer& peer) { peer.Send("HTTP/1.1 400 Bad Request\r\n\r\n"); });
    const auto answer = Call({.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/"});
    EXPECT_EQ(answer.error, CallError::kTls) << answer.error_text;
}

TEST_P(HostileTargetTest, InterimAnswersAreSkipped) {
    const auto answer = AnswerTo(
        "HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"
        "HTTP/1.1 200 OK\r\nX-Late: 1\r\nContent-Length: 2\r\n\r\nok");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "ok");
    EXPECT_EQ(FindHeader(answer.headers, "x-early"), nullptr);
    EXPECT_NE(FindHeader(answer.headers, "x-late"), nullptr);
}

TEST_P(HostileTargetTest, EndlessInterimAnswersEndTheCall) {
    const RawServer server([](RawPeer& peer) {
        peer.Read();
        while (peer.Send("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n")) {
        }
    });
    EXPECT_EQ(Call({.url = server.Url()}).error, CallError::kProtocol);
}

// Such a head made libcurl 7.88 write to freed memory if the handle had carried a call before.
TEST_P(HostileTargetTest, AHeadThatBeginsWithAFoldedLineIsAnError) {
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(AnswerTo("HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 0\r\n\r\n").status, 200);
        const auto answer = AnswerTo("HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 0\r\n\r\n");
        EXPECT_NE(answer.error, CallError::kNone);
    }
}

TEST_P(HostileTargetTest, AnAnswerThatComesBeforeTheBodyIsSentEndsTheCall) {
    const RawServer server([](RawPeer& peer) {
        peer.Send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        peer.AwaitClose();
    });
    const auto answer = Call(
        {.method = HttpMethod::kPost, .url = server.Url(), .body = std::string(20'000'000, 'x')});
    EXPECT_EQ(answer.error, CallError::kNone) << answer.error_text;
    EXPECT_EQ(answer.status, 413);
}

TEST_P(HostileTargetTest, ALargeAnswerIsReadWhole) {
    const std::string body(3'000'000, 'x');
    const RawServer server([&body](RawPeer& peer) {
        for (int i = 0; i < 2 && peer.Read(); ++i) peer.Answer(200, body);
        if (peer.Read())
            peer.Send("HTTP/1.1 200 OK\r\n\r\n" + body);  // the body ends with the connection
    });
    for (int i = 0; i < 3; ++i) {
        const auto answer =
            Call({.url = server.Url(), .max_kept = 1U << 30U, .max_read = 1U << 30U});
        EXPECT_EQ(answer.error, CallError::kNone) << answer.error_text;
        EXPECT_EQ(answer.body.size(), body.size());
        EXPECT_EQ(answer.reused, i > 0);
    }
    EXPECT_EQ(server.accepted(), 1);
}

TEST_P(HostileTargetTest, AServerThatSpeaksFirstIsNoHttp) {
    const RawServer server([](RawPeer& peer) {
        peer.Send("220 mail.example.org ESMTP\r\n");
        peer.AwaitClose();
    });
    EXPECT_EQ(Call({.url = server.Url()}).error, CallError::kProtocol);
}

TEST_P(HostileTargetTest, CompressedBodiesAreNotUnpacked) {
    const auto answer =
        AnswerTo("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc");
    EXPECT_EQ(answer.error, CallError::kNone);
    EXPECT_EQ(answer.body, "abc");
}

}  // namespace
}  // namespace ksana::http_client
