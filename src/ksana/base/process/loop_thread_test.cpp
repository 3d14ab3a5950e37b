#include "ksana/base/process/loop_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "ksana/base/time/clock.hpp"
#include "support/service_stress.hpp"

namespace ksana {
namespace {

TEST(LoopThread, SurvivesTheStartStopStress) {
    SystemClock clock;
    Wakeup wakeup;
    std::atomic<int> inside = 0;
    LoopThread loop("stress", [&](const std::stop_token& stop) {
        EXPECT_EQ(++inside, 1) << "two bodies at once";
        while (clock.Wait(wakeup, clock.SteadyNow() + std::chrono::hours(1), stop) !=
               WaitOutcome::kStopped) {
        }
        --inside;
    });
    testing::StressService(loop);
    EXPECT_EQ(inside, 0);
}

TEST(LoopThread, StopFromInsideTheBodyOnlyAsks) {
    Wakeup wakeup;
    SystemClock clock;
    LoopThread* self = nullptr;
    std::atomic<bool> asked = false;
    LoopThread loop("self", [&](const std::stop_token& stop) {
        self->Stop();
        asked = stop.stop_requested();
        wakeup.Notify();
    });
    self = &loop;
    ASSERT_TRUE(loop.Start());
    EXPECT_EQ(clock.Wait(wakeup, clock.SteadyNow() + std::chrono::minutes(1), {}),
              WaitOutcome::kNotified);
    loop.Stop();
    EXPECT_TRUE(asked);
}

TEST(LoopThread, StartsAgainAfterItsBodyHasReturned) {
    SystemClock clock;
    Wakeup wakeup;
    std::atomic<int> runs = 0;
    LoopThread loop("short", [&](const std::stop_token&) {
        ++runs;
        wakeup.Notify();
    });
    // A Start while the body is still returning has no effect, so call it until the body runs.
    for (int run = 1; run <= 20; ++run) {
        while (runs < run) {
            ASSERT_TRUE(loop.Start());
            clock.Wait(wakeup, clock.SteadyNow() + std::chrono::milliseconds(1), {});
        }
    }
    loop.Stop();
    EXPECT_EQ(runs, 20);
}

TEST(LoopThread, DestructionStops) {
    SystemClock clock;
    Wakeup wakeup;
    std::atomic<bool> ended = false;
    {
        LoopThread loop("scoped", [&](const std::stop_token& stop) {
            clock.Wait(wakeup, clock.SteadyNow() + std::chrono::hours(1), stop);
            ended = true;
        });
        ASSERT_TRUE(loop.Start());
    }
    EXPECT_TRUE(ended);
}

TEST(LoopThreadDeathTest, AnExceptionOutOfTheBodyEndsTheProcess) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            LoopThread loop("thrower",
                            [](const std::stop_token&) { throw std::runtime_error("boom"); });
            (void)loop.Start();
            loop.Stop();
        },
        "thrower threw: boom");
}

}  // namespace
}  // namespace ksana
