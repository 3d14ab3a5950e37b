#include <fmt/core.h>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/lock_etcd/lock_text.hpp"
#include "locks/etcd_fixture.hpp"

// G-07: an operator changes keys and leases by hand, and clocks jump.

namespace ksana::locks {
namespace {

using lock_etcd::ToBase64;

class EtcdHandsTest : public ::testing::Test {
  protected:
    codec::Json Post(std::string_view path, const std::string& body) const {
        return EtcdPost(port_, path, body);
    }
    codec::Json ReadKey(const std::string& key) const {
        return Post("/v3/kv/range", fmt::format(R"({{"key":"{}"}})", ToBase64(key))).At("/kvs/0");
    }
    void Write(const std::string& key, const std::string& value) const {
        Post("/v3/kv/put",
             fmt::format(R"({{"key":"{}","value":"{}"}})", ToBase64(key), ToBase64(value)));
    }
    void Drop(const std::string& key) const {
        Post("/v3/kv/deleterange", fmt::format(R"({{"key":"{}"}})", ToBase64(key)));
    }
    void ExpectLost(const lock::LockRequest& request, std::int64_t fence) const {
        EXPECT_EQ(FaultOf(driver_->Renew(request, fence)), Code::kLeaseLost);
        EXPECT_EQ(FaultOf(driver_->Release(request, fence)), Code::kLeaseLost);
    }

    const std::uint16_t port_ = testing::EtcdPort();
    const std::string key_ = UniqueKey();
    const SystemClock clock_;
    const std::unique_ptr<lock::LockDriver> driver_ = OpenEtcd(EtcdOptions(port_, clock_));
};

TEST_F(EtcdHandsTest, ARevokedLeaseIsALostLock) {
    const auto grant = Take(*driver_, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    const std::string lease = ReadKey(key_).TextAt("/lease");
    Post("/v3/lease/revoke", fmt::format(R"({{"ID":"{}"}})", lease));
    ExpectLost(Request(key_, "t1"), grant->fence);
    const auto next = Take(*driver_, Request(key_, "t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence);
}

TEST_F(EtcdHandsTest, ADeletedKeyIsALostLock) {
    const auto grant = Take(*driver_, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    Drop(key_);
    ExpectLost(Request(key_, "t1"), grant->fence);
    const auto next = Take(*driver_, Request(key_, "t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence);
    ExpectLost(Request(key_, "t1"), grant->fence);
    EXPECT_TRUE(driver_->Renew(Request(key_, "t2"), next->fence)) << "the late holder freed it";
}

TEST_F(EtcdHandsTest, AStolenKeyIsALostLock) {
    const auto grant = Take(*driver_, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    for (const std::string value : {"thief", "", "+1:t1", "+99999999999999999999:t1"}) {
        Write(key_, value);
        ExpectLost(Request(key_, "t1"), grant->fence);
        EXPECT_FALSE(Take(*driver_, Request(key_, "t2"))) << value;
        EXPECT_EQ(ReadKey(key_).TextAt("/value"), ToBase64(value)) << "the thief's value stays";
    }
    Drop(key_);
    EXPECT_TRUE(Take(*driver_, Request(key_, "t2")));
}

TEST_F(EtcdHandsTest, TheSameValueWithoutALeaseIsNotHeld) {
    auto grant = Take(*driver_, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    // With another TTL the value has the fence itself, which a copy repeats.
    ASSERT_TRUE(driver_->Renew(Request(key_, "t1", seconds(90)), grant->fence));
    Write(key_, fmt::format("={}:t1", grant->fence));
    ExpectLost(Request(key_, "t1"), grant->fence);
}

TEST_F(EtcdHandsTest, AStampWrittenByHandIsReplaced) {
    Write(lock_etcd::StampKey(key_), "nonsense");
    const auto answer = driver_->Try(Request(key_, "t1", seconds(60), 5));
    ASSERT_TRUE(answer) << answer.error().Describe();
    EXPECT_TRUE(answer->grant);
    EXPECT_EQ(answer->last_stamp, 5);
}

TEST_F(EtcdHandsTest, AFenceKeyWithNonsenseIsReported) {
    auto options = EtcdOptions(port_, clock_);
    options.fence_key = key_ + ":base";
    const auto driver = OpenEtcd(options);
    Write(options.fence_key, "nonsense");
    EXPECT_EQ(FaultOf(driver->Try(Request(key_, "t1"))), Code::kDataLoss);
    Drop(options.fence_key);
    EXPECT_TRUE(Take(*driver, Request(key_, "t1")));
}

TEST_F(EtcdHandsTest, AnotherTtlExchangesTheLease) {
    const auto grant = Take(*driver_, Request(key_, "t1", seconds(30)));
    ASSERT_TRUE(grant);
    const std::string first = ReadKey(key_).TextAt("/lease");
    for (const Duration ttl : {Duration(seconds(90)), Duration(seconds(20))}) {
        const auto renewed = driver_->Renew(Request(key_, "t1", ttl), grant->fence);
        ASSERT_TRUE(renewed) << renewed.error().Describe();
        EXPECT_EQ(renewed->fence, grant->fence);
        EXPECT_EQ(renewed->valid_for, ttl);
        const codec::Json lease =
            Post("/v3/lease/timetolive",
                 fmt::format(R"({{"ID":"{}"}})", ReadKey(key_).TextAt("/lease")));
        EXPECT_EQ(lease.TextAt("/grantedTTL"), std::to_string(ttl / seconds(1)));
    }
    const std::string last = ReadKey(key_).TextAt("/lease");
    ASSERT_TRUE(driver_->Renew(Request(key_, "t1", seconds(20)), grant->fence));
    EXPECT_EQ(ReadKey(key_).TextAt("/lease"), last) << "the same TTL keeps the lease";
    EXPECT_FALSE(Take(*driver_, Request(key_, "t2")));
    EXPECT_TRUE(Eventually([&] {
        return Post("/v3/lease/timetolive", fmt::format(R"({{"ID":"{}"}})", first))
                   .TextAt("/TTL") == "-1";
    })) << "the first lease was not given back";
    EXPECT_TRUE(driver_->Release(Request(key_, "t1"), grant->fence));
    EXPECT_TRUE(ReadKey(key_).IsNull());
}

TEST_F(EtcdHandsTest, ATtlIsRoundedUpToSeconds) {
    const Duration ttl = std::chrono::milliseconds(20'001);
    const auto grant = Take(*driver_, Request(key_, "t1", ttl));
    ASSERT_TRUE(grant);
    EXPECT_EQ(grant->valid_for, ttl);
    const codec::Json lease = Post("/v3/lease/timetolive",
                                   fmt::format(R"({{"ID":"{}"}})", ReadKey(key_).TextAt("/lease")));
    EXPECT_EQ(lease.TextAt("/grantedTTL"), "21");
}

// G-06: the clock of the process does not matter.
TEST_F(EtcdHandsTest, ClocksMayJump) {
    FakeClock ahead;
    FakeClock behind;
    ahead.JumpWall(seconds(90));
    behind.JumpWall(-seconds(90));
    const auto first = OpenEtcd(EtcdOptions(port_, ahead));
    const auto second = OpenEtcd(EtcdOptions(port_, behind));
    const auto grant = Take(*first, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    EXPECT_FALSE(Take(*second, Request(key_, "t2")));
    ahead.JumpWall(-seconds(180));
    behind.JumpWall(seconds(180));
    EXPECT_FALSE(Take(*second, Request(key_, "t2")));
    EXPECT_TRUE(first->Renew(Request(key_, "t1"), grant->fence));
    EXPECT_TRUE(first->Release(Request(key_, "t1"), grant->fence));
    const auto next = Take(*second, Request(key_, "t2", testing::kEtcdShortestTtl));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence);
    // Neither clock moves: the server's time lets the lock expire.
    std::optional<lock::Grant> last;
    EXPECT_TRUE(Eventually([&] { return (last = Take(*first, Request(key_, "t1"))).has_value(); }));
    ASSERT_TRUE(last);
    EXPECT_GT(last->fence, next->fence);
}

}  // namespace
}  // namespace ksana::locks
