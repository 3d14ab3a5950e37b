#include "ksana/lock/lock_manager.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/lock/memory_locks.hpp"

namespace ksana::lock {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// MemoryLocks with faults that a server can have.
class FaultyLocks final : public LockDriver {
  public:
    explicit FaultyLocks(const Clock& clock) : inner_(clock) {}

    Result<TryAnswer> Try(const LockRequest& request) override {
        ++tries;
        if (fail) return Down();
        if (lie) {
            return TryAnswer{.grant = Grant{.fence = 1, .valid_for = told}, .last_stamp = {}};
        }
        auto answer = inner_.Try(request);
        if (lose_answer.exchange(false)) return Down();
        return answer;
    }
    Result<Grant> Renew(const LockRequest& request, std::int64_t fence) override {
        ++renewals;
        if (request.key == hung_key) {
            MutexLock lock(mutex_);
            hangs = true;
            changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return !hang_; });
        }
        if (fail) return Down();
        if (lie) return Grant{.fence = fence, .valid_for = told};
        return inner_.Renew(request, fence);
    }
    Result<void> Release(const LockRequest& request, std::int64_t fence) override {
        ++releases;
        if (fail) return Down();
        if (lie) return {};
        return inner_.Release(request, fence);
    }
    std::string Location() const override { return inner_.Location(); }

    void EndHang() {
        {
            const MutexLock lock(mutex_);
            hang_ = false;
        }
        changed_.NotifyAll();
    }

    std::atomic<bool> fail{false};
    std::atomic<bool> lie{false};          // grants everything to everybody
    std::atomic<bool> lose_answer{false};  // carries out one Try and fails
    std::atomic<bool> hangs{false};
    std::atomic<int> tries{0};
    std::atomic<int> renewals{0};
    std::atomic<int> releases{0};
    std::string hung_key;  // set before use: its renewals hang until EndHang
    Duration told = std::chrono::hours(1);

  private:
    static Error Down() { return {Code::kUnavailable, "the server is down"}; }

    MemoryLocks inner_;
    Mutex mutex_;
    CondVar changed_;
    bool hang_ KSANA_GUARDED_BY(mutex_) = true;
};

class LockManagerTest : public ::testing::Test {
  protected:
    Lock Take(std::string_view name, LockOptions options) {
        auto tried = manager_.TryLock(name, std::move(options));
        EXPECT_TRUE(tried) << tried.error().Describe();
        EXPECT_TRUE(tried && tried->lock) << name;
        return tried && tried->lock ? *std::move(tried->lock) : Lock();
    }
    bool IsFree(std::string_view name) {
        const auto answer = driver_.Try(
            {.key = manager_.KeyOf(name), .token = "probe", .ttl = seconds(1), .stamp = {}});
        EXPECT_TRUE(answer);
        if (!answer || !answer->grant) return false;
        EXPECT_TRUE(driver_.Release(
            {.key = manager_.KeyOf(name), .token = "probe", .ttl = seconds(1), .stamp = {}},
            answer->grant->fence));
        return true;
    }
    LockOptions Counting(bool renew, Duration ttl = seconds(30)) {
        return {.ttl = ttl, .renew = renew, .on_lost = [this] { ++lost_; }, .stamp = {}};
    }
    // Advances in small steps, so that renewals come in time.
    void Pass(Duration time, std::size_t waiters) {
        for (Duration gone{}; gone < time; gone += milliseconds(500)) {
            clock_.AwaitWaiters(waiters);
            clock_.Advance(milliseconds(500));
        }
        clock_.AwaitWaiters(waiters);
    }

    FakeClock clock_;
    SystemRandom random_;
    FaultyLocks driver_{clock_};
    std::atomic<int> lost_{0};
    LockManager manager_{driver_, clock_, random_, "ksana"};
};

TEST_F(LockManagerTest, OneHolderAtATime) {
    EXPECT_EQ(manager_.KeyOf("report"), "ksana:lock:report");
    EXPECT_EQ(manager_.Location(), "memory:");
    Lock lock = Take("report", {});
    EXPECT_TRUE(lock.held());
    EXPECT_EQ(lock.fence(), 1);
    const auto second = manager_.TryLock("report", {});
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->lock) << "each acquisition has its own token";
    Lock other = Take("other", {});
    ASSERT_TRUE(lock.Release());
    EXPECT_FALSE(lock.held());
    EXPECT_EQ(lock.fence(), 0);
    EXPECT_EQ(lock.Release().error().code, Code::kLeaseLost);
    EXPECT_EQ(lock.Renew().error().code, Code::kLeaseLost);
    EXPECT_EQ(Take("report", {}).fence(), 2);
    EXPECT_TRUE(other.held());
}

TEST_F(LockManagerTest, WrongNamesAndTimesAreRefused) {
    const auto code = [this](const std::string& name, Duration ttl) {
        const auto tried = manager_.TryLock(name, {.ttl = ttl, .on_lost = {}, .stamp = {}});
        return tried ? Code::kInternal : tried.error().code;
    };
    EXPECT_EQ(code("", seconds(1)), Code::kInvalidArgument);
    EXPECT_EQ(code("\xFF", seconds(1)), Code::kInvalidArgument);
    EXPECT_EQ(code(std::string("a\0b", 3), seconds(1)), Code::kInvalidArgument);
    EXPECT_EQ(code("a", Duration::zero()), Code::kInvalidArgument);
    EXPECT_EQ(code(std::string(190, 'a'), seconds(1)), Code::kInvalidArgument);
    EXPECT_TRUE(Take(std::string(189, 'a'), {}).held());
    EXPECT_EQ(code("a", Duration::max()), Code::kInvalidArgument);
    LockOptions longest{.ttl = kMaxTtl, .renew = true, .on_lost = {}, .stamp = {}};
    EXPECT_TRUE(Take("a", std::move(longest)).held());
    EXPECT_EQ(manager_.Acquire("", {}, {}).error().code, Code::kInvalidArgument);
}

TEST_F(LockManagerTest, ADestroyedLockIsFree) {
    {
        const Lock lock = Take("a", {});
        EXPECT_FALSE(IsFree("a"));
    }
    EXPECT_TRUE(IsFree("a"));
    Lock watched = Take("a", Counting(true));
    watched = Lock();
    EXPECT_TRUE(IsFree("a"));
    EXPECT_EQ(lost_, 0);
}

TEST_F(LockManagerTest, ALockMoves) {
    Lock a = Take("a", Counting(true));
    Lock b = Take("b", Counting(true));
    Lock moved = std::move(a);
    EXPECT_TRUE(moved.held());
    EXPECT_FALSE(IsFree("a"));
    moved = std::move(b);
    EXPECT_TRUE(moved.held());
    EXPECT_TRUE(IsFree("a")) << "an assignment frees what was held";
    EXPECT_FALSE(IsFree("b"));
    Lock& self = moved;
    moved = std::move(self);
    EXPECT_TRUE(moved.held());
    std::vector<Lock> locks;
    for (int i = 0; i < 20; ++i) locks.push_back(Take("v" + std::to_string(i), {}));
    for (const Lock& lock : locks) EXPECT_TRUE(lock.held());
}

TEST_F(LockManagerTest, AcquireTriesUntilTheLockIsFree) {
    Lock lock = Take("a", {});
    auto waiting = std::async(std::launch::async, [this] {
        return manager_.Acquire("a", {}, {.retries = 5, .interval = seconds(1)});
    });
    clock_.AwaitWaiters(1);
    clock_.Advance(seconds(1));
    clock_.AwaitWaiters(1);
    EXPECT_EQ(driver_.tries, 3);
    ASSERT_TRUE(lock.Release());
    clock_.Advance(seconds(1));
    auto acquired = waiting.get();
    ASSERT_TRUE(acquired) << acquired.error().Describe();
    EXPECT_TRUE(acquired->held());
    EXPECT_EQ(acquired->fence(), 2);
}

TEST_F(LockManagerTest, PatienceEnds) {
    const Lock lock = Take("a", {});
    driver_.tries = 0;
    EXPECT_EQ(manager_.Acquire("a", {}, {.retries = 0}).error().code, Code::kDeadlineExceeded);
    EXPECT_EQ(driver_.tries, 1);
    EXPECT_EQ(manager_.Acquire("a", {}, {.deadline = {}}).error().code, Code::kDeadlineExceeded);
    EXPECT_EQ(driver_.tries, 2);
    driver_.tries = 0;
    const auto end = [this](Patience patience, int waits) {
        auto waiting =
            std::async(std::launch::async, [&] { return manager_.Acquire("a", {}, patience); });
        for (int i = 0; i < waits; ++i) {
            clock_.AwaitWaiters(1);
            clock_.Advance(seconds(1));
        }
        return waiting.get().error().code;
    };
    EXPECT_EQ(end({.retries = 3, .interval = seconds(1), .deadline = seconds(100)}, 3),
              Code::kDeadlineExceeded);
    EXPECT_EQ(driver_.tries, 4) << "retries come after the first try";
    driver_.tries = 0;
    EXPECT_EQ(end({.retries = 100, .interval = seconds(60), .deadline = seconds(2)}, 2),
              Code::kDeadlineExceeded);
    EXPECT_EQ(driver_.tries, 2) << "the last try is at the deadline";
}

TEST_F(LockManagerTest, AStopEndsTheWait) {
    const Lock lock = Take("a", {});
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&] {
        return manager_.Acquire("a", {}, {.interval = seconds(1)}, stop.get_token());
    });
    clock_.AwaitWaiters(1);
    stop.request_stop();
    EXPECT_EQ(waiting.get().error().code, Code::kUnavailable);
    driver_.tries = 0;
    EXPECT_EQ(manager_.Acquire("b", {}, {}, stop.get_token()).error().code, Code::kUnavailable);
    EXPECT_EQ(driver_.tries, 0);
}

TEST_F(LockManagerTest, AcquireTriesAServerThatIsDownAgain) {
    driver_.fail = true;
    EXPECT_EQ(manager_.TryLock("a", {}).error().code, Code::kUnavailable);
    EXPECT_EQ(manager_.Acquire("a", {}, {.retries = 0}).error().code, Code::kUnavailable);
    auto waiting = std::async(
        std::launch::async, [this] { return manager_.Acquire("a", {}, {.interval = seconds(1)}); });
    clock_.AwaitWaiters(1);
    driver_.fail = false;
    clock_.Advance(seconds(1));
    EXPECT_TRUE(waiting.get());
}

TEST_F(LockManagerTest, ALostAnswerDoesNotLockTheCallerOut) {
    driver_.lose_answer = true;
    auto waiting = std::async(
        std::launch::async, [this] { return manager_.Acquire("a", {}, {.interval = seconds(1)}); });
    clock_.AwaitWaiters(1);
    EXPECT_FALSE(IsFree("a")) << "the server has granted it";
    clock_.Advance(seconds(1));
    auto lock = waiting.get();
    ASSERT_TRUE(lock);
    EXPECT_EQ(lock->fence(), 2);
}

TEST_F(LockManagerTest, AStampIsUsedOnce) {
    LockOptions options;
    options.stamp = 100;
    EXPECT_TRUE(Take("a", options).held());
    const auto tried = manager_.TryLock("a", options);
    ASSERT_TRUE(tried);
    EXPECT_FALSE(tried->lock);
    EXPECT_EQ(tried->last_stamp, 100);
    EXPECT_EQ(manager_.Acquire("a", options, {}).error().code, Code::kConflict);
    options.stamp = 101;
    EXPECT_TRUE(manager_.Acquire("a", options, {}));
}

TEST_F(LockManagerTest, ALockIsRenewedUntilItsRelease) {
    Lock lock = Take("a", Counting(true, seconds(3)));
    Pass(seconds(60), 2);
    EXPECT_TRUE(lock.held());
    EXPECT_EQ(driver_.renewals, 60) << "every third of the TTL";
    EXPECT_FALSE(IsFree("a"));
    ASSERT_TRUE(lock.Release());
    EXPECT_TRUE(IsFree("a"));
    Pass(seconds(10), 2);
    EXPECT_EQ(driver_.renewals, 60);
    EXPECT_EQ(lost_, 0);
}

TEST_F(LockManagerTest, ALockEndsWithItsTime) {
    Lock watched = Take("a", Counting(false));
    Lock plain = Take("b", {});
    Pass(milliseconds(29'500), 1);
    EXPECT_TRUE(watched.held());
    EXPECT_TRUE(plain.held());
    EXPECT_EQ(lost_, 0);
    Pass(milliseconds(500), 1);
    EXPECT_FALSE(watched.held());
    EXPECT_FALSE(plain.held());
    EXPECT_EQ(lost_, 1);
    Pass(seconds(60), 1);
    EXPECT_EQ(lost_, 1) << "once";
    for (Lock* lock : {&watched, &plain}) {
        EXPECT_EQ(lock->Renew().error().code, Code::kLeaseLost);
        EXPECT_EQ(lock->Release().error().code, Code::kLeaseLost);
    }
    EXPECT_EQ(lost_, 1);
}

TEST_F(LockManagerTest, TheHolderCanRenew) {
    Lock watched = Take("a", Counting(false));
    Lock plain = Take("b", {});
    for (int i = 0; i < 4; ++i) {
        Pass(seconds(20), 1);
        EXPECT_TRUE(watched.Renew());
        EXPECT_TRUE(plain.Renew());
    }
    driver_.fail = true;
    EXPECT_EQ(plain.Renew().error().code, Code::kUnavailable);
    EXPECT_TRUE(plain.held()) << "until its time has passed";
    driver_.fail = false;
    Pass(seconds(20), 1);
    EXPECT_TRUE(watched.held());
    EXPECT_TRUE(watched.Release());
    EXPECT_TRUE(plain.Release());
    EXPECT_EQ(lost_, 0);
}

TEST_F(LockManagerTest, AStolenLockIsNoticedByTheRenewal) {
    Lock lock = Take("a", Counting(true));
    // A thief that knows the fence: an administrator who frees the lock by hand.
    driver_.lie = true;
    Lock thief = Take("a", Counting(true));
    driver_.lie = false;
    EXPECT_TRUE(thief.held());
    clock_.AwaitWaiters(2);
    clock_.Advance(seconds(10));
    while (lost_ == 0) clock_.AwaitWaiters(2);
    EXPECT_FALSE(thief.held());
    EXPECT_TRUE(lock.held());
    driver_.releases = 0;
    EXPECT_EQ(thief.Release().error().code, Code::kLeaseLost);
    EXPECT_EQ(driver_.releases, 0) << "the server has said that it is lost";
    EXPECT_EQ(thief.Release().error().code, Code::kLeaseLost);
    EXPECT_TRUE(lock.Release());
    EXPECT_EQ(lost_, 1);
}

TEST_F(LockManagerTest, ARefusedRenewalOfTheHolderIsALoss) {
    driver_.lie = true;
    Lock lock = Take("a", Counting(false));
    driver_.lie = false;
    EXPECT_EQ(lock.Renew().error().code, Code::kLeaseLost);
    EXPECT_FALSE(lock.held());
    while (lost_ == 0) clock_.AwaitWaiters(1);
    EXPECT_EQ(lock.Renew().error().code, Code::kLeaseLost);
    EXPECT_EQ(lost_, 1);
}

TEST_F(LockManagerTest, AServerThatFailsLosesTheLock) {
    Lock lock = Take("a", Counting(true, seconds(12)));
    driver_.fail = true;
    Pass(milliseconds(11'500), 2);
    EXPECT_TRUE(lock.held());
    EXPECT_GE(driver_.renewals, 8) << "tried more often once it has failed";
    Pass(milliseconds(500), 2);
    EXPECT_FALSE(lock.held());
    EXPECT_EQ(lost_, 1);
    const int renewals = driver_.renewals;
    driver_.fail = false;
    Pass(seconds(60), 2);
    EXPECT_EQ(driver_.renewals, renewals) << "a lost lock is not renewed";
    EXPECT_EQ(lock.Release().error().code, Code::kLeaseLost);
    EXPECT_EQ(lost_, 1);
}

TEST_F(LockManagerTest, ABriefFailureDoesNotLoseTheLock) {
    Lock lock = Take("a", Counting(true, seconds(12)));
    driver_.fail = true;
    Pass(seconds(9), 2);
    driver_.fail = false;
    Pass(seconds(60), 2);
    EXPECT_TRUE(lock.held());
    EXPECT_EQ(lost_, 0);
    EXPECT_TRUE(lock.Release());
}

// The renewal of "hung" never returns, and all losses are still told.
TEST_F(LockManagerTest, AHangingServerDelaysNoNotice) {
    driver_.hung_key = manager_.KeyOf("hung");
    Lock hung = Take("hung", Counting(true, seconds(3)));
    Lock renewed = Take("renewed", Counting(true, seconds(6)));
    Lock timed = Take("timed", Counting(false, seconds(9)));
    clock_.AwaitWaiters(2);
    clock_.Advance(seconds(1));
    while (!driver_.hangs) std::this_thread::yield();
    Pass(seconds(2), 1);
    EXPECT_FALSE(hung.held());
    EXPECT_EQ(lost_, 1);
    Pass(seconds(3), 1);
    EXPECT_FALSE(renewed.held()) << "its renewal waits behind the one that hangs";
    EXPECT_EQ(lost_, 2);
    Pass(seconds(3), 1);
    EXPECT_FALSE(timed.held());
    EXPECT_EQ(lost_, 3);
    EXPECT_EQ(hung.Release().error().code, Code::kLeaseLost) << "does not wait for the renewal";
    driver_.EndHang();
    clock_.AwaitWaiters(2);
    EXPECT_EQ(lost_, 3) << "an answer that comes too late changes nothing";
}

TEST_F(LockManagerTest, ManyLocksAtOnce) {
    std::vector<Lock> locks;
    for (int i = 0; i < 50; ++i) {
        locks.push_back(Take("r" + std::to_string(i), Counting(true, seconds(3 + i % 3))));
        locks.push_back(Take("t" + std::to_string(i), Counting(false, seconds(10))));
    }
    Pass(milliseconds(9'500), 2);
    for (const Lock& lock : locks) EXPECT_TRUE(lock.held());
    Pass(milliseconds(500), 2);
    EXPECT_EQ(lost_, 50);
    for (std::size_t i = 0; i < locks.size(); ++i) EXPECT_EQ(locks[i].held(), i % 2 == 0) << i;
    locks.clear();
    EXPECT_EQ(lost_, 50);
}

TEST_F(LockManagerTest, AReleaseWaitsForTheNotice) {
    std::promise<void> begun;
    std::promise<void> go_on;
    std::atomic<bool> ended{false};
    auto data = std::make_shared<int>(0);
    LockOptions options;
    options.on_lost = [&, data] {
        begun.set_value();
        go_on.get_future().wait();
        ended = true;
    };
    Lock lock = Take("a", std::move(options));
    clock_.AwaitWaiters(1);
    clock_.Advance(seconds(30));
    begun.get_future().wait();
    auto released = std::async(std::launch::async, [&] {
        const Code code = lock.Release().error().code;
        EXPECT_TRUE(ended) << "the notice has ended";
        EXPECT_EQ(data.use_count(), 1) << "and nothing refers to it any more";
        return code;
    });
    go_on.set_value();
    EXPECT_EQ(released.get(), Code::kLeaseLost);
}

TEST_F(LockManagerTest, ADriverThatLiesBreaksNothing) {
    driver_.lie = true;
    Lock one = Take("a", Counting(true));
    Lock two = Take("a", Counting(true));
    EXPECT_TRUE(one.held() && two.held()) << "nobody here can know better";
    Pass(seconds(100), 2);
    EXPECT_TRUE(one.held() && two.held());
    EXPECT_EQ(lost_, 0);
    EXPECT_TRUE(one.Release());
    EXPECT_TRUE(two.Release());
    // A time longer than the TTL is not believed, and none at all is no lock.
    Lock long_lock = Take("b", Counting(false));
    Pass(seconds(30), 2);
    EXPECT_FALSE(long_lock.held());
    driver_.told = seconds(-5);
    EXPECT_EQ(manager_.TryLock("c", Counting(true)).error().code, Code::kUnavailable);
    driver_.told = Duration::min();
    EXPECT_EQ(manager_.TryLock("c", Counting(true)).error().code, Code::kUnavailable);
    driver_.told = seconds(30);
    Lock not_renewed = Take("d", Counting(true));
    driver_.told = Duration::min();
    Pass(seconds(30), 2);
    EXPECT_FALSE(not_renewed.held());
}

TEST_F(LockManagerTest, ALockThatOutlivesItsManagerIsLost) {
    auto manager = std::make_unique<LockManager>(driver_, clock_, random_, "brief");
    auto tried = manager->TryLock("a", Counting(true));
    ASSERT_TRUE(tried && tried->lock);
    Lock lock = *std::move(tried->lock);
    manager.reset();
    EXPECT_FALSE(lock.held());
    driver_.releases = 0;
    EXPECT_EQ(lock.Renew().error().code, Code::kLeaseLost);
    EXPECT_EQ(lock.Release().error().code, Code::kLeaseLost);
    EXPECT_EQ(driver_.releases, 0);
    EXPECT_EQ(lost_, 0);
}

// Real time and threads: for the thread sanitizer.
TEST(LockManagerThreads, ManyThreadsHoldOneLockInTurn) {
    SystemClock clock;
    SystemRandom random;
    MemoryLocks driver(clock);
    LockManager manager(driver, clock, random, "ksana");
    std::atomic<int> inside{0};
    std::atomic<int> overlaps{0};
    std::atomic<int> done{0};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 6; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 20; ++i) {
                    auto lock = manager.Acquire(
                        "a",
                        {.ttl = seconds(30), .renew = i % 2 == 0, .on_lost = [] {}, .stamp = {}},
                        {.retries = 100'000, .interval = milliseconds(1), .deadline = seconds(60)});
                    if (!lock) continue;
                    if (inside.fetch_add(1) != 0) ++overlaps;
                    --inside;
                    if (lock->Release()) ++done;
                }
            });
        }
    }
    EXPECT_EQ(overlaps, 0);
    EXPECT_EQ(done, 120);
}

}  // namespace
}  // namespace ksana::lock
