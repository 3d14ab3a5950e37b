#include <poll.h>
#include <sys/resource.h>

#include "ksana/http_server/server_fixture.hpp"

namespace ksana::http_server {
namespace {

using std::chrono::milliseconds;
using testing::RawAnswer;
using testing::RawClient;

// Malicious or very slow clients. Deadlines are short, and the tests wait for actions of the
// server, not for fixed times.
class ServerLimitsTest : public ServerTest {
  protected:
    // Returns whether the server sends or closes within `patience`.
    static bool Readable(const RawClient& client, milliseconds patience) {
        pollfd socket{.fd = client.socket(), .events = POLLIN, .revents = 0};
        return ::poll(&socket, 1, static_cast<int>(patience.count())) > 0;
    }

    // Sends byte by byte until the server answers or closes.
    static RawAnswer Drip(RawClient& client, std::string_view bytes) {
        for (const char c : bytes) {
            if (!client.Send(std::string(1, c)) || Readable(client, milliseconds(10))) break;
        }
        return client.Read();
    }
};

TEST_F(ServerLimitsTest, SmugglersAreRefusedAndClosed) {
    Start();
    using std::string_literals::operator""s;
    const std::string chunked =
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (
        const std::string& request : {
            "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\n"
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"s,
            "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nbody"s,
            "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: identity\r\n\r\n"s,
            "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: xchunked\r\n\r\n"s,
            "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"s,
            "GET /hello HTTP/1.1\r\nHost: t\r\nX: a\r\n b\r\n\r\n"s,
            "GET /hello HTTP/1.1\nHost: t\n\n"s,
            "GET /hello HTTP/1.1\r\nHost: t\r\nX: a\rb\r\n\r\n"s,
            "GET /hello HTTP/1.1\r\nHost: t\r\nX: a\0b\r\n\r\n"s,
            "GET /hello HTTP/1.1\r\n\r\n"s,
            "GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"s,
            "GET /a/../hello HTTP/1.1\r\nHost: t\r\n\r\n"s,
            chunked + "zz\r\n\r\n",
            chunked + "10000000000000000\r\n\r\n",
            chunked + "4\r\nbodyX0\r\n\r\n",
            chunked + "4\nbody\n0\n\n",
        }) {
        RawClient client = Client();
        // The bytes that follow must never be taken for a second request.
        client.Send(request + Get("/hello"));
        const RawAnswer answer = client.Read();
        EXPECT_EQ(answer.status, 400) << request;
        EXPECT_EQ(answer.Field("Connection"), "close") << request;
        EXPECT_EQ(answer.Field("Content-Type"), "application/problem+json") << request;
        EXPECT_TRUE(client.AtEnd()) << request;
    }
}

TEST_F(ServerLimitsTest, UnknownMethodsAndVersions) {
    Start();
    EXPECT_EQ(Ask("BREW /hello HTTP/1.1\r\nHost: t\r\n\r\n").status, 501);
    EXPECT_EQ(Ask("GET /hello HTTP/2.0\r\nHost: t\r\n\r\n").status, 505);
    EXPECT_EQ(Ask(Get("/hello", "Expect: tea\r\n")).status, 417);
}

TEST_F(ServerLimitsTest, HeadersHaveLimits) {
    Start();
    EXPECT_EQ(Ask(Get("/hello", "X: " + std::string(15'000, 'x') + "\r\n")).status, 200);
    RawClient large = Client();
    large.Send(Get("/hello", "X: " + std::string(1'000'000, 'x') + "\r\n"));
    EXPECT_EQ(large.Read().status, 431);
    std::string fields;
    for (int i = 0; i < 100; ++i) fields += "X: y\r\n";
    EXPECT_EQ(Ask(Get("/hello", fields)).status, 431);
    EXPECT_EQ(Ask(Get("/" + std::string(20'000, 'x'))).status, 414);
}

TEST_F(ServerLimitsTest, ALargeBodyIsRefusedBeforeItIsRead) {
    Start();
    RawClient polite = Client();
    const std::string head = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10000000\r\n";
    EXPECT_EQ(polite.Ask(head + "Expect: 100-continue\r\n\r\n").status, 413);
    EXPECT_TRUE(polite.AtEnd());
    // A client that sends the body anyway can still read the answer.
    RawClient rude = Client();
    rude.Send(head + "\r\n");
    rude.Send(std::string(10'000'000, 'x'));
    EXPECT_EQ(rude.Read().status, 413);
    RawClient chunked = Client();
    chunked.Send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 11; ++i) {
        chunked.Send("186a0\r\n" + std::string(100'000, 'x') + "\r\n");
    }
    EXPECT_EQ(chunked.Read().status, 413);
    EXPECT_EQ(Ask(Post("/echo", std::string(1'000'000, 'x'))).body.size(), 1'000'000U);
}

TEST_F(ServerLimitsTest, ASlowHeadIsCut) {
    options_.header_deadline = milliseconds(100);
    Start();
    RawClient client = Client();
    const RawAnswer answer = Drip(client, Get("/hello", "X: " + std::string(10'000, 'x')));
    EXPECT_EQ(answer.status, 408);
    EXPECT_EQ(answer.Field("Connection"), "close");
    EXPECT_TRUE(client.AtEnd());
    EXPECT_EQ(server_->statistics().connections_cut, 1U);
}

TEST_F(ServerLimitsTest, ASlowBodyIsCut) {
    options_.body_deadline = milliseconds(100);
    Start();
    RawClient client = Client();
    EXPECT_EQ(Drip(client, Post("/echo", std::string(10'000, 'x'))).status, 408);
    EXPECT_TRUE(client.AtEnd());
    RawClient chunked = Client();
    chunked.Send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n");
    EXPECT_EQ(Drip(chunked, std::string(10'000, 'x')).status, 408);
}

TEST_F(ServerLimitsTest, IdleConnectionsAreClosed) {
    options_.idle_timeout = milliseconds(100);
    Start();
    RawClient silent = Client();
    EXPECT_TRUE(silent.AtEnd());
    RawClient once = Client();
    EXPECT_EQ(once.Ask(Get("/hello")).status, 200);
    EXPECT_TRUE(once.AtEnd());
}

TEST_F(ServerLimitsTest, AClientThatNeverReadsIsCut) {
    const std::string large(std::size_t{16} * 1024 * 1024, 'x');
    router_.Add({HttpMethod::kGet, "/large", Permission::kPublic, "Much.", Where::kInline,
                 [&large](const Request&) { return TextResponse(200, large); }});
    options_.write_deadline = milliseconds(100);
    options_.min_rate_bytes = std::size_t{1024} * 1024 * 1024;
    Start();
    RawClient client = Client(4096);
    client.Send(Get("/large"));
    // The client keeps sending until the server cuts the connection.
    const std::string requests = Get("/large") + Get("/large") + Get("/large");
    while (client.Send(requests)) {
    }
    EXPECT_EQ(Ask(Get("/hello")).status, 200);
    EXPECT_GE(server_->statistics().connections_cut, 1U);
}

TEST_F(ServerLimitsTest, AThousandIdleConnectionsDisturbNobody) {
    // Both ends of each connection are in this process, so raise its descriptor limit.
    rlimit files{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = std::min<rlim_t>(files.rlim_max, std::max<rlim_t>(files.rlim_cur, 4096));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
    options_.max_connections_per_address = 2000;
    Start();
    std::vector<RawClient> idle;
    for (int i = 0; i < 1000; ++i) {
        idle.push_back(Client());
        ASSERT_TRUE(idle.back().connected());
        idle.back().Send(i % 2 == 0 ? "" : "GET /hel");
    }
    RawClient client = Client();
    for (int i = 0; i < 200; ++i) {
        ASSERT_EQ(client.Ask(Get(i % 2 == 0 ? "/hello" : "/pool")).status, 200);
    }
    for (std::size_t i = 1; i < idle.size(); i += 2) {
        idle.at(i).Send("lo HTTP/1.1\r\nHost: t\r\n\r\n");
    }
    for (std::size_t i = 1; i < idle.size(); i += 2) ASSERT_EQ(idle.at(i).Read().body, "hello");
}

TEST_F(ServerLimitsTest, OneAddressHasSoManyConnections) {
    options_.max_connections_per_address = 2;
    const Statistics& statistics = Start().statistics();
    {
        RawClient first = Client();
        RawClient second = Client();
        EXPECT_EQ(first.Ask(Get("/hello")).status, 200);
        EXPECT_EQ(second.Ask(Get("/hello")).status, 200);
        RawClient third = Client();
        EXPECT_TRUE(third.AtEnd());
        EXPECT_EQ(statistics.connections_refused, 1U);
        // The server closes the connection, so its place is free when the client sees the end.
        EXPECT_EQ(first.Ask(Get("/hello", "Connection: close\r\n")).status, 200);
        first.ShutdownSend();
        EXPECT_TRUE(first.AtEnd());
    }
}

TEST_F(ServerLimitsTest, AllAddressesTogetherHaveSoManyConnections) {
    options_.max_connections = 1;
    Start();
    RawClient first = Client();
    EXPECT_EQ(first.Ask(Get("/hello")).status, 200);
    EXPECT_TRUE(Client().AtEnd());
    EXPECT_EQ(first.Ask(Get("/hello")).status, 200);
}

}  // namespace
}  // namespace ksana::http_server
