#include "ksana/client/api_client.hpp"
#include "ksana/base/process/mutex.hpp"

#include <gtest/gtest.h>

#include "ksana/base/ids/random.hpp"
#include "ksana/client/api_list.hpp"
#include "support/raw_server.hpp"

namespace ksana::client {
namespace {

using codec::Json;
using testing::RawPeer;
using testing::RawRequest;
using testing::RawServer;

constexpr std::string_view kJson = "Content-Type: application/json\r\n";

// A server that answers by a function and records the requests.
class ApiClientTest : public ::testing::Test {
  protected:
    using Answer = std::function<void(RawPeer&, const RawRequest&)>;

    ApiClient& Connect(Answer answer, ApiClientOptions options = {}) {
        server_ = std::make_unique<RawServer>([this, answer = std::move(answer)](RawPeer& peer) {
            while (const auto request = peer.Read()) {
                {
                    const MutexLock lock(mutex_);
                    requests_.push_back(*request);
                }
                answer(peer, *request);
                if (closes_) return;
            }
        });
        options.server = server_->Url("");
        client_ = ApiClient::Make(std::move(options), {clock_, ids_}).value();
        return *client_;
    }
    RawRequest Asked(std::size_t n) {
        const MutexLock lock(mutex_);
        return requests_.at(n);
    }
    std::size_t AskedCount() {
        const MutexLock lock(mutex_);
        return requests_.size();
    }

    SystemClock clock_;
    SystemRandom random_;
    UuidGenerator ids_{clock_, random_};
    std::atomic<bool> closes_{false};  // close the connection after every answer
    Mutex mutex_;
    std::vector<RawRequest> requests_ KSANA_GUARDED_BY(mutex_);
    std::unique_ptr<RawServer> server_;
    std::unique_ptr<ApiClient> client_;
};

TEST_F(ApiClientTest, SaysWhoAsksAndReadsJson) {
    ApiClient& api =
        Connect([](RawPeer& peer, const RawRequest&) { peer.Answer(200, R"({"id": "x"})", kJson); },
                {.token = "0123456789abcdef"});
    const auto answer = api.Get(ApiPath({"jobs", "a b/c"}), {{"q", "x&y"}});
    ASSERT_TRUE(answer) << answer.error().Describe();
    EXPECT_EQ(answer->json.TextAt("/id"), "x");
    EXPECT_EQ(Asked(0).Line(), "GET /api/v1/jobs/a%20b%2Fc?q=x%26y HTTP/1.1");
    EXPECT_EQ(Asked(0).Header("Authorization"), "Bearer 0123456789abcdef");
    EXPECT_FALSE(Asked(0).Header("Idempotency-Key"));
}

TEST_F(ApiClientTest, SendsConditionsAndKeys) {
    ApiClient& api = Connect([](RawPeer& peer, const RawRequest&) { peer.Answer(204); });
    const Json body = Json().With("/a", Json::Of(true));
    ASSERT_TRUE(api.Post("/p", body));
    ASSERT_TRUE(api.Post("/p"));
    ASSERT_TRUE(api.Put("/p", body, "\"3\""));
    ASSERT_TRUE(api.Put("/p", body, std::string(ApiClient::kMustBeNew)));
    ASSERT_TRUE(api.Patch("/p", body));
    ASSERT_TRUE(api.Delete("/p", "\"4\""));
    EXPECT_EQ(Asked(0).body, R"({"a":true})");
    EXPECT_EQ(Asked(0).Header("Content-Type"), "application/json");
    EXPECT_NE(Asked(0).Header("Idempotency-Key"), Asked(1).Header("Idempotency-Key"));
    EXPECT_EQ(Asked(2).Header("If-Match"), "\"3\"");
    EXPECT_EQ(Asked(3).Header("If-None-Match"), "*");
    EXPECT_EQ(Asked(4).Header("Content-Type"), "application/merge-patch+json");
    EXPECT_EQ(Asked(5).Line(), "DELETE /p HTTP/1.1");
    EXPECT_EQ(Asked(5).Header("If-Match"), "\"4\"");
}

TEST_F(ApiClientTest, APostWhoseAnswerIsLostIsSentAgainUnderItsKey) {
    closes_ = true;
    std::atomic<int> calls{0};
    ApiClient& api = Connect([&](RawPeer& peer, const RawRequest&) {
        if (++calls == 1) {
            peer.Send("HTTP/1.1 200 OK\r\nContent-Len");
        } else {
            peer.Answer(200, "{}", kJson);
        }
    });
    ASSERT_TRUE(api.Post("/p"));
    ASSERT_EQ(AskedCount(), 2U);
    EXPECT_EQ(Asked(0).Header("Idempotency-Key"), Asked(1).Header("Idempotency-Key"));
}

TEST_F(ApiClientTest, ADeleteWhoseAnswerIsLostIsNot) {
    closes_ = true;
    ApiClient& api =
        Connect([](RawPeer& peer, const RawRequest&) { peer.Send("HTTP/1.1 200 OK\r\nConten"); });
    EXPECT_EQ(api.Delete("/p").error().code, Code::kUnavailable);
    EXPECT_EQ(AskedCount(), 1U);
}

TEST_F(ApiClientTest, FailuresHaveTheirCodes) {
    ApiClient& api = Connect(
        [](RawPeer& peer, const RawRequest& request) {
            if (request.Line().find("/late") != std::string::npos) {
                peer.AwaitClose();
            } else {
                peer.Answer(200, "{nothing", kJson);
            }
        },
        {.timeout = std::chrono::milliseconds(200)});
    EXPECT_EQ(api.Get("/late").error().code, Code::kDeadlineExceeded);
    EXPECT_EQ(api.Get("/odd").error().code, Code::kInvalidArgument);
    const std::string gone = server_->Url("");
    server_.reset();
    auto none = ApiClient::Make({.server = gone}, {clock_, ids_}).value();
    const Error error = none->Get("/x").error();
    EXPECT_EQ(error.code, Code::kUnavailable);
    EXPECT_TRUE(error.message.starts_with("cannot reach " + gone)) << error.message;
}

TEST_F(ApiClientTest, WhatIsNoServerOfOursIsNotTakenForOne) {
    ApiClient& api = Connect([](RawPeer& peer, const RawRequest& request) {
        if (request.Line().find("/moved") != std::string::npos) {
            peer.Answer(302, "", "Location: https://elsewhere/\r\n");
        } else {
            peer.Answer(200, "<html>", "Content-Type: text/html\r\n");
        }
    });
    for (const std::string_view path : {"/api/v1/jobs", "/moved"}) {
        const auto answer = api.Get(std::string(path));
        ASSERT_FALSE(answer) << path;
        EXPECT_EQ(answer.error().code, Code::kInternal);
        EXPECT_NE(answer.error().message.find("does not speak"), std::string::npos);
    }
    EXPECT_EQ(api.Get("/metrics").value().body, "<html>") << "not everything is JSON";
}

TEST_F(ApiClientTest, AnInterruptionEndsTheWait) {
    ApiClient& api = Connect([](RawPeer& peer, const RawRequest&) { peer.AwaitClose(); },
                             {.interrupted = [] { return true; }});
    EXPECT_FALSE(api.Get("/never"));
}

TEST_F(ApiClientTest, RefusesWhatIsNoServer) {
    for (const std::string_view bad :
         {"", "localhost:7100", "ftp://x", "http://", "http:///x", "http://a b",
          "http://user:secret@host", "http://x?y=1", "http://\xff"}) {
        EXPECT_FALSE(ApiClient::Make({.server = std::string(bad)}, {clock_, ids_})) << bad;
    }
    EXPECT_TRUE(ApiClient::Make({.server = "https://h/prefix/"}, {clock_, ids_}));
}

TEST_F(ApiClientTest, ListsFollowTheirCursor) {
    ApiClient& api = Connect([](RawPeer& peer, const RawRequest& request) {
        const bool second = request.Line().find("cursor=c1") != std::string::npos;
        peer.Answer(200,
                    second ? R"({"items": [3], "next_cursor": null})"
                           : R"({"items": [1, 2], "next_cursor": "c1"})",
                    kJson);
    });
    const auto all = ListAll(api, "/l", {{"q", "x"}}, 10);
    ASSERT_TRUE(all) << all.error().Describe();
    EXPECT_EQ(all->AsPage().Compact(), R"({"items":[1,2,3],"next_cursor":null})");
    EXPECT_EQ(Asked(0).Line(), "GET /l?q=x&limit=10 HTTP/1.1");
    EXPECT_EQ(Asked(1).Line(), "GET /l?q=x&limit=8&cursor=c1 HTTP/1.1");
    const auto two = ListAll(api, "/l", {}, 2);
    ASSERT_TRUE(two);
    EXPECT_EQ(two->next_cursor, "c1");
    EXPECT_EQ(two->items.size(), 2U);
}

TEST_F(ApiClientTest, AListWithoutAnEndIsGivenUp) {
    ApiClient& api = Connect([](RawPeer& peer, const RawRequest&) {
        peer.Answer(200, R"({"items": [], "next_cursor": "again"})", kJson);
    });
    EXPECT_FALSE(ListAll(api, "/l", {}, 10));
}

}  // namespace
}  // namespace ksana::client
