#include <thread>

#include "ksana/http_server/routing/stream.hpp"
#include "ksana/http_server/server_fixture.hpp"

namespace ksana::http_server {
namespace {

using testing::RawClient;

constexpr std::size_t kLimit = 64 * 1024;

// Streamed answers: /stream answers with `stream_`.
class ServerStreamTest : public ServerTest {
  protected:
    ServerStreamTest() {
        options_.linger = std::chrono::milliseconds(100);
        stream_->OnRoom([this] { room_.Set(); });
        const auto answer = [this](const Request&) {
            Response response{.status = 200, .content_type = "text/event-stream"};
            response.stream = stream_;
            asked_.Set();
            return response;
        };
        router_.Add({HttpMethod::kGet, "/stream", Permission::kPublic, "Goes on.", Where::kPool,
                     Handler(answer)});
    }
    // The server's threads use the signals, so it is destroyed first.
    ~ServerStreamTest() override { server_.reset(); }

    std::shared_ptr<Stream> stream_ = std::make_shared<Stream>(kLimit);
    Signal asked_;
    Signal room_;
};

TEST_F(ServerStreamTest, GoesOutPieceByPieceUntilItsEnd) {
    Start();
    RawClient client = Client();
    client.Send(Get("/stream"));
    EXPECT_TRUE(client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200"));
    EXPECT_TRUE(stream_->TryPush("first"));
    EXPECT_EQ(client.ReadUntil("first\r\n"), "5\r\nfirst\r\n");
    EXPECT_TRUE(stream_->TryPush("another"));
    EXPECT_EQ(client.ReadUntil("another\r\n"), "7\r\nanother\r\n");
    stream_->End();
    EXPECT_FALSE(stream_->TryPush("too late"));
    EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "0\r\n\r\n");
    EXPECT_TRUE(client.AtEnd());
}

TEST_F(ServerStreamTest, ItsHeadSaysHowItGoesOn) {
    Start();
    stream_->TryPush("before anybody asked");
    stream_->End();
    RawClient client = Client();
    client.Send(Get("/stream"));
    const std::string head = client.ReadUntil("\r\n\r\n");
    EXPECT_NE(head.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos) << head;
    EXPECT_NE(head.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);
    EXPECT_EQ(client.ReadUntil("0\r\n\r\n"), "14\r\nbefore anybody asked\r\n0\r\n\r\n");
}

TEST_F(ServerStreamTest, AnOldClientReadsUntilTheClose) {
    Start();
    stream_->TryPush("text");
    stream_->End();
    RawClient client = Client();
    client.Send("GET /stream HTTP/1.0\r\n\r\n");
    EXPECT_EQ(client.ReadUntil("\r\n\r\n").find("Transfer-Encoding"), std::string::npos);
    EXPECT_EQ(client.ReadUntil("text"), "text");
    EXPECT_TRUE(client.AtEnd());
}

TEST_F(ServerStreamTest, HeadHasNoBody) {
    Start();
    RawClient client = Client();
    client.Send("HEAD /stream HTTP/1.1\r\nHost: test\r\n\r\n");
    EXPECT_TRUE(client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200"));
    EXPECT_TRUE(client.AtEnd());
    EXPECT_TRUE(stream_->over());
}

TEST_F(ServerStreamTest, AClientThatGoesIsNoticed) {
    Start();
    {
        RawClient client = Client();
        client.Send(Get("/stream"));
        client.ReadUntil("\r\n\r\n");
    }
    EXPECT_TRUE(room_.Wait()) << "told that nobody reads any more";
    EXPECT_TRUE(stream_->over());
    EXPECT_FALSE(stream_->TryPush("x"));
}

TEST_F(ServerStreamTest, ASlowReaderBoundsWhatWaitsAndIsCut) {
    options_.write_deadline = std::chrono::milliseconds(200);
    options_.min_rate_bytes = std::size_t{1024} * 1024;
    Start();
    RawClient client = Client(4096);
    client.Send(Get("/stream"));
    client.ReadUntil("\r\n\r\n");
    const std::string text(16 * 1024, 'x');
    std::size_t refused = 0;
    while (!stream_->over()) {  // ends when the server cuts the client, which reads nothing
        if (stream_->TryPush(text)) continue;
        ++refused;
        std::this_thread::yield();
    }
    EXPECT_GT(refused, 0U);
    EXPECT_EQ(server_->statistics().connections_cut, 1U);
}

TEST_F(ServerStreamTest, RoomIsToldToWhoWasRefused) {
    Start();
    EXPECT_TRUE(stream_->TryPush(std::string(kLimit, 'x')));
    EXPECT_FALSE(stream_->TryPush("y"));
    RawClient client = Client();
    client.Send(Get("/stream"));
    EXPECT_TRUE(room_.Wait());
    EXPECT_TRUE(stream_->TryPush("y"));
    stream_->End();
    EXPECT_TRUE(client.ReadUntil("0\r\n\r\n").ends_with("1\r\ny\r\n0\r\n\r\n"));
}

TEST_F(ServerStreamTest, AStopEndsItInOrder) {
    Start();
    RawClient client = Client();
    client.Send(Get("/stream"));
    client.ReadUntil("\r\n\r\n");
    stream_->TryPush("last words");
    std::jthread stopper([this] { server_->Stop(); });
    EXPECT_TRUE(client.ReadUntil("0\r\n\r\n").ends_with("last words\r\n0\r\n\r\n"));
    EXPECT_TRUE(client.AtEnd());
    stopper.join();
    EXPECT_TRUE(stream_->over());
}

}  // namespace
}  // namespace ksana::http_server
