#include <atomic>
#include <thread>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "locks/lock_fixture.hpp"

// N-11: threads with connections of their own, as processes would be.

namespace ksana::locks {
namespace {

constexpr int kThreads = 8;

// What the threads of a race share.
struct Race {
    std::atomic<bool> held{false};  // somebody believes to hold the lock
    std::atomic<int> overlaps{0};
    std::atomic<int> wins{0};
    std::atomic<int> faults{0};
    Mutex mutex;
    std::vector<std::int64_t> fences KSANA_GUARDED_BY(mutex);
};

void Enter(Race& race, std::int64_t fence) {
    if (race.held.exchange(true)) ++race.overlaps;
    {
        const MutexLock lock(race.mutex);
        race.fences.push_back(fence);
    }
    ++race.wins;
    std::this_thread::yield();
    race.held = false;
}

TEST_P(LockTest, NeverTwoHolders) {
    constexpr int kWins = 60;
    constexpr int kTries = 3'000;  // of one thread
    Race race;
    std::vector<std::unique_ptr<lock::LockDriver>> drivers;
    for (int i = 0; i < kThreads; ++i) {
        drivers.push_back(Open());
        ASSERT_TRUE(drivers.back());
    }
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i] {
                lock::LockDriver& driver = *drivers[i];
                const lock::LockRequest request = Request("race", "t" + std::to_string(i));
                for (int n = 0; n < kTries && race.wins < kWins; ++n) {
                    const auto answer = driver.Try(request);
                    if (!answer) ++race.faults;
                    if (!answer || !answer->grant) continue;
                    Enter(race, answer->grant->fence);
                    if (!driver.Release(request, answer->grant->fence)) ++race.faults;
                }
            });
        }
    }
    EXPECT_EQ(race.overlaps, 0);
    EXPECT_EQ(race.faults, 0);
    EXPECT_GE(race.wins, kWins);
    const MutexLock lock(race.mutex);
    for (std::size_t i = 1; i < race.fences.size(); ++i) {
        EXPECT_LT(race.fences[i - 1], race.fences[i]);
    }
}

// The threads come one after the other, each with the stamp of the same fire.
TEST_P(LockTest, OneHolderForEachStamp) {
    constexpr int kStamps = 5;
    Race race;
    std::vector<std::unique_ptr<lock::LockDriver>> drivers;
    for (int i = 0; i < kThreads; ++i) {
        drivers.push_back(Open());
        ASSERT_TRUE(drivers.back());
    }
    for (int stamp = 1; stamp <= kStamps; ++stamp) {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&, i, stamp] {
                lock::LockDriver& driver = *drivers[i];
                const auto request = Stamped("race", "t" + std::to_string(i), stamp);
                const auto answer = driver.Try(request);
                if (!answer) ++race.faults;
                if (!answer || !answer->grant) return;
                Enter(race, answer->grant->fence);
                if (!driver.Release(request, answer->grant->fence)) ++race.faults;
            });
        }
    }
    EXPECT_EQ(race.faults, 0);
    EXPECT_EQ(race.wins, kStamps);
}

}  // namespace
}  // namespace ksana::locks
