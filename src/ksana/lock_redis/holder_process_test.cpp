#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ksana/lock_redis/redis_fixture.hpp"

// G-07: the holder is another process, and ends or stands still.

namespace ksana::lock_redis {
namespace {

// A process that takes the lock for `ttl`, says so, waits for a byte, renews, and says how that
// went: 'R' renewed, 'L' lost, 'x' anything else. The destructor kills it.
class HolderProcess {
  public:
    HolderProcess(const RedisServer& server, const lock::LockRequest& request) {
        if (::pipe(to_.data()) != 0 || ::pipe(from_.data()) != 0) return;
        child_ = ::fork();
        if (child_ != 0) return;
        Hold(server, request);
        ::_exit(0);
    }
    HolderProcess(const HolderProcess&) = delete;
    HolderProcess& operator=(const HolderProcess&) = delete;
    ~HolderProcess() {
        Kill();
        for (const int end : {to_[0], to_[1], from_[0], from_[1]}) ::close(end);
    }

    pid_t id() const { return child_; }
    char Read() const {
        char byte = 0;
        return ::read(from_[0], &byte, 1) == 1 ? byte : '\0';
    }
    void Write() const { EXPECT_EQ(::write(to_[1], "g", 1), 1); }
    void Kill() {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = 0;
    }

  private:
    void Say(char byte) const {
        if (::write(from_[1], &byte, 1) != 1) ::_exit(1);
    }
    void Hold(const RedisServer& server, const lock::LockRequest& request) const {
        const SystemClock clock;
        auto opened = OpenRedisLocks({.servers = {server}, .clock = clock});
        if (!opened) return Say('x');
        const auto answer = (*opened)->Try(request);
        if (!answer || !answer->grant) return Say('x');
        Say('H');
        char byte = 0;
        if (::read(to_[0], &byte, 1) != 1) return;
        const auto renewed = (*opened)->Renew(request, answer->grant->fence);
        if (renewed) return Say('R');
        Say(renewed.error().code == Code::kLeaseLost ? 'L' : 'x');
    }

    std::array<int, 2> to_{-1, -1};
    std::array<int, 2> from_{-1, -1};
    pid_t child_ = 0;
};

class HolderProcessTest : public RedisTest {
  protected:
    static constexpr Duration kTtl = std::chrono::milliseconds(700);

    testing::PrivateRedis redis_;
};

TEST_F(HolderProcessTest, ALivingHolderRenews) {
    HolderProcess holder(redis_.server(), Request("child"));
    ASSERT_EQ(holder.Read(), 'H');
    EXPECT_FALSE(Take(*Open({redis_.server()}), Request("t1")));
    holder.Write();
    EXPECT_EQ(holder.Read(), 'R');
}

TEST_F(HolderProcessTest, TheLockOfAKilledHolderExpires) {
    const SteadyPoint before = clock_.SteadyNow();
    HolderProcess holder(redis_.server(), Request("child", kTtl));
    ASSERT_EQ(holder.Read(), 'H');
    holder.Kill();
    ASSERT_TRUE(TakeSoon(*Open({redis_.server()}), Request("t1")));
    EXPECT_GE(clock_.SteadyNow() - before, kTtl) << "not earlier";
}

TEST_F(HolderProcessTest, AHolderThatStoodStillHasLost) {
    HolderProcess holder(redis_.server(), Request("child", kTtl));
    ASSERT_EQ(holder.Read(), 'H');
    ::kill(holder.id(), SIGSTOP);
    auto driver = Open({redis_.server()});
    const auto grant = TakeSoon(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    holder.Write();
    ::kill(holder.id(), SIGCONT);
    EXPECT_EQ(holder.Read(), 'L');
    EXPECT_TRUE(driver->Renew(Request("t1"), grant->fence)) << "nothing changed for us";
}

}  // namespace
}  // namespace ksana::lock_redis
