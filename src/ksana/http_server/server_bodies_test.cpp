#include <atomic>
#include <vector>

#include "ksana/base/log/log.hpp"
#include "ksana/http_server/routing/body_budget.hpp"
#include "ksana/http_server/server_fixture.hpp"

namespace ksana::http_server {
namespace {

using testing::RawAnswer;
using testing::RawClient;

constexpr std::size_t kMega = std::size_t{1} << 20;

// Which bodies are read, and how much memory all of them get.
class ServerBodiesTest : public ServerTest {
  protected:
    ServerBodiesTest() {
        SetLogSinkForTest([](LogLevel, std::string_view) {});
        router_.SetAuthorize([](const Request& request, Permission wanted) -> Result<Caller> {
            if (!request.headers.Find("Authorization")) {
                return Error(Code::kUnauthenticated, "who are you?");
            }
            if (wanted == Permission::kAdmin) return Error(Code::kPermissionDenied, "not you");
            return Caller{.name = "someone"};
        });
        for (const Permission permission : {Permission::kWrite, Permission::kAdmin}) {
            router_.Add(Route(HttpMethod::kPost, "/" + std::string(PermissionName(permission)),
                              permission, "Tells the size.", Where::kPool,
                              [](const Request& request) {
                                  return TextResponse(200, std::to_string(request.body.size()));
                              })
                            .WithBodyLimit(64 * kMega));
        }
    }
    ~ServerBodiesTest() override {
        server_.reset();
        SetLogSinkForTest({});
    }

    static std::string Head(const std::string& path, std::size_t length, bool token = true) {
        return "POST " + path +
               " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(length) + "\r\n" +
               (token ? "Authorization: x\r\n" : "") + "\r\n";
    }
    // Adds a route that holds its request until `release`.
    void AddHolding(Signal& entered, Signal& release) {
        router_.Add(Route(HttpMethod::kPost, "/hold", Permission::kWrite, "Waits.", Where::kPool,
                          [&](const Request& request) {
                              entered.Set();
                              release.Wait();
                              return TextResponse(200, std::to_string(request.body.size()));
                          })
                        .WithBodyLimit(64 * kMega));
    }
};

TEST_F(ServerBodiesTest, ABodyWithoutPermissionIsNotRead) {
    Start();
    // No byte of the bodies is sent: the answers come from the heads.
    for (const bool chunked : {false, true}) {
        for (const auto& [path, token, status] :
             {std::tuple("/write", false, 401), std::tuple("/admin", false, 401),
              std::tuple("/admin", true, 403), std::tuple("/nowhere", true, 404),
              std::tuple("/hello", true, 405)}) {
            std::string head = Head(path, 60 * kMega, token);
            if (chunked) {
                const std::string length = "Content-Length: " + std::to_string(60 * kMega);
                head.replace(head.find(length), length.size(), "Transfer-Encoding: chunked");
            }
            RawClient client = Client();
            client.Send(head);
            const RawAnswer answer = client.Read();
            EXPECT_EQ(answer.status, status) << path;
            EXPECT_EQ(answer.Field("Connection"), "close") << path;
        }
    }
}

TEST_F(ServerBodiesTest, AClientThatSendsItsBodyAllTheSameReadsTheRefusal) {
    Start();
    RawClient client = Client();
    client.Send(Head("/write", 8 * kMega, false) + std::string(8 * kMega, 'x'));
    EXPECT_EQ(client.Read().status, 401);
    EXPECT_TRUE(client.AtEnd());
}

TEST_F(ServerBodiesTest, ASmallBodyThatCameWithTheHeadIsSkipped) {
    Start();
    RawClient client = Client();
    client.Send(Head("/write", 5, false) + "hello" + Head("/write", 5) + "hello");
    EXPECT_EQ(client.Read().status, 401);
    EXPECT_EQ(client.Read().body, "5");
}

TEST_F(ServerBodiesTest, ARouteWithoutABodyTakesNone) {
    Start();
    RawClient client = Client();
    client.Send("GET /hello HTTP/1.1\r\nHost: test\r\nContent-Length: 5000\r\n\r\n");
    EXPECT_EQ(client.Read().status, 413);
}

TEST_F(ServerBodiesTest, BodiesShareABudget) {
    options_.max_bodies_bytes = 4 * kMega;
    Signal entered;
    Signal release;
    AddHolding(entered, release);
    const Statistics& statistics = Start().statistics();
    // More than the whole budget never fits.
    EXPECT_EQ(Ask(Head("/write", 5 * kMega)).status, 413);
    // While a handler has three quarters, another large body does not fit, and small ones do.
    RawClient holder = Client();
    holder.Send(Head("/hold", 3 * kMega) + std::string(3 * kMega, 'x'));
    ASSERT_TRUE(entered.Wait());
    for (const bool chunked : {false, true}) {
        RawClient second = Client();
        if (chunked) {
            second.Send(
                "POST /write HTTP/1.1\r\nHost: test\r\nAuthorization: x\r\n"
                "Transfer-Encoding: chunked\r\n\r\n" +
                std::string("200000\r\n") + std::string(2 * kMega, 'x') + "\r\n0\r\n\r\n");
        } else {
            second.Send(Head("/write", 2 * kMega) + std::string(2 * kMega, 'x'));
        }
        const RawAnswer refused = second.Read();
        EXPECT_EQ(refused.status, 503);
        EXPECT_EQ(refused.Field("Retry-After"), "1");
        EXPECT_EQ(refused.Field("Connection"), "close");
    }
    EXPECT_EQ(statistics.bodies_refused, 2U);
    EXPECT_EQ(Ask(Head("/write", 1000) + std::string(1000, 'x')).body, "1000");
    release.Set();
    EXPECT_EQ(holder.Read().body, std::to_string(3 * kMega));
    EXPECT_EQ(Ask(Head("/write", 2 * kMega) + std::string(2 * kMega, 'x')).body,
              std::to_string(2 * kMega));
}

TEST_F(ServerBodiesTest, SmallBodiesHaveRoomBesidesLargeOnes) {
    options_.max_bodies_bytes = kMega;
    Signal entered;
    Signal release;
    AddHolding(entered, release);
    Start();
    // Large bodies that never end take all that large ones may have.
    std::vector<RawClient> slow;
    for (int i = 0; i < 20; ++i) {
        slow.push_back(Client());
        slow.back().Send(Head("/write", kMega) + std::string(kMega / 16, 'x'));
    }
    EXPECT_EQ(Ask(Head("/write", 60'000) + std::string(60'000, 'x')).body, "60000");
    release.Set();
}

TEST_F(ServerBodiesTest, ABodyThatIsCutGivesItsRoomBack) {
    options_.max_bodies_bytes = 2 * kMega;
    Start();
    for (int i = 0; i < 20; ++i) {
        RawClient client = Client();
        client.Send(Head("/write", kMega) + std::string(kMega / 2, 'x'));
        client.Reset();
    }
    // The server may notice the last reset only after the next request.
    RawAnswer answer;
    for (int tries = 0; tries < 1000 && answer.status != 200; ++tries) {
        answer = Ask(Head("/write", kMega) + std::string(kMega, 'x'));
    }
    EXPECT_EQ(answer.body, std::to_string(kMega));
}

TEST(BodyBudgetTest, GivesNoMoreThanItHas) {
    const auto budget = std::make_shared<BodyBudget>(100);
    {
        BodyRoom large(budget, false);
        BodyRoom small(budget, true);
        EXPECT_TRUE(large.Grow(60));
        EXPECT_FALSE(large.Grow(41));
        EXPECT_TRUE(large.Grow(40));
        EXPECT_TRUE(small.Grow(25));
        EXPECT_FALSE(small.Grow(1));
        EXPECT_FALSE(large.Grow(static_cast<std::size_t>(-1)));
        EXPECT_EQ(budget->used(), 125U);
    }
    EXPECT_EQ(budget->used(), 0U);
}

}  // namespace
}  // namespace ksana::http_server
