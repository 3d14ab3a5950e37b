#include <gtest/gtest.h>

#include "ksana/worker/http_wire.hpp"
#include "support/raw_server.hpp"

namespace ksana::worker {
namespace {

using testing::RawPeer;
using testing::RawServer;

// Sends one call and waits for its answer.
class HttpWireTest : public ::testing::Test {
  protected:
    WireAnswer Call(HttpWire& wire) {
        Mutex mutex;
        CondVar changed;
        std::optional<WireAnswer> got;
        wire.Send({.path = "/api/v1/agent/claim", .body = "{}"}, [&](WireAnswer answer) {
            const MutexLock lock(mutex);
            got = std::move(answer);
            changed.NotifyAll();
        });
        MutexLock lock(mutex);
        changed.Wait(lock, [&] { return got.has_value(); });
        return *std::move(got);
    }
    std::unique_ptr<HttpWire> Open(std::string servers) {
        auto wire = HttpWire::Make({.servers = std::move(servers), .ca_file = {}, .token = {}},
                                   clock_, random_);
        EXPECT_TRUE(wire) << wire.error().Describe();
        EXPECT_TRUE((*wire)->Start());
        return *std::move(wire);
    }

    SystemClock clock_;
    SystemRandom random_;
};

std::string Answered(std::string_view status, std::string_view body) {
    return "HTTP/1.1 " + std::string(status) +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + std::string(body);
}

// A port that nobody listens on: that of a server that has stopped.
std::string AwayUrl() {
    RawServer gone([](RawPeer&) {});
    return gone.Url("");
}

TEST_F(HttpWireTest, AwayServerIsLeftForTheNextAtOnce) {
    RawServer there([](RawPeer& peer) {
        while (peer.Read()) peer.Send(Answered("200 OK", R"({"runs":[]})"));
    });
    const auto wire = Open(AwayUrl() + "," + there.Url(""));
    const WireAnswer first = Call(*wire);
    ASSERT_TRUE(first.error);
    EXPECT_EQ(first.pause, Duration::zero()) << "there is another server";
    EXPECT_EQ(wire->turns(), 1U);
    const WireAnswer second = Call(*wire);
    EXPECT_FALSE(second.error);
    EXPECT_TRUE(second.json.Has("/runs"));
    EXPECT_TRUE(wire->reachable());
}

TEST_F(HttpWireTest, PausesGrowWhenNoneIsThere) {
    const auto wire = Open(AwayUrl());
    Duration last{};
    for (int n = 0; n < 6; ++n) {
        const WireAnswer answer = Call(*wire);
        ASSERT_TRUE(answer.error);
        EXPECT_EQ(answer.error->code, Code::kUnavailable);
        last = answer.pause;
    }
    EXPECT_GE(last, std::chrono::milliseconds(1600));
    EXPECT_FALSE(wire->reachable());
}

TEST_F(HttpWireTest, RefusalIsNoReasonToLeave) {
    RawServer there([](RawPeer& peer) {
        while (peer.Read()) {
            peer.Send(Answered("409 Conflict",
                               R"({"type":"about:blank","code":"lease_lost","detail":"no"})"));
        }
    });
    const auto wire = Open(there.Url("") + "," + AwayUrl());
    const WireAnswer answer = Call(*wire);
    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(answer.error->code, Code::kLeaseLost);
    EXPECT_EQ(wire->turns(), 0U);
}

TEST(ServerListTest, NamesThePartThatIsNoUrl) {
    const auto list = ServerList::Parse("http://a:1,ftp://b");
    ASSERT_FALSE(list);
    EXPECT_NE(list.error().message.find("ftp://b"), std::string::npos);
    EXPECT_FALSE(ServerList::Parse(""));
    EXPECT_TRUE(ServerList::Parse("http://a:1,https://b/prefix/"));
}

TEST(ServerListTest, FailureOfALeftServerChangesNothing) {
    SeededRandom random(1);
    ServerList list = ServerList::Parse("http://a:1,http://b:1").value();
    EXPECT_EQ(list.NoteFailure(0, random), Duration::zero());
    EXPECT_EQ(list.current(), "http://b:1");
    list.NoteFailure(0, random);
    EXPECT_EQ(list.current(), "http://b:1");
    EXPECT_GT(list.NoteFailure(1, random), Duration::zero()) << "none is left";
    EXPECT_EQ(list.current(), "http://a:1");
}

}  // namespace
}  // namespace ksana::worker
