#include "ksana/http_client/plain/plain_pool.hpp"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/http_client/client_fixture.hpp"
#include "ksana/http_client/plain/plain_call.hpp"

// Timeouts of minutes, with a fake clock. The test runs the pool on its own thread.

namespace ksana::http_client {
namespace {

using std::chrono::seconds;

class PlainPoolTest : public ::testing::Test {
  protected:
    ~PlainPoolTest() override { close(epoll_fd_); }

    // Runs one call to its end and returns it.
    std::unique_ptr<PlainCall> Call(const std::string& url) {
        Submission submission;
        submission.request.url = url;
        submission.plain = PlainRequestOf(submission.request);
        auto call = std::make_unique<PlainCall>(std::move(submission), clock_.SteadyNow());
        pool_.Begin(*call);
        std::vector<PlainCall*> ended;
        for (pool_.TakeEnded(ended); ended.empty(); pool_.TakeEnded(ended)) PumpOnce();
        EXPECT_EQ(ended.size(), 1U);
        return call;
    }

    void PumpOnce() {
        epoll_event event{};
        if (epoll_wait(epoll_fd_, &event, 1, -1) == 1) pool_.OnEvent(event.data.u64, event.events);
    }

    FakeClock clock_;
    const int epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
    const ClientOptions options_;
    Counters counters_;
    WatchList others_{epoll_fd_};
    PlainPool pool_{{options_, clock_, counters_, others_, epoll_fd_}};
};

void AnswerAlways(RawPeer& peer) {
    while (peer.Read()) peer.Answer(204);
}

TEST_F(PlainPoolTest, AConnectionThatIdlesForLongIsClosed) {
    Signal closed;
    const RawServer server([&closed](RawPeer& peer) {
        AnswerAlways(peer);
        closed.Raise();
    });
    EXPECT_EQ(pool_.NextTimer(), std::nullopt);
    EXPECT_EQ(Call(server.Url())->answer.status, 204);
    EXPECT_EQ(pool_.NextTimer(), clock_.SteadyNow() + kLongestIdle);
    clock_.Advance(kLongestIdle - seconds(1));
    pool_.RunTimers();
    EXPECT_EQ(pool_.open(), 1U);
    clock_.Advance(seconds(1));
    pool_.RunTimers();
    EXPECT_EQ(pool_.open(), 0U);
    EXPECT_EQ(pool_.NextTimer(), std::nullopt);
    closed.Await();
}

TEST_F(PlainPoolTest, AConnectionIsNotUsedForEver) {
    const RawServer server(AnswerAlways);
    for (seconds age{0}; age < kMaxConnectionLife; age += seconds(100)) {
        EXPECT_EQ(Call(server.Url())->answer.reused, age > seconds(0)) << age.count();
        clock_.Advance(seconds(100));
    }
    clock_.Advance(seconds(1));
    EXPECT_FALSE(Call(server.Url())->answer.reused);
    EXPECT_EQ(pool_.open(), 1U);
}

TEST_F(PlainPoolTest, ANameIsForLibcurlUnlessItsAddressIsFresh) {
    const RawServer server(AnswerAlways);
    const std::string host = "some-host:" + std::to_string(server.port());
    const std::string url = "http://" + host + "/";
    EXPECT_EQ(Call(url)->state, PlainCall::State::kRefused);
    pool_.Learn(host, *ParseIpAddress("127.0.0.1"));
    EXPECT_EQ(Call(url)->answer.status, 204);
    clock_.Advance(AddressCache::kKept);
    EXPECT_TRUE(Call(url)->answer.reused) << "the connection does not ask for the name";
    clock_.Advance(kLongestIdle);
    pool_.RunTimers();
    EXPECT_EQ(Call(url)->state, PlainCall::State::kRefused);
    EXPECT_EQ(server.accepted(), 1);
}

TEST_F(PlainPoolTest, ARememberedAddressThatRefusesIsForgotten) {
    std::uint16_t port = 0;
    {
        port = RawServer([](RawPeer&) {}).port();
    }
    const std::string host = "some-host:" + std::to_string(port);
    pool_.Learn(host, *ParseIpAddress("127.0.0.1"));
    EXPECT_EQ(Call("http://" + host + "/")->state, PlainCall::State::kRefused);
    EXPECT_EQ(counters_.connections_made, 1U);
    EXPECT_EQ(Call("http://" + host + "/")->state, PlainCall::State::kRefused);
    EXPECT_EQ(counters_.connections_made, 1U) << "not tried again";
}

}  // namespace
}  // namespace ksana::http_client
