#include <thread>

#include "ksana/base/time/fake_clock.hpp"
#include "ksana/lock_redis/redis_fixture.hpp"
#include "support/tcp_proxy.hpp"

// G-07: one server, and what can happen to it while a lock is held.

namespace ksana::lock_redis {
namespace {

using testing::PrivateRedis;
using testing::TcpProxy;

class OneRedisTest : public RedisTest {
  protected:
    std::string Text(const std::vector<std::string>& words) { return redis_.Run(words).text; }
    std::int64_t Number(const std::vector<std::string>& words) { return redis_.Run(words).integer; }

    PrivateRedis redis_;
    std::unique_ptr<lock::LockDriver> driver_ = Open({redis_.server()});
    std::unique_ptr<lock::LockDriver> other_ = Open({redis_.server()});
};

TEST_F(OneRedisTest, TheKeyHoldsTheTokenAndExpires) {
    const auto grant = Take(*driver_, Stamped("token-1", 77));
    ASSERT_TRUE(grant);
    EXPECT_EQ(grant->valid_for, kLong);
    EXPECT_EQ(Text({"GET", "job:1"}), "token-1");
    EXPECT_LE(Number({"PTTL", "job:1"}), 60'000);
    EXPECT_GT(Number({"PTTL", "job:1"}), 1'000);
    EXPECT_EQ(Text({"HGET", "{job:1}:state", "fence"}), std::to_string(grant->fence));
    EXPECT_EQ(Text({"HGET", "{job:1}:state", "stamp"}), "77");
    EXPECT_GT(Number({"TTL", "{job:1}:state"}), 86'000);
    ASSERT_TRUE(driver_->Release(Request("token-1"), grant->fence));
    EXPECT_EQ(Number({"EXISTS", "job:1"}), 0);
    EXPECT_EQ(driver_->Location(), NameOf(redis_.server()));
}

TEST_F(OneRedisTest, OtherUsersOfTheServerAreRespected) {
    EXPECT_EQ(Text({"SET", "job:1", "foreign", "NX", "PX", "60000"}), "OK");
    EXPECT_FALSE(Take(*driver_, Request("t1")));
    EXPECT_EQ(Text({"GET", "job:1"}), "foreign");
    redis_.Run({"DEL", "job:1"});
    ASSERT_TRUE(Take(*driver_, Request("t1")));
    EXPECT_EQ(redis_.Run({"SET", "job:1", "foreign", "NX", "PX", "60000"}).kind, Reply::Kind::kNil);
}

TEST_F(OneRedisTest, AShortTtlIsOneMillisecond) {
    const auto grant = Take(*driver_, Request("t1", Duration(1)));
    ASSERT_TRUE(grant);
    EXPECT_EQ(grant->valid_for, Duration(1));
    EXPECT_TRUE(TakeSoon(*other_, Request("t2")));
}

TEST_F(OneRedisTest, ALongRenewedLockKeepsItsState) {
    const auto grant = Take(*driver_, Request("t1"));
    ASSERT_TRUE(grant);
    redis_.Run({"EXPIRE", "{job:1}:state", "60"});
    EXPECT_TRUE(driver_->Renew(Request("t1", std::chrono::hours(100)), grant->fence));
    EXPECT_GT(Number({"TTL", "{job:1}:state"}), 199 * 3600);
    EXPECT_GT(Number({"TTL", "job:1"}), 99 * 3600);
}

TEST_F(OneRedisTest, LostDataLosesTheLockButNotTheOrderOfFences) {
    const auto first = Take(*driver_, Request("t1"));
    ASSERT_TRUE(first);
    redis_.Run({"FLUSHALL"});
    EXPECT_EQ(CodeOf(driver_->Renew(Request("t1"), first->fence)), Code::kLeaseLost);
    EXPECT_EQ(CodeOf(driver_->Release(Request("t1"), first->fence)), Code::kLeaseLost);
    const auto second = Take(*other_, Request("t2"));
    ASSERT_TRUE(second);
    EXPECT_GT(second->fence, first->fence);
}

TEST_F(OneRedisTest, ARestartLosesTheLockButNotTheOrderOfFences) {
    const auto first = Take(*driver_, Request("t1"));
    ASSERT_TRUE(first);
    redis_.Restart();
    EXPECT_EQ(CodeOf(driver_->Renew(Request("t1"), first->fence)), Code::kLeaseLost);
    const auto second = Take(*driver_, Request("t2"));
    ASSERT_TRUE(second) << "on a new connection, with scripts that the server has to learn again";
    EXPECT_GT(second->fence, first->fence);
}

TEST_F(OneRedisTest, AStolenLockIsLost) {
    const auto grant = Take(*driver_, Request("t1"));
    ASSERT_TRUE(grant);
    redis_.Run({"SET", "job:1", "thief"});
    EXPECT_EQ(CodeOf(driver_->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    EXPECT_EQ(CodeOf(driver_->Release(Request("t1"), grant->fence)), Code::kLeaseLost);
    EXPECT_EQ(Text({"GET", "job:1"}), "thief");
}

TEST_F(OneRedisTest, AKeyOfAnotherTypeIsAConflict) {
    const auto grant = Take(*driver_, Request("t1"));
    ASSERT_TRUE(grant);
    redis_.Run({"DEL", "job:1"});
    redis_.Run({"RPUSH", "job:1", "entry"});
    const auto tried = driver_->Try(Request("t1"));
    EXPECT_EQ(CodeOf(tried), Code::kConflict);
    EXPECT_NE(tried.error().message.find("not a lock"), std::string::npos);
    EXPECT_EQ(CodeOf(driver_->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    EXPECT_EQ(Number({"LLEN", "job:1"}), 1);
    redis_.Run({"DEL", "job:1", "{job:1}:state"});
    redis_.Run({"SET", "{job:1}:state", "x"});
    EXPECT_EQ(CodeOf(driver_->Try(Request("t1"))), Code::kConflict);
    EXPECT_EQ(Number({"EXISTS", "job:1"}), 0) << "refused before anything was written";
}

TEST_F(OneRedisTest, ScriptsAreLearnedAgain) {
    for (int i = 0; i < 2; ++i) {
        const auto grant = Take(*driver_, Request("t1"));
        ASSERT_TRUE(grant);
        redis_.Run({"SCRIPT", "FLUSH"});
        ASSERT_TRUE(driver_->Renew(Request("t1"), grant->fence));
        ASSERT_TRUE(driver_->Release(Request("t1"), grant->fence));
    }
}

TEST_F(OneRedisTest, AServerThatRefusesIsUnavailable) {
    redis_.Run({"REPLICAOF", "127.0.0.1", "1"});
    const auto tried = driver_->Try(Request("t1"));
    EXPECT_EQ(CodeOf(tried), Code::kUnavailable);
    EXPECT_NE(tried.error().message.find("READONLY"), std::string::npos) << tried.error().message;
    EXPECT_EQ(tried.error().message.find("user_script"), std::string::npos)
        << tried.error().message;
    redis_.Run({"REPLICAOF", "NO", "ONE"});
    EXPECT_TRUE(Take(*driver_, Request("t1")));
    redis_.Run({"CONFIG", "SET", "maxmemory", "1"});
    const auto full = driver_->Try(Request("t1"));
    EXPECT_EQ(CodeOf(full), Code::kUnavailable);
    EXPECT_NE(full.error().message.find("OOM"), std::string::npos) << full.error().message;
    redis_.Run({"CONFIG", "SET", "maxmemory", "0"});
    redis_.Run({"CONFIG", "SET", "requirepass", "secret"});
    auto stranger = Open({redis_.server()});
    const auto unknown = stranger->Try(Request("t2"));
    ASSERT_EQ(CodeOf(unknown), Code::kUnavailable);
    EXPECT_NE(unknown.error().message.find("NOAUTH"), std::string::npos) << unknown.error().message;
}

TEST_F(OneRedisTest, AStoppedServerIsUnavailableInTime) {
    auto hasty = Open({redis_.server()}, std::chrono::milliseconds(150));
    const auto grant = TakeSoon(*hasty, Request("t1"));
    ASSERT_TRUE(grant);
    redis_.Pause();
    const SteadyPoint before = clock_.SteadyNow();
    EXPECT_EQ(CodeOf(hasty->Try(Request("t1"))), Code::kUnavailable);
    EXPECT_EQ(CodeOf(hasty->Renew(Request("t1"), grant->fence)), Code::kUnavailable);
    EXPECT_EQ(CodeOf(hasty->Release(Request("t1"), grant->fence)), Code::kUnavailable);
    EXPECT_LT(clock_.SteadyNow() - before, std::chrono::seconds(5));
    EXPECT_GE(clock_.SteadyNow() - before, std::chrono::milliseconds(400));
    redis_.Continue();
    EXPECT_TRUE(TakeSoon(*hasty, Request("t1"))) << "the answers to the old requests are not read";
}

TEST_F(OneRedisTest, ADeadServerIsUnavailable) {
    ASSERT_TRUE(Take(*driver_, Request("t1")));
    redis_.Kill();
    const auto tried = driver_->Try(Request("t1"));
    EXPECT_EQ(CodeOf(tried), Code::kUnavailable);
    EXPECT_NE(tried.error().message.find(NameOf(redis_.server())), std::string::npos);
    redis_.Restart();
    EXPECT_TRUE(Take(*driver_, Request("t1")));
}

// A command whose connection was cut is sent again. The trigger stands in all that Redis says.
TEST_F(OneRedisTest, ACutConnectionIsReplaced) {
    TcpProxy proxy(redis_.server().port, "\r\n");
    RedisServer behind = redis_.server();
    behind.port = proxy.port();
    auto driver = Open({behind});
    std::int64_t stamp = 1;
    auto grant = Take(*driver, Stamped("t1", stamp));
    ASSERT_TRUE(grant);
    int cuts = 0;
    for (const TcpProxy::Mode mode : {TcpProxy::Mode::kCutBefore, TcpProxy::Mode::kCutAfter}) {
        proxy.Set(mode);
        EXPECT_TRUE(driver->Renew(Request("t1"), grant->fence));
        EXPECT_EQ(proxy.cuts(), ++cuts);
        proxy.Set(mode);
        EXPECT_TRUE(driver->Release(Request("t1"), grant->fence));
        EXPECT_EQ(proxy.cuts(), ++cuts);
        proxy.Set(mode);
        const std::int64_t last = grant->fence;
        grant = Take(*driver, Stamped("t1", ++stamp));
        ASSERT_TRUE(grant) << "its own stamp does not stand in the way";
        EXPECT_EQ(proxy.cuts(), ++cuts);
        EXPECT_GT(grant->fence, last);
        const auto used = driver->Try(Stamped("t1", stamp));
        ASSERT_TRUE(used);
        EXPECT_FALSE(used->grant) << "but that of an earlier call does";
    }
    proxy.Set(TcpProxy::Mode::kCutBefore, TcpProxy::Mode::kRefuse);
    EXPECT_EQ(CodeOf(driver->Renew(Request("t1"), grant->fence)), Code::kUnavailable);
    proxy.Set(TcpProxy::Mode::kPass);
    EXPECT_TRUE(driver->Renew(Request("t1"), grant->fence));
}

TEST_F(OneRedisTest, EightThreadsShareADriver) {
    std::atomic<int> granted{0};
    std::atomic<int> holders{0};
    std::atomic<int> faults{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&, i] {
                const lock::LockRequest request = Request("t" + std::to_string(i));
                for (int n = 0; n < 200; ++n) {
                    const auto answer = driver_->Try(request);
                    if (!answer) ++faults;
                    if (!answer || !answer->grant) continue;
                    if (++holders != 1) ++faults;
                    ++granted;
                    --holders;
                    if (!driver_->Release(request, answer->grant->fence)) ++faults;
                }
            });
        }
    }
    EXPECT_EQ(faults, 0);
    EXPECT_GT(granted, 0);
}

TEST_F(OneRedisTest, TheWallClockOfTheProcessDoesNotMatter) {
    FakeClock clock;
    auto opened = OpenRedisLocks({.servers = {redis_.server()}, .clock = clock});
    ASSERT_TRUE(opened);
    lock::LockDriver& driver = **opened;
    const auto grant = Take(driver, Request("t1"));
    ASSERT_TRUE(grant);
    for (const int seconds : {90, -180, 90}) {
        clock.JumpWall(std::chrono::seconds(seconds));
        EXPECT_FALSE(Take(*other_, Request("t2"))) << "still held";
        const auto renewed = driver.Renew(Request("t1"), grant->fence);
        ASSERT_TRUE(renewed);
        EXPECT_EQ(renewed->valid_for, kLong);
    }
    EXPECT_LE(Number({"PTTL", "job:1"}), 60'000);
}

TEST_F(RedisTest, UsersPasswordsAndDatabases) {
    PrivateRedis redis("--requirepass secret");
    RedisServer server = redis.server();
    EXPECT_EQ(CodeOf(Open({server})->Try(Request("t1"))), Code::kUnavailable) << "NOAUTH";
    server.password = "wrong-secret";
    const auto wrong = Open({server})->Try(Request("t1"));
    EXPECT_EQ(CodeOf(wrong), Code::kUnavailable);
    EXPECT_NE(wrong.error().message.find("WRONGPASS"), std::string::npos) << wrong.error().message;
    EXPECT_EQ(wrong.error().message.find("secret"), std::string::npos) << wrong.error().message;
    server.password = "secret";
    EXPECT_TRUE(Take(*Open({server}), Request("t1")));
    testing::RunRedis(server, {"ACL", "SETUSER", "me", "on", ">mine", "~*", "+@all"});
    RedisServer mine = server;
    mine.user = "me";
    mine.password = "mine";
    mine.database = 3;
    auto driver = Open({mine});
    EXPECT_TRUE(Take(*driver, Request("t2"))) << "another database has other locks";
    EXPECT_TRUE(driver->Location().ends_with("/3"));
    EXPECT_EQ(testing::RunRedis(mine, {"GET", "job:1"}).text, "t2");
    mine.database = 99;
    const auto outside = Open({mine})->Try(Request("t1"));
    EXPECT_EQ(CodeOf(outside), Code::kUnavailable);
    EXPECT_NE(outside.error().message.find("DB index"), std::string::npos);
}

}  // namespace
}  // namespace ksana::lock_redis
