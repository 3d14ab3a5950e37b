#include <algorithm>

#include "ksana/lock_redis/redis_fixture.hpp"
#include "support/tcp_proxy.hpp"

// G-07: three independent servers, of which one may fail.

namespace ksana::lock_redis {
namespace {

using testing::PrivateRedis;
using testing::TcpProxy;

class MajorityTest : public RedisTest {
  protected:
    std::vector<RedisServer> Servers() const {
        return {redis_[0].server(), redis_[1].server(), redis_[2].server()};
    }
    // How many servers have this token at the key.
    int Holding(const std::string& token) {
        int count = 0;
        for (PrivateRedis& redis : redis_) {
            if (redis.Run({"GET", "job:1"}).text == token) ++count;
        }
        return count;
    }

    std::array<PrivateRedis, 3> redis_;
    std::unique_ptr<lock::LockDriver> driver_ = Open(Servers());
    std::unique_ptr<lock::LockDriver> other_ = Open(Servers());
};

TEST_F(MajorityTest, AllServersHaveTheLockAndItsFence) {
    const auto grant = Take(*driver_, Request("t1"));
    ASSERT_TRUE(grant);
    EXPECT_LE(grant->valid_for, kLong - kLong / 100 - std::chrono::milliseconds(2));
    EXPECT_GT(grant->valid_for, kLong / 2);
    for (PrivateRedis& redis : redis_) {
        EXPECT_EQ(redis.Run({"GET", "job:1"}).text, "t1");
        EXPECT_EQ(redis.Run({"HGET", "{job:1}:state", "fence"}).text, std::to_string(grant->fence));
    }
    EXPECT_FALSE(Take(*other_, Request("t2")));
    EXPECT_EQ(Holding("t1"), 3);
    EXPECT_TRUE(driver_->Renew(Request("t1"), grant->fence));
    EXPECT_TRUE(driver_->Release(Request("t1"), grant->fence));
    EXPECT_EQ(Holding(""), 3);
    EXPECT_EQ(std::ranges::count(driver_->Location(), ','), 2);
}

TEST_F(MajorityTest, OneServerMayBeDead) {
    std::int64_t last = 0;
    for (PrivateRedis& dead : redis_) {
        dead.Kill();
        const auto grant = Take(*driver_, Request("t1"));
        ASSERT_TRUE(grant);
        EXPECT_GT(grant->fence, last);
        EXPECT_FALSE(Take(*other_, Request("t2")));
        EXPECT_TRUE(driver_->Renew(Request("t1"), grant->fence));
        EXPECT_TRUE(driver_->Release(Request("t1"), grant->fence));
        dead.Restart();
        ASSERT_TRUE(TakeSoon(*driver_, Request("all")));
        const auto again = Take(*driver_, Request("all"));
        ASSERT_TRUE(again && driver_->Release(Request("all"), again->fence));
        EXPECT_GT(again->fence, grant->fence);
        last = again->fence;
    }
}

TEST_F(MajorityTest, AServerThatStandsStillCostsLittle) {
    constexpr Duration kTtl = std::chrono::seconds(4);
    for (PrivateRedis& still : redis_) {
        auto driver = Open(Servers(), std::chrono::milliseconds(300));
        const auto first = TakeSoon(*driver, Request("t1"));
        ASSERT_TRUE(first && driver->Release(Request("t1"), first->fence));
        still.Pause();
        SteadyPoint before = clock_.SteadyNow();
        const auto grant = Take(*driver, Request("t1", kTtl));
        ASSERT_TRUE(grant);
        EXPECT_LT(clock_.SteadyNow() - before, kTtl / 2);
        before = clock_.SteadyNow();
        int tries = 0;
        while (tries < 100 && Take(*driver, Request("t1"))) ++tries;
        EXPECT_EQ(tries, 100);
        // A full timeout each would be 30 s; one comes after each second in which it is left out.
        EXPECT_LT(clock_.SteadyNow() - before, std::chrono::seconds(10));
        still.Continue();
        for (PrivateRedis& redis : redis_) redis.Run({"DEL", "job:1"});
    }
}

TEST_F(MajorityTest, TwoDeadServersAreTooMany) {
    const auto grant = Take(*driver_, Request("t1"));
    ASSERT_TRUE(grant);
    redis_[0].Kill();
    redis_[2].Kill();
    const auto tried = driver_->Try(Request("t1"));
    EXPECT_EQ(CodeOf(tried), Code::kUnavailable);
    EXPECT_NE(tried.error().message.find("2 of 3"), std::string::npos) << tried.error().message;
    EXPECT_EQ(CodeOf(driver_->Renew(Request("t1"), grant->fence)), Code::kUnavailable);
    EXPECT_EQ(CodeOf(other_->Try(Request("t2"))), Code::kUnavailable);
    redis_[0].Restart();
    redis_[2].Restart();
    EXPECT_TRUE(TakeSoon(*driver_, Request("t1")));
}

// A request that fails leaves nothing behind, so that its stamp can be used by the next one.
TEST_F(MajorityTest, AnAttemptWithoutAMajorityIsTakenBack) {
    ASSERT_TRUE(Take(*driver_, Stamped("t1", 5)));
    for (PrivateRedis& redis : redis_) redis.Run({"DEL", "job:1"});
    redis_[1].Run({"SET", "job:1", "foreign"});
    redis_[2].Run({"SET", "job:1", "foreign"});
    const auto refused = driver_->Try(Stamped("t1", 6));
    ASSERT_TRUE(refused) << refused.error().Describe();
    EXPECT_FALSE(refused->grant);
    EXPECT_EQ(refused->last_stamp, 5);
    EXPECT_EQ(redis_[0].Run({"EXISTS", "job:1"}).integer, 0);
    EXPECT_EQ(redis_[0].Run({"HGET", "{job:1}:state", "stamp"}).text, "5");
    redis_[1].Run({"DEL", "job:1"});
    EXPECT_TRUE(Take(*other_, Stamped("t2", 6))) << "two of three are free";
    EXPECT_EQ(Holding("t2"), 2);
}

TEST_F(MajorityTest, AStampOfOneServerAloneIsNotTold) {
    redis_[0].Run({"HSET", "{job:1}:state", "fence", "1", "stamp", "9"});
    redis_[1].Run({"SET", "job:1", "foreign"});
    const auto refused = driver_->Try(Stamped("t1", 9));
    ASSERT_TRUE(refused);
    EXPECT_FALSE(refused->grant);
    EXPECT_FALSE(refused->last_stamp) << "an attempt that may be taken back";
    redis_[1].Run({"DEL", "job:1"});
    EXPECT_TRUE(Take(*driver_, Stamped("t1", 9))) << "granted by the other two";
    const auto used = driver_->Try(Stamped("t1", 9));
    ASSERT_TRUE(used);
    EXPECT_EQ(used->last_stamp, 9);
}

TEST_F(MajorityTest, AllServersGetTheLargestFence) {
    redis_[2].Run({"HSET", "{job:1}:state", "fence", "4000000000000000"});
    const auto grant = Take(*driver_, Request("t1"));
    ASSERT_TRUE(grant);
    EXPECT_EQ(grant->fence, 4'000'000'000'000'001);
    for (PrivateRedis& redis : redis_) {
        EXPECT_EQ(redis.Run({"HGET", "{job:1}:state", "fence"}).text, "4000000000000001");
    }
    ASSERT_TRUE(driver_->Release(Request("t1"), grant->fence));
    redis_[2].Kill();
    const auto next = Take(*other_, Request("t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence) << "without the server that it came from";
}

TEST_F(MajorityTest, OneServerMayLoseItsData) {
    const auto grant = Take(*driver_, Request("t1"));
    ASSERT_TRUE(grant);
    redis_[0].Run({"FLUSHALL"});
    EXPECT_TRUE(driver_->Renew(Request("t1"), grant->fence));
    EXPECT_FALSE(Take(*other_, Request("t2")));
    redis_[1].Run({"FLUSHALL"});
    EXPECT_EQ(CodeOf(driver_->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    const auto next = Take(*other_, Request("t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence);
    EXPECT_EQ(CodeOf(driver_->Release(Request("t1"), grant->fence)), Code::kLeaseLost);
}

// The process is cut off from two servers: it can neither take nor renew, and others can.
TEST_F(MajorityTest, AProcessInAMinorityHasNoLocks) {
    TcpProxy first(redis_[0].server().port, "\r\n");
    TcpProxy second(redis_[1].server().port, "\r\n");
    std::vector<RedisServer> behind = Servers();
    behind[0].port = first.port();
    behind[1].port = second.port();
    auto lonely = Open(behind, std::chrono::milliseconds(200));
    const auto grant = TakeSoon(*lonely, Request("t1", std::chrono::seconds(3)));
    ASSERT_TRUE(grant);
    first.Set(TcpProxy::Mode::kStall);
    second.Set(TcpProxy::Mode::kRefuse);
    EXPECT_EQ(CodeOf(lonely->Renew(Request("t1"), grant->fence)), Code::kUnavailable);
    const auto next = TakeSoon(*other_, Request("t2"));
    ASSERT_TRUE(next) << "after the TTL on the two servers";
    EXPECT_GT(next->fence, grant->fence);
    first.Set(TcpProxy::Mode::kPass);
    second.Set(TcpProxy::Mode::kPass);
    EXPECT_FALSE(Take(*lonely, Request("t1")));
    EXPECT_TRUE(other_->Renew(Request("t2"), next->fence));
}

}  // namespace
}  // namespace ksana::lock_redis
