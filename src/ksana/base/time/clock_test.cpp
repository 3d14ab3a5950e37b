#include "ksana/base/time/clock.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// K-21: the clock is injected, waiting included.
TEST(FakeClock, StandsStillUntilAdvanced) {
    FakeClock clock;
    EXPECT_EQ(clock.Now(), FakeClock::DefaultStart());
    clock.Advance(seconds(5));
    EXPECT_EQ(clock.Now() - FakeClock::DefaultStart(), seconds(5));
    EXPECT_EQ(clock.SteadyNow().time_since_epoch(), seconds(5));
}

TEST(FakeClock, JumpingTheWallLeavesSteadyTimeAlone) {
    FakeClock clock;
    clock.JumpWall(-hours(24));
    EXPECT_EQ(clock.Now() - FakeClock::DefaultStart(), -hours(24));
    EXPECT_EQ(clock.SteadyNow().time_since_epoch(), seconds(0));
}

TEST(FakeClock, AdvanceEndsAWaitAtItsDeadlineAndNotBefore) {
    FakeClock clock;
    Wakeup wakeup;
    WaitOutcome outcome = WaitOutcome::kNotified;
    std::jthread waiter([&] {
        outcome = clock.Wait(wakeup, clock.SteadyNow() + seconds(10), {});
        EXPECT_EQ(clock.SteadyNow().time_since_epoch(), seconds(10));
    });
    clock.AwaitWaiters(1);
    clock.Advance(seconds(9));
    clock.Advance(seconds(1));
    waiter.join();
    EXPECT_EQ(outcome, WaitOutcome::kDeadline);
}

TEST(FakeClock, NotifyEndsAWaitAndIsUsedUp) {
    FakeClock clock;
    Wakeup wakeup;
    wakeup.Notify();  // before the wait: the flag latches
    EXPECT_EQ(clock.Wait(wakeup, clock.SteadyNow() + seconds(10), {}), WaitOutcome::kNotified);
    EXPECT_EQ(clock.Wait(wakeup, clock.SteadyNow(), {}), WaitOutcome::kDeadline);
}

// A loop that sleeps for a second at a time iterates exactly once per second advanced.
TEST(FakeClock, AwaitWaitersMakesStepsCount) {
    FakeClock clock;
    Wakeup wakeup;
    int turns = 0;
    {
        std::jthread loop([&](const std::stop_token& stop) {
            while (clock.Wait(wakeup, clock.SteadyNow() + seconds(1), stop) !=
                   WaitOutcome::kStopped) {
                ++turns;
            }
        });
        for (int i = 0; i < 1'000; ++i) {
            clock.AwaitWaiters(1);
            if (i % 2 == 0) {
                clock.Advance(seconds(1));
            } else {
                wakeup.Notify();
            }
        }
        clock.AwaitWaiters(1);
    }
    EXPECT_EQ(turns, 1'000);
}

TEST(FakeClock, WaitUntilNoticesAWallJumpWithinASecond) {
    FakeClock clock;
    Wakeup wakeup;
    WaitOutcome outcome = WaitOutcome::kNotified;
    std::jthread waiter([&] { outcome = clock.WaitUntil(wakeup, clock.Now() + hours(1), {}); });
    clock.AwaitWaiters(1);
    clock.JumpWall(hours(2));
    clock.Advance(Clock::kJumpNotice);
    waiter.join();
    EXPECT_EQ(outcome, WaitOutcome::kDeadline);
    EXPECT_EQ(clock.SteadyNow().time_since_epoch(), Clock::kJumpNotice);
}

TEST(FakeClock, WaitUntilGoesOnWaitingWhenTheWallIsSetBack) {
    FakeClock clock;
    Wakeup wakeup;
    const TimePoint due = clock.Now() + milliseconds(1500);
    std::jthread waiter([&] {
        EXPECT_EQ(clock.WaitUntil(wakeup, due, {}), WaitOutcome::kDeadline);
        EXPECT_GE(clock.Now(), due);
    });
    clock.AwaitWaiters(1);
    clock.JumpWall(-seconds(10));
    // Each step wakes the waiter, which sees that it is early and waits again.
    for (int i = 0; i < 200; ++i) clock.Advance(milliseconds(100));
}

template <class C>
class AnyClock : public ::testing::Test {};
using Clocks = ::testing::Types<SystemClock, FakeClock>;
TYPED_TEST_SUITE(AnyClock, Clocks);

TYPED_TEST(AnyClock, StopWinsOverEverything) {
    TypeParam clock;
    Wakeup wakeup;
    wakeup.Notify();
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(clock.Wait(wakeup, clock.SteadyNow() + hours(1), stop.get_token()),
              WaitOutcome::kStopped);
}

TYPED_TEST(AnyClock, AStopRequestEndsAWait) {
    TypeParam clock;
    Wakeup wakeup;
    WaitOutcome outcome = WaitOutcome::kDeadline;
    {
        std::jthread waiter([&](const std::stop_token& stop) {
            outcome = clock.WaitUntil(wakeup, clock.Now() + hours(1), stop);
        });
    }
    EXPECT_EQ(outcome, WaitOutcome::kStopped);
}

TYPED_TEST(AnyClock, ANotificationEndsAWait) {
    TypeParam clock;
    Wakeup wakeup;
    std::jthread waiter([&] {
        EXPECT_EQ(clock.Wait(wakeup, clock.SteadyNow() + hours(1), {}), WaitOutcome::kNotified);
    });
    wakeup.Notify();
}

TYPED_TEST(AnyClock, APastDeadlineReturnsAtOnce) {
    TypeParam clock;
    Wakeup wakeup;
    EXPECT_EQ(clock.WaitUntil(wakeup, clock.Now() - hours(1), {}), WaitOutcome::kDeadline);
}

}  // namespace
}  // namespace ksana
