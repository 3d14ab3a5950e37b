#include "ksana/sdk/threads/job_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana::sdk {
namespace {

using namespace std::chrono_literals;

// An item that calls a function.
struct Item : WorkItem {
    explicit Item(std::function<void(Item&)> function)
        : WorkItem([](WorkItem& item) {
              auto& self = static_cast<Item&>(item);
              self.body(self);
          }),
          body(std::move(function)) {}
    std::function<void(Item&)> body;
};

TEST(JobThreads, WithoutThreadsTheCallerRunsWhatIsDue) {
    FakeClock clock;
    JobThreads threads(clock, "test", 0);
    std::vector<int> ran;
    Item now([&](Item&) { ran.push_back(1); });
    Item later([&](Item& item) { ran.push_back(item.due ? 2 : -2); });
    threads.PostAt(later, clock.SteadyNow() + 1s);
    threads.Post(now);
    EXPECT_EQ(threads.RunReady(), 1U);
    EXPECT_EQ(threads.NextTime(), clock.SteadyNow() + 1s);
    clock.Advance(1s);
    EXPECT_EQ(threads.RunReady(), 1U);
    EXPECT_EQ(threads.NextTime(), std::nullopt);
    threads.PostAt(later, clock.SteadyNow() + 1h);
    EXPECT_TRUE(threads.RunEarly(later));
    EXPECT_FALSE(threads.RunEarly(later)) << "queued already";
    EXPECT_EQ(threads.RunReady(), 1U);
    EXPECT_EQ(ran, (std::vector<int>{1, 2, -2}));
}

TEST(JobThreads, AnItemWaitsAtOnePlaceOnly) {
    FakeClock clock;
    JobThreads threads(clock, "test", 0);
    int ran = 0;
    Item item([&](Item&) { ++ran; });
    threads.PostAt(item, clock.SteadyNow() + 1h);
    threads.PostAt(item, clock.SteadyNow() + 1s);
    threads.Post(item);
    threads.Post(item);
    threads.PostAt(item, clock.SteadyNow() + 1s);
    EXPECT_EQ(threads.RunReady(), 1U);
    clock.Advance(2h);
    EXPECT_EQ(threads.RunReady(), 0U);
    EXPECT_EQ(ran, 1);
    threads.PostAt(item, clock.SteadyNow() + 1s);
    EXPECT_TRUE(threads.Withdraw(item));
    EXPECT_FALSE(threads.Withdraw(item));
}

TEST(JobThreads, AnItemMayPostItselfAgain) {
    FakeClock clock;
    JobThreads threads(clock, "test", 0);
    int ran = 0;
    Item item([&](Item& self) {
        if (++ran < 10) threads.PostAtAfterwards(self, clock.SteadyNow() + 1s);
    });
    threads.PostAtAfterwards(item, clock.SteadyNow());
    for (int n = 0; n < 20; ++n) {
        threads.RunReady();
        clock.Advance(1s);
    }
    EXPECT_EQ(ran, 10);
}

TEST(JobThreads, AnotherThreadTakesOverTheTimers) {
    SystemClock clock;
    JobThreads threads(clock, "test", 2);
    Wakeup done;
    Wakeup timer_ran;
    Item blocks([&](Item&) {
        // Needs the other thread, which must have become the one that waits for the timers.
        EXPECT_EQ(clock.Wait(timer_ran, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
        done.Notify();
    });
    Item timer([&](Item&) { timer_ran.Notify(); });
    threads.PostAt(blocks, clock.SteadyNow() + 1ms);
    threads.PostAt(timer, clock.SteadyNow() + 20ms);
    ASSERT_TRUE(threads.Start());
    EXPECT_EQ(clock.Wait(done, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
    threads.Stop();
}

TEST(JobThreads, ManyItemsFromManyThreadsAllRun) {
    SystemClock clock;
    JobThreads threads(clock, "test", 3);
    ASSERT_TRUE(threads.Start());
    constexpr int kItems = 2000;
    std::atomic<int> ran{0};
    Wakeup all;
    std::deque<Item> items;
    for (int n = 0; n < kItems; ++n) {
        items.emplace_back([&, times = 0](Item& self) mutable {
            if (++times < 3) {
                threads.PostAtAfterwards(self, clock.SteadyNow() + 100us);
            } else if (++ran == kItems) {
                all.Notify();
            }
        });
    }
    {
        std::vector<std::jthread> posters;
        for (int part = 0; part < 4; ++part) {
            posters.emplace_back([&, part] {
                for (int n = part; n < kItems; n += 4) {
                    if (n % 2 == 0) {
                        threads.Post(items[static_cast<std::size_t>(n)]);
                    } else {
                        threads.PostAt(items[static_cast<std::size_t>(n)],
                                       clock.SteadyNow() + std::chrono::microseconds(n));
                    }
                }
            });
        }
    }
    EXPECT_EQ(clock.Wait(all, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
    threads.Stop();
    EXPECT_EQ(ran, kItems);
}

TEST(JobThreads, CanBeStoppedAndStartedAgain) {
    SystemClock clock;
    JobThreads threads(clock, "test", 2);
    Wakeup ran;
    Item item([&](Item&) { ran.Notify(); });
    for (int round = 0; round < 20; ++round) {
        threads.PostAt(item, clock.SteadyNow());
        ASSERT_TRUE(threads.Start());
        EXPECT_EQ(clock.Wait(ran, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
        threads.Stop();
        threads.Stop();
    }
}

}  // namespace
}  // namespace ksana::sdk
