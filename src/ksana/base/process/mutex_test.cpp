#include "ksana/base/process/mutex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/shared_mutex.hpp"

namespace ksana {
namespace {

constexpr auto kNever = std::chrono::minutes(1);

struct Flag {
    Mutex mutex;
    CondVar changed;
    StopCondVar changed_or_stop;
    bool set KSANA_GUARDED_BY(mutex) = false;

    void Set() {
        {
            const MutexLock lock(mutex);
            set = true;
        }
        changed.NotifyAll();
        changed_or_stop.NotifyAll();
    }
};

TEST(Mutex, OneThreadAtATime) {
    Mutex mutex;
    int count = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int n = 0; n < 1'000; ++n) {
                    MutexLock lock(mutex);
                    lock.Unlock();
                    lock.Lock();
                    ++count;
                }
            });
        }
    }
    EXPECT_EQ(count, 4'000);
}

TEST(SharedMutex, ReadersTogetherAndWritersAlone) {
    SharedMutex mutex;
    const ReaderLock lock(mutex);
    std::atomic<bool> read = false;
    std::jthread([&] {
        const ReaderLock other(mutex);
        read = true;
    }).join();
    EXPECT_TRUE(read);

    SharedMutex alone;
    int count = 0;
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int n = 0; n < 1'000; ++n) {
                    const WriterLock writer(alone);
                    ++count;
                }
            });
        }
    }
    EXPECT_EQ(count, 4'000);
}

TEST(CondVar, WaitsForThePredicateOrTheTime) {
    Flag flag;
    const auto is_set = [&]() KSANA_REQUIRES(flag.mutex) { return flag.set; };
    {
        MutexLock lock(flag.mutex);
        EXPECT_FALSE(flag.changed.WaitFor(lock, std::chrono::milliseconds(1), is_set));
    }
    const std::jthread setter([&] { flag.Set(); });
    MutexLock lock(flag.mutex);
    EXPECT_TRUE(flag.changed.WaitFor(lock, kNever, is_set));
    flag.changed.Wait(lock, is_set);
}

TEST(StopCondVar, WaitsForThePredicateTheDeadlineOrTheStop) {
    Flag flag;
    std::stop_source source;
    const auto is_set = [&]() KSANA_REQUIRES(flag.mutex) { return flag.set; };
    {
        MutexLock lock(flag.mutex);
        EXPECT_FALSE(flag.changed_or_stop.WaitUntil(
            lock, source.get_token(), std::chrono::steady_clock::time_point::min(), is_set));
    }
    {
        const std::jthread stopper([&] { source.request_stop(); });
        MutexLock lock(flag.mutex);
        EXPECT_FALSE(flag.changed_or_stop.Wait(lock, source.get_token(), is_set));
    }
    const std::jthread setter([&] { flag.Set(); });
    MutexLock lock(flag.mutex);
    EXPECT_TRUE(flag.changed_or_stop.Wait(lock, {}, is_set));
}

}  // namespace
}  // namespace ksana
