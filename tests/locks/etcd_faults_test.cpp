#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "locks/etcd_fixture.hpp"

// G-07: servers and holders that end, stop and forget.

namespace ksana::locks {
namespace {

// A process that holds a lock (etcd_holder.cpp). The destructor kills it.
class Holder {
  public:
    Holder(std::uint16_t port, const std::string& key, const std::string& ttl) {
        std::array<int, 2> in{};
        std::array<int, 2> out{};
        EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC) + ::pipe2(out.data(), O_CLOEXEC), 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, in[0], 0);
        posix_spawn_file_actions_adddup2(&actions, out[1], 1);
        std::array<std::string, 5> words = {KSANA_ETCD_HOLDER, std::to_string(port), key, "child",
                                            ttl};
        std::array<char*, 6> arguments{};
        for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
        EXPECT_EQ(
            ::posix_spawn(&pid_, KSANA_ETCD_HOLDER, &actions, nullptr, arguments.data(), environ),
            0);
        posix_spawn_file_actions_destroy(&actions);
        ::close(in[0]);
        ::close(out[1]);
        in_ = in[1];
        out_ = ::fdopen(out[0], "r");
        held_ = Line();
    }
    ~Holder() {
        Signal(SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        ::close(in_);
        (void)std::fclose(out_);
    }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    void Signal(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }
    const std::string& held() const { return held_; }
    std::int64_t fence() const { return std::stoll(held_.substr(held_.find(' ') + 1)); }
    std::string Tell(std::string line) {
        line += '\n';
        EXPECT_EQ(::write(in_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
        return Line();
    }

  private:
    std::string Line() {
        std::array<char, 256> line{};
        if (std::fgets(line.data(), line.size(), out_) == nullptr) return "";
        std::string text = line.data();
        text.pop_back();
        return text;
    }

    pid_t pid_ = -1;
    int in_ = -1;
    std::FILE* out_ = nullptr;
    std::string held_;
};

class EtcdFaultsTest : public ::testing::Test {
  protected:
    // Tries until the lock is free.
    static std::optional<lock::Grant> TakeWhenFree(lock::LockDriver& driver,
                                                   const lock::LockRequest& request) {
        std::optional<lock::Grant> grant;
        EXPECT_TRUE(Eventually([&] { return (grant = Take(driver, request)).has_value(); }));
        return grant;
    }

    const std::string key_ = UniqueKey();
    const SystemClock clock_;
};

TEST_F(EtcdFaultsTest, TheLockOfAKilledHolderExpires) {
    const std::uint16_t port = testing::EtcdPort();
    const auto driver = OpenEtcd(EtcdOptions(port, clock_));
    const SteadyPoint before = clock_.SteadyNow();
    Holder holder(port, key_, "2");
    ASSERT_TRUE(holder.held().starts_with("held ")) << holder.held();
    EXPECT_FALSE(Take(*driver, Request(key_, "t2")));
    holder.Signal(SIGKILL);
    const auto grant = TakeWhenFree(*driver, Request(key_, "t2"));
    ASSERT_TRUE(grant);
    EXPECT_GT(grant->fence, holder.fence());
    EXPECT_GE(clock_.SteadyNow() - before, seconds(2)) << "expired before its TTL";
}

TEST_F(EtcdFaultsTest, AHolderThatStoodStillHasLostItsLock) {
    const std::uint16_t port = testing::EtcdPort();
    const auto driver = OpenEtcd(EtcdOptions(port, clock_));
    Holder holder(port, key_, "2");
    ASSERT_TRUE(holder.held().starts_with("held ")) << holder.held();
    holder.Signal(SIGSTOP);
    const auto grant = TakeWhenFree(*driver, Request(key_, "t2"));
    ASSERT_TRUE(grant);
    holder.Signal(SIGCONT);
    EXPECT_EQ(holder.Tell("renew"), Info(Code::kLeaseLost).name);
    EXPECT_EQ(holder.Tell("release"), Info(Code::kLeaseLost).name);
    EXPECT_TRUE(driver->Renew(Request(key_, "t2"), grant->fence));
}

TEST_F(EtcdFaultsTest, ALockSurvivesTheServer) {
    EtcdServer server;
    const auto driver = OpenEtcd(EtcdOptions(server.port(), clock_));
    const auto other = OpenEtcd(EtcdOptions(server.port(), clock_));
    const auto grant = Take(*driver, Request(key_, "t1", seconds(60), 5));
    const auto brief = Take(*driver, Request(key_ + "b", "t1", seconds(1)));
    ASSERT_TRUE(grant && brief);
    server.Kill();
    EXPECT_EQ(FaultOf(driver->Renew(Request(key_, "t1"), grant->fence)), Code::kUnavailable);
    EXPECT_EQ(FaultOf(other->Try(Request(key_, "t2"))), Code::kUnavailable);
    server.Start();
    EXPECT_FALSE(Take(*other, Request(key_, "t2")));
    EXPECT_TRUE(driver->Renew(Request(key_, "t1"), grant->fence));
    const auto next = TakeWhenFree(*other, Request(key_ + "b", "t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, brief->fence);
    EXPECT_EQ(FaultOf(driver->Renew(Request(key_ + "b", "t1"), brief->fence)), Code::kLeaseLost);
    EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence));
    EXPECT_FALSE(Take(*other, Request(key_, "t2", seconds(60), 5))) << "the stamp is forgotten";
}

TEST_F(EtcdFaultsTest, ALockIsLostWithTheData) {
    EtcdServer server;
    const auto driver = OpenEtcd(EtcdOptions(server.port(), clock_));
    std::int64_t fence = 0;
    for (int i = 0; i < 20; ++i) {  // lets the revision grow
        const auto grant = Take(*driver, Request(key_, "t1"));
        ASSERT_TRUE(grant);
        fence = grant->fence;
    }
    server.Kill();
    server.LoseData();
    server.Start();
    EXPECT_EQ(FaultOf(driver->Renew(Request(key_, "t1"), fence)), Code::kLeaseLost);
    EXPECT_EQ(FaultOf(driver->Release(Request(key_, "t1"), fence)), Code::kLeaseLost);
    const auto next = Take(*driver, Request(key_, "t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, fence);
}

TEST_F(EtcdFaultsTest, AServerThatStandsStillIsUnavailable) {
    EtcdServer server;
    auto options = EtcdOptions(server.port(), clock_);
    options.timeout = std::chrono::milliseconds(500);
    const auto hasty = OpenEtcd(options);
    const auto driver = OpenEtcd(EtcdOptions(server.port(), clock_));
    const auto grant = Take(*driver, Request(key_, "t1"));
    ASSERT_TRUE(grant);
    server.Pause();
    const SteadyPoint before = clock_.SteadyNow();
    EXPECT_EQ(FaultOf(hasty->Try(Request(key_, "t2"))), Code::kUnavailable);
    EXPECT_EQ(FaultOf(hasty->Renew(Request(key_, "t1"), grant->fence)), Code::kUnavailable);
    EXPECT_EQ(FaultOf(hasty->Release(Request(key_, "t1"), grant->fence)), Code::kUnavailable);
    const auto took = clock_.SteadyNow() - before;
    EXPECT_GE(took, 3 * options.timeout - std::chrono::milliseconds(50));
    EXPECT_LT(took, seconds(10));
    server.Resume();
    EXPECT_TRUE(driver->Renew(Request(key_, "t1"), grant->fence));
    EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence));
}

TEST_F(EtcdFaultsTest, CompactionLeavesLocksAlone) {
    EtcdServer server;
    const auto driver = OpenEtcd(EtcdOptions(server.port(), clock_));
    const auto grant = Take(*driver, Request(key_, "t1", seconds(60), 5));
    ASSERT_TRUE(grant);
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(Take(*driver, Request(key_ + "x", "t1")));
    const std::string revision =
        EtcdPost(server.port(), "/v3/kv/range", R"({"key":"YQ=="})").TextAt("/header/revision");
    const auto compacted =
        EtcdPost(server.port(), "/v3/kv/compaction",
                 fmt::format(R"({{"revision":"{}","physical":true}})", revision));
    EXPECT_FALSE(compacted.Has("/error")) << compacted.Compact();
    EXPECT_TRUE(driver->Renew(Request(key_, "t1"), grant->fence));
    EXPECT_TRUE(driver->Renew(Request(key_, "t1", seconds(90)), grant->fence));
    EXPECT_TRUE(driver->Release(Request(key_, "t1"), grant->fence));
    EXPECT_FALSE(Take(*driver, Request(key_, "t2", seconds(60), 5)));
    const auto next = Take(*driver, Request(key_, "t2", seconds(60), 6));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence);
}

TEST_F(EtcdFaultsTest, NoLeaseIsLeftOver) {
    constexpr int kTimes = 200;
    EtcdServer server;
    const auto driver = OpenEtcd(EtcdOptions(server.port(), clock_));
    const auto held = Take(*driver, Request(key_, "t1", seconds(600), 5));
    ASSERT_TRUE(held);
    for (int i = 0; i < kTimes; ++i) {
        EXPECT_FALSE(Take(*driver, Request(key_, "t2", seconds(600))));
        EXPECT_FALSE(Take(*driver, Request(key_, "t1", seconds(600), 5)));
    }
    EXPECT_EQ(server.Leases(), 1U);
    for (int i = 0; i < kTimes; ++i) {
        const auto grant = Take(*driver, Request(key_ + "x", "t1", seconds(600), i));
        ASSERT_TRUE(grant);
        EXPECT_TRUE(driver->Release(Request(key_ + "x", "t1"), grant->fence));
    }
    EXPECT_EQ(server.Leases(), 1U);
    // Here the lease of before is given back without waiting for it.
    std::optional<lock::Grant> last;
    for (int i = 0; i < 20; ++i) {
        last = Take(*driver, Request(key_ + "y", "t1", seconds(600 + i)));
        ASSERT_TRUE(last);
        EXPECT_TRUE(driver->Renew(Request(key_ + "y", "t1", seconds(700 + i)), last->fence));
    }
    EXPECT_TRUE(Eventually([&] { return server.Leases() == 2; })) << server.Leases();
    EXPECT_TRUE(driver->Release(Request(key_ + "y", "t1"), last->fence));
    EXPECT_EQ(server.Leases(), 1U);
}

}  // namespace
}  // namespace ksana::locks
