#include "ksana/http_server/server.hpp"
#include "ksana/base/process/mutex.hpp"

#include <fmt/core.h>

#include "ksana/base/log/log.hpp"
#include "ksana/http_server/server_fixture.hpp"
#include "support/service_stress.hpp"

namespace ksana::http_server {
namespace {

using testing::RawAnswer;
using testing::RawClient;

TEST_F(ServerTest, AnswersWithItsFields) {
    Start();
    const RawAnswer answer = Ask(Get("/hello"));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(answer.Field("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(answer.Field("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer.Field("Cache-Control"), "no-store");
    EXPECT_EQ(answer.Field("X-Request-Id").size(), 16U);
    EXPECT_TRUE(answer.Field("Date").ends_with(" GMT"));
    EXPECT_EQ(answer.Field("Connection"), "");
}

TEST_F(ServerTest, RequestIdsAreTakenOverWhenTheyAreSane) {
    Start();
    RawClient client = Client();
    EXPECT_EQ(client.Ask(Get("/hello", "X-Request-Id: abc-1.2\r\n")).Field("X-Request-Id"),
              "abc-1.2");
    const std::string longest(128, 'x');
    EXPECT_EQ(client.Ask(Get("/hello", "X-Request-Id: " + longest + "\r\n")).Field("X-Request-Id"),
              longest);
    for (const std::string& bad : {longest + "x", std::string("a b"), std::string("\"")}) {
        EXPECT_EQ(
            client.Ask(Get("/hello", "X-Request-Id: " + bad + "\r\n")).Field("X-Request-Id").size(),
            16U);
    }
}

TEST_F(ServerTest, HandlersSeeTheWholeRequest) {
    router_.Add({HttpMethod::kPut, "/jobs/{id}", Permission::kPublic, "Tells what it got.",
                 Where::kPool, [](const Request& request) {
                     return TextResponse(
                         200, fmt::format("{} {} {} {} {} {} {} {}", NameOf(request.method),
                                          request.path, request.Parameter("id"),
                                          request.QueryValue("a").value_or("-"),
                                          request.headers.Find("x-more").value_or("-"),
                                          request.body, request.peer, request.secure));
                 }});
    Start();
    const RawAnswer answer =
        Ask("PUT /jobs/a%20b?a=%C3%B6 HTTP/1.1\r\nHost: test\r\nX-More: yes\r\n"
            "Content-Length: 4\r\n\r\nbody");
    EXPECT_EQ(answer.body, "PUT /jobs/a%20b a b \xC3\xB6 yes body 127.0.0.1 false");
}

TEST_F(ServerTest, PathsThatAreNotThere) {
    Start();
    RawClient client = Client();
    const RawAnswer missing = client.Ask(Get("/nothing?secret=1", "X-Request-Id: r1\r\n"));
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.Field("Content-Type"), "application/problem+json");
    EXPECT_EQ(missing.body,
              R"({"type":"urn:ksana:problem:not_found","title":"Not found","status":404,)"
              R"("detail":"there is nothing at this path","instance":"/nothing",)"
              R"("code":"not_found","request_id":"r1"})");
    EXPECT_EQ(client.Ask(Get("/hello/")).status, 404);
    const RawAnswer other = client.Ask(Post("/hello", "x"));
    EXPECT_EQ(other.status, 405);
    EXPECT_EQ(other.Field("Allow"), "GET, HEAD, OPTIONS");
    EXPECT_EQ(client.Ask(Get("/hello")).status, 200);  // still the same connection
}

TEST_F(ServerTest, HeadAndOptionsAreAnswered) {
    Start();
    RawClient client = Client();
    client.Send("HEAD /hello HTTP/1.1\r\nHost: test\r\n\r\n");
    const RawAnswer head = client.Read(true);
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.Field("Content-Length"), "5");
    const RawAnswer options = client.Ask("OPTIONS /echo HTTP/1.1\r\nHost: test\r\n\r\n");
    EXPECT_EQ(options.status, 204);
    EXPECT_EQ(options.Field("Allow"), "POST, OPTIONS");
    EXPECT_EQ(client.Ask("OPTIONS * HTTP/1.1\r\nHost: test\r\n\r\n").status, 204);
    EXPECT_EQ(client.Ask(Get("http://test/hello")).body, "hello");
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
    Start();
    RawClient client = Client();
    std::string requests;
    for (int i = 0; i < 100; ++i) {
        requests += Post("/echo", std::to_string(i));
        requests += Get(i % 3 == 0 ? "/pool" : "/hello");
    }
    client.Send(requests);
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(client.Read().body, std::to_string(i));
        ASSERT_EQ(client.Read().body, i % 3 == 0 ? "pool" : "hello");
    }
}

TEST_F(ServerTest, ChunkedBodiesArePutTogether) {
    Start();
    RawClient client = Client();
    const std::string head =
        "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";
    EXPECT_EQ(client.Ask(head + "4\r\nbody\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n").body, "body!");
    client.Send(head);
    for (const char c : std::string("3\r\nabc\r\n0\r\n\r\n")) client.Send(std::string(1, c));
    EXPECT_EQ(client.Read().body, "abc");
    EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
}

TEST_F(ServerTest, ExpectContinueIsGranted) {
    Start();
    RawClient client = Client();
    const std::string head =
        "POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
    EXPECT_EQ(client.Ask(head).status, 100);
    EXPECT_EQ(client.Ask("body").body, "body");
    // A client that does not wait for 100 Continue gets none.
    EXPECT_EQ(client.Ask(head + "fast").body, "fast");
    // A request without a route is answered before its body is sent.
    const RawAnswer refused = client.Ask(
        "POST /no HTTP/1.1\r\nHost: test\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(refused.status, 404);
    EXPECT_EQ(refused.Field("Connection"), "close");
    EXPECT_TRUE(client.AtEnd());
}

TEST_F(ServerTest, OldAndTiredClientsAreClosed) {
    Start();
    RawClient old = Client();
    EXPECT_EQ(old.Ask("GET /hello HTTP/1.0\r\n\r\n").Field("Connection"), "close");
    EXPECT_TRUE(old.AtEnd());
    RawClient kept = Client();
    const std::string ask = "GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    EXPECT_EQ(kept.Ask(ask).Field("Connection"), "keep-alive");
    EXPECT_EQ(kept.Ask(ask).body, "hello");
    RawClient tired = Client();
    EXPECT_EQ(tired.Ask(Get("/hello", "Connection: close\r\n")).Field("Connection"), "close");
    EXPECT_TRUE(tired.AtEnd());
}

TEST_F(ServerTest, AHalfClosedClientStillGetsItsAnswers) {
    Start();
    RawClient client = Client();
    client.Send(Get("/pool") + Get("/hello"));
    client.ShutdownSend();
    EXPECT_EQ(client.Read().body, "pool");
    EXPECT_EQ(client.Read().body, "hello");
    EXPECT_TRUE(client.AtEnd());
    RawClient broken = Client();
    broken.Send("GET /hel");
    broken.ShutdownSend();
    EXPECT_TRUE(broken.AtEnd());
}

TEST_F(ServerTest, LargeAnswersArrive) {
    const std::string large(std::size_t{8} * 1024 * 1024, 'x');
    router_.Add({HttpMethod::kGet, "/large", Permission::kPublic, "Much.", Where::kPool,
                 [&large](const Request&) { return TextResponse(200, large); }});
    Start();
    RawClient client = Client();
    client.Send(Get("/large") + Get("/hello"));
    EXPECT_EQ(client.Read().body, large);
    EXPECT_EQ(client.Read().body, "hello");
}

TEST_F(ServerTest, SeveralIoThreadsShareTheConnections) {
    options_.io_threads = 3;
    Start();
    std::vector<RawClient> clients;
    for (int i = 0; i < 12; ++i) clients.push_back(Client());
    for (int round = 0; round < 5; ++round) {
        for (RawClient& client : clients) client.Send(Get("/pool"));
        for (RawClient& client : clients) EXPECT_EQ(client.Read().body, "pool");
    }
}

TEST_F(ServerTest, CountsWhatItDoes) {
    const Statistics& statistics = Start().statistics();
    {
        RawClient client = Client();
        client.Ask(Get("/hello"));
        client.Ask(Get("/hello"));
        client.Ask(Get("/nothing"));
        EXPECT_EQ(statistics.connections_open, 1U);
    }
    server_->Stop();
    EXPECT_EQ(statistics.connections_open, 0U);
    EXPECT_EQ(statistics.connections_accepted, 1U);
    EXPECT_EQ(statistics.answers.at(2), 2U);
    EXPECT_EQ(statistics.answers.at(4), 1U);
}

TEST_F(ServerTest, RequestsAreLogged) {
    Mutex mutex;
    std::vector<std::string> lines;
    ASSERT_TRUE(ConfigureLog({.level = LogLevel::kDebug}));
    SetLogSinkForTest([&](LogLevel, std::string_view line) {
        const MutexLock lock(mutex);
        lines.emplace_back(line);
    });
    Start();
    Ask(Get("/hello?token=secret", "X-Request-Id: r1\r\n"));
    server_->Stop();
    SetLogSinkForTest({});
    ASSERT_TRUE(ConfigureLog({}));
    const auto line = std::find_if(lines.begin(), lines.end(), [](const std::string& text) {
        return text.find("path=/hello ") != std::string::npos;
    });
    ASSERT_NE(line, lines.end());
    for (const char* part : {"method=GET", "status=200", "latency_ms=", "request_id=r1"}) {
        EXPECT_NE(line->find(part), std::string::npos) << *line;
    }
    EXPECT_EQ(line->find("secret"), std::string::npos);
}

TEST_F(ServerTest, StartTellsWhyItCannot) {
    Start();
    ServerOptions taken = options_;
    taken.port = server_->port();
    Server second(taken, Router(), clock_, random_);
    auto started = second.Start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, Code::kUnavailable);
    EXPECT_NE(started.error().message.find("cannot listen on 127.0.0.1"), std::string::npos);
    server_->Stop();
    EXPECT_TRUE(second.Start());  // a failed start leaves nothing behind

    ServerOptions nowhere = options_;
    nowhere.address = "example";
    started = Server(nowhere, Router(), clock_, random_).Start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, Code::kInvalidArgument);
}

TEST_F(ServerTest, KeepsTheRulesOfServices) {
    options_.io_threads = 2;
    SetLogSinkForTest([](LogLevel, std::string_view) {});
    Server server(options_, std::move(router_), clock_, random_);
    testing::StressService(server, 4, 50);
    ASSERT_TRUE(server.Start());
    RawClient client(server.port());
    EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
    server.Stop();
    SetLogSinkForTest({});
}

}  // namespace
}  // namespace ksana::http_server
