// Starting and stopping, with threads: N-14, N-18.

#include <stdexcept>
#include <thread>

#include "library/library_fixture.hpp"
#include "library/run_signal.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;

class ShutdownTest : public ::testing::Test {
  protected:
    LogLines log_;
    Context context_;
    Signal started_;
};

TEST_F(ShutdownTest, WaitsForRunsAndStartsNoNewOnes) {  // N-14
    Signal release;
    std::atomic<int> runs{0};
    std::atomic<int> ended{0};
    Scheduler scheduler(context_, {.lock = "memory:"});
    ASSERT_TRUE(scheduler.Add({.id = "beat", .fixed_rate = 1ms}, [&](JobContext&) {
        ++runs;
        started_.Note();
        EXPECT_TRUE(release.Await(1));
        ++ended;
    }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(started_.Await(1));
    std::jthread stopper([&] { scheduler.Shutdown(60s); });
    release.Note();
    stopper.join();
    const int after = runs;
    EXPECT_FALSE(scheduler.Snapshot().at(0).running);
    EXPECT_EQ(ended, after);
    EXPECT_EQ(runs, after);
    EXPECT_EQ(scheduler.Trigger("beat").error().code, Code::kUnavailable);
}

TEST_F(ShutdownTest, CancelsWhatDoesNotEndInTime) {  // N-14
    Scheduler scheduler(context_, {.lock = "memory:"});
    std::atomic<bool> cancelled{false};
    ASSERT_TRUE(scheduler.Add({.id = "plain", .fixed_rate = 1h}, [&](JobContext& context) {
        started_.Note();
        EXPECT_FALSE(context.SleepOnThread(1h));
        cancelled = context.cancelled();
    }));
    ASSERT_TRUE(
        scheduler.Add({.id = "coroutine", .fixed_rate = 1h}, [&](JobContext& context) -> Task<> {
            started_.Note();
            const bool whole = co_await context.Sleep(1h);
            EXPECT_FALSE(whole);
        }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(started_.Await(2));
    scheduler.Shutdown(10ms);
    EXPECT_TRUE(cancelled);
}

TEST_F(ShutdownTest, ALoopThatLooksAtCancelledEnds) {
    Scheduler scheduler(context_, {.lock = "memory:"});
    ASSERT_TRUE(scheduler.Add({.id = "busy", .fixed_rate = 1h}, [&](JobContext& context) {
        started_.Note();
        while (!context.cancelled()) std::this_thread::yield();
    }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(started_.Await(1));
    scheduler.Shutdown(0ms);
}

// A handler that neither ends nor looks: Shutdown comes back, says so, and leaves its thread alone.
TEST_F(ShutdownTest, AHandlerThatHangsIsLeftBehind) {
    Signal release;
    // Shared: the thread that is left behind is still in Note when the test goes on.
    const auto ended = std::make_shared<Signal>();
    {
        Scheduler scheduler(context_, {.lock = "memory:", .shutdown_timeout = 0ms});
        ASSERT_TRUE(scheduler.Add({.id = "hang", .fixed_rate = 1h}, [&, ended](JobContext&) {
            started_.Note();
            EXPECT_TRUE(release.Await(1));
            ended->Note();
        }));
        ASSERT_TRUE(scheduler.Start());
        ASSERT_TRUE(started_.Await(1));
        scheduler.Shutdown(0ms);
        EXPECT_EQ(log_.With({"error", "job.not_stopping", "jobId=hang"}).size(), 1U);
    }
    release.Note();
    EXPECT_TRUE(ended->Await(1));
}

TEST_F(ShutdownTest, ACancelledRunHasNotSucceeded) {
    Scheduler scheduler(context_, {.lock = "memory:"});
    ASSERT_TRUE(
        scheduler.Add({.id = "sleeper", .fixed_rate = 1h}, [&](JobContext& context) -> Task<> {
            started_.Note();
            co_await context.Sleep(1h);
        }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(started_.Await(1));
    scheduler.Shutdown(0ms);
    EXPECT_EQ(scheduler.Snapshot().at(0).last_result, JobResult::kFailed);
    EXPECT_EQ(scheduler.Snapshot().at(0).last_error, "cancelled: the scheduler shut down");
}

TEST_F(ShutdownTest, TheKitForTestsHasNoStore) {
    testing::TestScheduler test(context_, {.store = "memory:"});
    EXPECT_EQ(test.Start().error().code, Code::kInvalidArgument);
}

TEST_F(ShutdownTest, CanBeStartedAgain) {  // N-18
    Signal ran;
    Scheduler scheduler(context_, {.lock = "memory:"});
    ASSERT_TRUE(scheduler.Add({.id = "beat", .fixed_rate = 1ms}, [&](JobContext&) { ran.Note(); }));
    for (int round = 1; round <= 3; ++round) {
        ASSERT_TRUE(scheduler.Start());
        EXPECT_TRUE(scheduler.Start()) << "a second start does nothing";
        EXPECT_TRUE(ran.Await(round * 5));
        scheduler.Shutdown(10s);
        scheduler.Shutdown(10s);
    }
}

// Shutdown in every phase of many short runs, from several threads, while others trigger and look.
TEST_F(ShutdownTest, AtAnyMoment) {
    for (int round = 0; round < 20; ++round) {
        Scheduler scheduler(context_, {.lock = "memory:", .threads = 3});
        for (int n = 0; n < 20; ++n) {
            const std::string id = "job-" + std::to_string(n);
            if (n % 2 == 0) {
                ASSERT_TRUE(scheduler.Add({.id = id, .fixed_rate = 1ms, .timeout = 2ms},
                                          [](JobContext& context) -> Task<> {
                                              co_await context.Sleep(100us);
                                              const auto nothing = [] {};
                                              co_await context.Blocking(nothing);
                                              co_await context.Sleep(3ms);
                                          }));
            } else {
                ASSERT_TRUE(scheduler.Add({.id = id, .fixed_rate = 1ms}, [n](JobContext&) {
                    if (n % 3 == 0) throw std::runtime_error("no");
                }));
            }
        }
        ASSERT_TRUE(scheduler.Start());
        std::jthread triggers([&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                static_cast<void>(scheduler.Trigger("job-1"));
                static_cast<void>(scheduler.SetEnabled("job-2", round % 2 == 0));
                static_cast<void>(scheduler.Snapshot());
                static_cast<void>(
                    scheduler.Add({.id = "extra", .fixed_rate = 1ms}, [](JobContext&) {}));
                static_cast<void>(scheduler.Remove("extra"));
            }
        });
        SystemClock clock;
        Wakeup nothing;
        clock.Wait(nothing, clock.SteadyNow() + std::chrono::milliseconds(round), {});
        std::jthread other([&] { scheduler.Shutdown(1s); });
        scheduler.Shutdown(1s);
    }
}

TEST_F(ShutdownTest, AJobMayCallItsScheduler) {
    Signal done;
    Scheduler scheduler(context_, {.lock = "memory:"});
    ASSERT_TRUE(
        scheduler.Add({.id = "other", .cron = "0 0 1 1 *"}, [&](JobContext&) { done.Note(); }));
    ASSERT_TRUE(scheduler.Add({.id = "caller", .fixed_rate = 1h}, [&](JobContext&) {
        EXPECT_TRUE(scheduler.Trigger("other"));
        EXPECT_EQ(scheduler.Snapshot().size(), 2U);
        EXPECT_TRUE(scheduler.SetEnabled("other", false));
    }));
    ASSERT_TRUE(scheduler.Start());
    EXPECT_TRUE(done.Await(1));
    scheduler.Shutdown(10s);
}

}  // namespace
}  // namespace ksana::library
