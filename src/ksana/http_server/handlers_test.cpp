#include <poll.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

#include "ksana/base/log/log.hpp"
#include "ksana/http_server/server_fixture.hpp"

namespace ksana::http_server {
namespace {

using testing::RawAnswer;
using testing::RawClient;

// Where handlers run, how they fail, and deferred replies.
class HandlersTest : public ServerTest {
  protected:
    HandlersTest() {
        SetLogSinkForTest([](LogLevel, std::string_view) {});
    }
    ~HandlersTest() override {
        server_.reset();
        SetLogSinkForTest({});
    }

    // Adds a route that hands its reply to the test.
    void AddParked(Where where) {
        router_.Add({HttpMethod::kGet, "/parked", Permission::kPublic, "Answers later.", where,
                     [this](const Request&&, Reply reply) {
                         reply_.emplace(std::move(reply));
                         parked_.Set();
                     }});
    }

    std::optional<Reply> reply_;  // set before parked_
    Signal parked_;
};

TEST_F(HandlersTest, ErrorsBecomeProblems) {
    router_.Add(
        {HttpMethod::kGet, "/fails", Permission::kPublic, "Fails.", Where::kPool,
         [](const Request&) -> Result<Response> { return Error(Code::kConflict, "taken"); }});
    Start();
    const RawAnswer answer = Ask(Get("/fails"));
    EXPECT_EQ(answer.status, 409);
    EXPECT_NE(answer.body.find(R"("detail":"taken","instance":"/fails")"), std::string::npos);
}

TEST_F(HandlersTest, WhatIsThrownBecomesA500AndTheServerLives) {
    for (const Where where : {Where::kInline, Where::kPool}) {
        const std::string name = where == Where::kInline ? "inline" : "pool";
        router_.Add({HttpMethod::kGet, "/sync/" + name, Permission::kPublic, "Throws.", where,
                     [](const Request&) -> Response { throw std::runtime_error("secret"); }});
        router_.Add({HttpMethod::kGet, "/odd/" + name, Permission::kPublic, "Throws a number.",
                     where, [](const Request&) -> Response { throw 7; }});
        router_.Add({HttpMethod::kGet, "/async/" + name, Permission::kPublic, "Throws.", where,
                     [](const Request&&, Reply) { throw std::runtime_error("secret"); }});
    }
    Start();
    RawClient client = Client();
    for (const char* path : {"/sync/inline", "/odd/inline", "/async/inline", "/sync/pool",
                             "/odd/pool", "/async/pool"}) {
        const RawAnswer answer = client.Ask(Get(path));
        EXPECT_EQ(answer.status, 500) << path;
        EXPECT_EQ(answer.body.find("secret"), std::string::npos) << path;
    }
    EXPECT_EQ(client.Ask(Get("/hello")).status, 200);
    EXPECT_EQ(server_->statistics().answers.at(5), 6U);
}

TEST_F(HandlersTest, TheHookGuardsEveryKindOfHandler) {
    for (const Where where : {Where::kInline, Where::kPool}) {
        const std::string name = where == Where::kInline ? "inline" : "pool";
        router_.Add({HttpMethod::kGet, "/sync/" + name, Permission::kRead, "Closed.", where,
                     [](const Request&) { return NoContent(); }});
        router_.Add({HttpMethod::kGet, "/async/" + name, Permission::kRead, "Closed.", where,
                     [](const Request&&, Reply reply) { reply.Send(NoContent()); }});
    }
    router_.SetAuthorize([](const Request& request, Permission) -> Result<Caller> {
        const auto token = request.headers.Find("Authorization");
        if (!token) return Error(Code::kUnauthenticated, "who are you?");
        if (*token != "Bearer good") return Error(Code::kPermissionDenied, "not you");
        return Caller{.name = "good"};
    });
    Start();
    RawClient client = Client();
    for (const char* path : {"/sync/inline", "/sync/pool", "/async/inline", "/async/pool"}) {
        const RawAnswer unknown = client.Ask(Get(path));
        EXPECT_EQ(unknown.status, 401) << path;
        EXPECT_EQ(unknown.Field("WWW-Authenticate"), "Bearer");
        EXPECT_EQ(client.Ask(Get(path, "Authorization: Bearer bad\r\n")).status, 403) << path;
        EXPECT_EQ(client.Ask(Get(path, "Authorization: Bearer good\r\n")).status, 204) << path;
    }
}

TEST_F(HandlersTest, ARouteMayTakeLargerOrSmallerBodies) {
    const auto size = [](const Request& request) {
        return TextResponse(200, std::to_string(request.body.size()));
    };
    router_.Add(Route(HttpMethod::kPost, "/large", Permission::kPublic, "Tells the size.",
                      Where::kInline, size)
                    .WithBodyLimit(3'000'000));
    router_.Add(Route(HttpMethod::kPost, "/small", Permission::kPublic, "Tells the size.",
                      Where::kInline, size)
                    .WithBodyLimit(3));
    Start();
    EXPECT_EQ(Ask(Post("/large", std::string(2'000'000, 'x'))).body, "2000000");
    EXPECT_EQ(Ask(Post("/small", "abc")).body, "3");
    EXPECT_EQ(Ask(Post("/small", "abcd")).status, 413);
}

TEST_F(HandlersTest, AReplyMayComeFromAnotherThread) {
    AddParked(Where::kInline);
    Start();
    RawClient client = Client();
    client.Send(Get("/parked") + Get("/hello"));
    ASSERT_TRUE(parked_.Wait());
    EXPECT_FALSE(reply_->client_gone());
    // The parked request blocks no thread: other requests are served.
    EXPECT_EQ(Ask(Get("/pool")).body, "pool");
    std::jthread([this] {
        EXPECT_TRUE(reply_->Send(TextResponse(200, "late")));
        EXPECT_FALSE(reply_->Send(TextResponse(200, "later")));
    }).join();
    EXPECT_EQ(client.Read().body, "late");
    EXPECT_EQ(client.Read().body, "hello");
}

TEST_F(HandlersTest, ADroppedReplyIsA500) {
    AddParked(Where::kPool);
    Start();
    RawClient client = Client();
    client.Send(Get("/parked"));
    ASSERT_TRUE(parked_.Wait());
    reply_.reset();
    EXPECT_EQ(client.Read().status, 500);
    EXPECT_EQ(client.Ask(Get("/hello")).status, 200);
}

TEST_F(HandlersTest, AReplyKnowsThatItsClientHasGone) {
    AddParked(Where::kInline);
    Start();
    RawClient client = Client();
    client.Send(Get("/parked"));
    ASSERT_TRUE(parked_.Wait());
    Signal gone;
    reply_->OnClientGone([&gone] { gone.Set(); });
    client.Close();
    EXPECT_TRUE(gone.Wait());
    EXPECT_TRUE(reply_->client_gone());
    Signal at_once;
    reply_->OnClientGone([&at_once] { at_once.Set(); });
    EXPECT_TRUE(at_once.Wait());
    EXPECT_TRUE(reply_->Send(NoContent()));  // harmless
    EXPECT_EQ(Ask(Get("/hello")).status, 200);
}

TEST_F(HandlersTest, ALostConnectionIsAGoneClientToo) {
    AddParked(Where::kPool);
    Start();
    RawClient client = Client();
    client.Send(Get("/parked"));
    ASSERT_TRUE(parked_.Wait());
    Signal gone;
    reply_->OnClientGone([&gone] { gone.Set(); });
    client.Reset();
    EXPECT_TRUE(gone.Wait());
    reply_.reset();
    EXPECT_EQ(Ask(Get("/hello")).status, 200);
}

TEST_F(HandlersTest, AReplyMayOutliveTheServer) {
    options_.drain = std::chrono::milliseconds(20);
    AddParked(Where::kInline);
    Start();
    RawClient client = Client();
    client.Send(Get("/parked"));
    ASSERT_TRUE(parked_.Wait());
    server_.reset();
    EXPECT_TRUE(client.AtEnd());
    EXPECT_TRUE(reply_->client_gone());
    EXPECT_TRUE(reply_->Send(NoContent()));
}

TEST_F(HandlersTest, AFullPoolRefuses) {
    Signal entered;
    Signal release;
    std::atomic<int> inside{0};
    router_.Add({HttpMethod::kGet, "/blocks", Permission::kPublic, "Waits.", Where::kPool,
                 [&](const Request&) {
                     if (++inside == 1) entered.Set();
                     release.Wait();
                     return NoContent();
                 }});
    options_.pool_threads = 1;
    options_.pool_queue = 2;
    Start();
    std::vector<RawClient> clients;
    clients.push_back(Client());
    clients.back().Send(Get("/blocks"));
    ASSERT_TRUE(entered.Wait());
    // A connection has one request in flight at a time, so filling the queue takes several.
    std::vector<pollfd> sockets;
    for (int i = 0; i < 3; ++i) {
        clients.push_back(Client());
        clients.back().Send(Get("/blocks"));
        sockets.push_back({.fd = clients.back().socket(), .events = POLLIN, .revents = 0});
    }
    // Two of the three requests wait for the pool's thread; the third is rejected at once. Inline
    // routes are still served.
    EXPECT_EQ(::poll(sockets.data(), sockets.size(), 20'000), 1);
    EXPECT_EQ(Ask(Get("/hello")).status, 200);
    release.Set();
    int refused = 0;
    for (RawClient& client : clients) {
        const RawAnswer answer = client.Read();
        if (answer.status == 204) continue;
        EXPECT_EQ(answer.status, 503);
        EXPECT_EQ(answer.Field("Retry-After"), "1");
        ++refused;
    }
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(server_->statistics().pool_refused, 1U);
}

TEST(ReplyTest, HandlersCanBeTestedWithoutAServer) {
    std::vector<int> got;
    const auto make = [&got] {
        return Reply([&got](const Response& response) { got.push_back(response.status); }, "/x",
                     "r1");
    };
    Reply first = make();
    EXPECT_TRUE(first.Fail(Error(Code::kNotFound, "no")));
    EXPECT_FALSE(first.Send(NoContent()));
    SetLogSinkForTest([](LogLevel, std::string_view) {});
    first = make();
    first = make();  // drops the previous reply
    Reply moved = std::move(first);
    EXPECT_TRUE(moved.Send(NoContent()));
    SetLogSinkForTest({});
    EXPECT_EQ(got, (std::vector<int>{404, 500, 204}));
}

}  // namespace
}  // namespace ksana::http_server
