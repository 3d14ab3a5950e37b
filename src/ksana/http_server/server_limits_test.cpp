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

// Routes that hold their connection: what a client does that takes all connections.
class CrowdTest : public ServerLimitsTest {
  protected:
    CrowdTest() {
        router_.Add({HttpMethod::kGet, "/parked", Permission::kPublic, "Never answers.",
                     Where::kInline, [this](const Request&&, Reply reply) {
                         const MutexLock lock(mutex_);
                         parked_.push_back(std::move(reply));
                         changed_.NotifyAll();
                     }});
        router_.Add(Route(HttpMethod::kGet, "/live", Permission::kPublic, "Lives.", Where::kInline,
                          [](const Request&) { return TextResponse(200, "live"); })
                        .ForProbes());
        options_.drain = milliseconds(20);
    }

    // Opens connections whose requests are never answered.
    std::vector<RawClient> Park(std::size_t count) {
        std::vector<RawClient> clients;
        for (std::size_t i = 0; i < count; ++i) {
            clients.push_back(Client());
            clients.back().Send(Get("/parked"));
        }
        MutexLock lock(mutex_);
        EXPECT_TRUE(changed_.WaitFor(lock, std::chrono::seconds(20), [&]() KSANA_REQUIRES(mutex_) {
            return parked_.size() == count;
        }));
        return clients;
    }

    Mutex mutex_;
    CondVar changed_;
    std::vector<Reply> parked_ KSANA_GUARDED_BY(mutex_);
};

TEST_F(CrowdTest, IdleConnectionsMakeRoomForNewOnes) {
    for (const std::size_t io_threads : {1, 2}) {
        options_.io_threads = io_threads;
        options_.max_connections_per_address = 4;
        const Statistics& statistics = Start().statistics();
        std::vector<RawClient> idle;
        for (int i = 0; i < 4; ++i) {
            idle.push_back(Client());
            EXPECT_EQ(idle.back().Ask(Get("/hello")).status, 200);
        }
        for (int i = 0; i < 20; ++i) {
            RawClient fresh = Client();
            EXPECT_EQ(fresh.Ask(Get("/hello")).status, 200) << i;
            idle.push_back(std::move(fresh));
        }
        EXPECT_EQ(statistics.connections_refused, 0U);
        EXPECT_EQ(idle.back().Ask(Get("/pool")).status, 200) << "the longest idle goes first";
        server_.reset();
        router_ = Router();
        router_.Add({HttpMethod::kGet, "/hello", Permission::kPublic, "Greets.", Where::kInline,
                     [](const Request&) { return TextResponse(200, "hello"); }});
        router_.Add({HttpMethod::kGet, "/pool", Permission::kPublic, "Greets.", Where::kPool,
                     [](const Request&) { return TextResponse(200, "pool"); }});
    }
}

TEST_F(CrowdTest, OneAddressHasSoManyConnections) {
    options_.max_connections_per_address = 2;
    const Statistics& statistics = Start().statistics();
    const std::vector<RawClient> busy = Park(2);
    RawClient third = Client();
    const RawAnswer refused = third.Ask(Get("/hello"));
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.Field("Retry-After"), "1");
    EXPECT_TRUE(third.AtEnd());
    EXPECT_EQ(statistics.connections_refused, 1U);
}

TEST_F(CrowdTest, AllAddressesTogetherHaveSoManyConnections) {
    options_.max_connections = 1;
    Start();
    const std::vector<RawClient> busy = Park(1);
    EXPECT_EQ(Ask(Get("/hello")).status, 503);
}

TEST_F(CrowdTest, ProbesAreAnsweredWhenAllIsTaken) {
    options_.max_connections = 3;
    options_.reserved_connections = 2;
    Start();
    const std::vector<RawClient> busy = Park(3);
    for (int i = 0; i < 10; ++i) {
        RawClient probe = Client();
        EXPECT_EQ(probe.Ask(Get("/live")).body, "live");
        EXPECT_TRUE(probe.AtEnd()) << "one request";
    }
    // Connections that take the reserve and say nothing give way to new ones.
    std::vector<RawClient> silent;
    for (int i = 0; i < 10; ++i) silent.push_back(Client());
    for (int i = 0; i < 10; ++i) EXPECT_EQ(Ask(Get("/live")).body, "live");
    EXPECT_EQ(Ask(Get("/nowhere")).status, 404);
}

}  // namespace
}  // namespace ksana::http_server
