#include <atomic>
#include <optional>
#include <thread>

#include "ksana/http_server/server_fixture.hpp"

namespace ksana::http_server {
namespace {

using testing::RawAnswer;
using testing::RawClient;

// Graceful stop: requests in flight finish, idle connections close at once.
class ServerStopTest : public ServerTest {
  protected:
    ServerStopTest() {
        options_.linger = std::chrono::milliseconds(100);
        router_.Add({HttpMethod::kGet, "/blocks", Permission::kPublic, "Waits.", Where::kPool,
                     [this](const Request&) {
                         entered_.Set();
                         release_.Wait();
                         return TextResponse(200, "finished");
                     }});
    }
    ~ServerStopTest() override { release_.Set(); }

    Signal entered_;
    Signal release_;
};

TEST_F(ServerStopTest, ARequestUnderWayIsFinished) {
    Start();
    RawClient idle = Client();
    EXPECT_EQ(idle.Ask(Get("/hello")).status, 200);
    RawClient client = Client();
    client.Send(Get("/blocks"));
    ASSERT_TRUE(entered_.Wait());
    std::jthread stopper([this] { server_->Stop(); });
    EXPECT_TRUE(idle.AtEnd());  // closed at once
    const RawClient late = Client();
    EXPECT_FALSE(late.connected());
    release_.Set();
    const RawAnswer answer = client.Read();
    EXPECT_EQ(answer.body, "finished");
    EXPECT_EQ(answer.Field("Connection"), "close");
    EXPECT_TRUE(client.AtEnd());
}

TEST_F(ServerStopTest, ARequestThatIsStillArrivingIsFinished) {
    Start();
    RawClient idle = Client();
    EXPECT_EQ(idle.Ask(Get("/hello")).status, 200);
    RawClient client = Client();
    const std::string request = Post("/echo", "body");
    // The first answer proves that the server has received the partial request sent with it.
    client.Send(Get("/hello") + request.substr(0, 10));
    EXPECT_EQ(client.Read().body, "hello");
    std::jthread stopper([this] { server_->Stop(); });
    EXPECT_TRUE(idle.AtEnd());
    const RawAnswer answer = client.Ask(request.substr(10));
    EXPECT_EQ(answer.body, "body");
    EXPECT_EQ(answer.Field("Connection"), "close");
}

TEST_F(ServerStopTest, AfterTheDrainTimeEverythingIsClosed) {
    options_.drain = std::chrono::milliseconds(50);
    Start();
    RawClient half = Client();
    half.Send("GET /hel");
    RawClient client = Client();
    client.Send(Get("/blocks"));
    ASSERT_TRUE(entered_.Wait());
    std::jthread stopper([this] { server_->Stop(); });
    EXPECT_TRUE(half.AtEnd());
    EXPECT_TRUE(client.AtEnd());
    release_.Set();  // Stop waits for the handler and drops its answer
}

TEST_F(ServerStopTest, ParkedPollsCanBeAnsweredWhenItDrains) {
    std::optional<Reply> parked;
    router_.Add({HttpMethod::kGet, "/poll", Permission::kPublic, "Answers later.", Where::kInline,
                 [&](const Request&&, Reply reply) {
                     parked.emplace(std::move(reply));
                     entered_.Set();
                 }});
    options_.on_drain = [&parked] { parked->Send(NoContent()); };
    Start();
    RawClient client = Client();
    client.Send(Get("/poll"));
    ASSERT_TRUE(entered_.Wait());
    server_->Stop();
    EXPECT_EQ(client.Read().status, 204);
}

TEST_F(ServerStopTest, ItCanBeStartedAgain) {
    Start();
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(Ask(Get("/pool")).body, "pool");
        server_->Stop();
        EXPECT_FALSE(Client().connected());
        ASSERT_TRUE(server_->Start());
    }
    EXPECT_EQ(Ask(Get("/pool")).body, "pool");
}

TEST_F(ServerStopTest, StopsAndStartsUnderLoad) {
    options_.io_threads = 2;
    Server& server = Start();
    std::atomic<bool> over{false};
    std::atomic<int> answered{0};
    {
        std::vector<std::jthread> crowd;
        for (int i = 0; i < 3; ++i) {
            crowd.emplace_back([&] {
                while (!over) {
                    RawClient client(server.port());
                    client.Send(Get("/pool") + Get("/hello") + Get("/pool"));
                    while (client.Read().status == 200 && !over) {
                        ++answered;
                        client.Send(Get("/pool"));
                    }
                }
            });
        }
        for (int i = 0; i < 20; ++i) {
            const int before = answered;
            while (answered < before + 10) EXPECT_EQ(Ask(Get("/hello")).status, 200);
            server.Stop();
            ASSERT_TRUE(server.Start());
        }
        over = true;
        server.Stop();
    }
    EXPECT_EQ(server.statistics().connections_open, 0U);
}

}  // namespace
}  // namespace ksana::http_server
