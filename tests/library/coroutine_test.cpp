// Jobs as coroutines: sleeping, blocking calls, timeouts, cancellation.

#include <stdexcept>
#include <thread>

#include "library/library_fixture.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;

TEST_F(LibraryTest, ASleepTakesItsTimeAndNoThread) {
    std::vector<bool> whole;
    Add({.id = "sleeper", .fixed_rate = 1h}, [&](JobContext& context) -> Task<> {
        whole.push_back(co_await context.Sleep(10s));
        whole.push_back(co_await context.Sleep(0s));
        whole.push_back(co_await context.Sleep(-5s));
    });
    Start();
    test_.Advance(9s);
    EXPECT_TRUE(whole.empty());
    test_.Advance(1s);
    EXPECT_EQ(whole, (std::vector<bool>{true, true, true}));
    EXPECT_EQ(Status("sleeper").last_duration, 10'000);
}

Task<int> Add1(JobContext& context, int value) {
    co_await context.Sleep(1s);
    if (value == 3) throw std::runtime_error("three");
    co_return value + 1;
}

TEST_F(LibraryTest, ATaskMayAwaitOthers) {
    int sum = 0;
    std::string caught;
    Add({.id = "nested", .fixed_rate = 1h}, [&](JobContext& context) -> Task<> {
        sum = co_await Add1(context, 1);
        sum = co_await Add1(context, sum);
        try {
            sum = co_await Add1(context, sum);
        } catch (const std::runtime_error& error) {
            caught = error.what();
        }
    });
    Start();
    test_.Advance(1min);
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(caught, "three");
    EXPECT_EQ(Status("nested").last_duration, 3000);
    EXPECT_EQ(Status("nested").last_result, JobResult::kSuccess);
}

TEST_F(LibraryTest, ABlockingCallReturnsItsResultOrThrows) {
    int value = 0;
    std::string caught;
    Add({.id = "blocking", .fixed_rate = 1h}, [&](JobContext& context) -> Task<> {
        const auto read = [] { return 42; };
        value = co_await context.Blocking(read);
        const auto fail = [] { throw std::runtime_error("disk"); };
        try {
            co_await context.Blocking(fail);
        } catch (const std::runtime_error& error) {
            caught = error.what();
        }
    });
    Start();
    test_.RunDue();
    EXPECT_EQ(value, 42);
    EXPECT_EQ(caught, "disk");
}

TEST_F(LibraryTest, ATimeoutCancelsARun) {
    bool whole = true;
    Add({.id = "slow", .fixed_rate = 1h, .timeout = 2s}, [&](JobContext& context) -> Task<> {
        whole = co_await context.Sleep(10min);
        EXPECT_TRUE(context.cancelled());
        EXPECT_FALSE(co_await context.Sleep(10min)) << "no further sleep";
    });
    Start();
    test_.Advance(1999ms);
    EXPECT_TRUE(Status("slow").running);
    test_.Advance(1ms);
    EXPECT_FALSE(whole);
    const JobStatus status = Status("slow");
    EXPECT_FALSE(status.running);
    EXPECT_EQ(status.last_result, JobResult::kFailed);
    EXPECT_EQ(status.last_error, "timed out");
    EXPECT_EQ(status.fail_count, 1);
}

TEST_F(LibraryTest, ATimeoutThatIsNotReachedDoesNothing) {
    Add({.id = "quick", .fixed_rate = 10s, .timeout = 2s},
        [](JobContext& context) -> Task<> { co_await context.Sleep(1999ms); });
    Start();
    test_.Advance(1min);
    EXPECT_EQ(Status("quick").run_count, 6);
    EXPECT_EQ(Status("quick").fail_count, 0);
}

TEST_F(LibraryTest, AnEmptyTaskIsAFailure) {
    Add({.id = "empty", .fixed_rate = 1h}, [](JobContext&) { return Task<>(); });
    Start();
    test_.RunDue();
    EXPECT_EQ(Status("empty").last_error, "the job returned an empty Task");
}

// With threads from here on.

TEST(LibraryThreads, BlockingCallsDoNotBlockOtherJobs) {
    const LogLines log;
    Context context;
    Scheduler scheduler(context, {.lock = "memory:", .threads = 1});
    Mutex mutex;
    CondVar changed;
    bool other_ran = false;
    bool ended = false;
    ASSERT_TRUE(
        scheduler.Add({.id = "blocking", .cron = "0 0 1 1 *"}, [&](JobContext& run) -> Task<> {
            const auto wait = [&] {
                MutexLock lock(mutex);
                changed.Wait(lock, [&]() KSANA_REQUIRES(mutex) { return other_ran; });
                return std::this_thread::get_id();
            };
            const auto there = co_await run.Blocking(wait);
            EXPECT_NE(there, std::this_thread::get_id());
            const MutexLock lock(mutex);
            ended = true;
            changed.NotifyAll();
        }));
    ASSERT_TRUE(scheduler.Add({.id = "other", .cron = "0 0 1 1 *"}, [&](JobContext&) {
        const MutexLock lock(mutex);
        other_ran = true;
        changed.NotifyAll();
    }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(scheduler.Trigger("blocking"));
    ASSERT_TRUE(scheduler.Trigger("other"));
    MutexLock lock(mutex);
    changed.Wait(lock, [&]() KSANA_REQUIRES(mutex) { return ended; });
}

// Threads that resume coroutines. The resumed coroutine may end, and the test with it, before
// the thread that started it returns from Resume: both wait for the mutex, and neither is the
// coroutine's.
class ResumingThreads {
  public:
    ~ResumingThreads() {
        std::vector<std::jthread> started;
        const MutexLock lock(mutex_);
        started.swap(threads_);
    }
    void Resume(std::coroutine_handle<> caller) {
        const MutexLock lock(mutex_);
        threads_.emplace_back([caller] { caller.resume(); });
    }

  private:
    Mutex mutex_;
    std::vector<std::jthread> threads_ KSANA_GUARDED_BY(mutex_);
};

// A coroutine may await something of its own, which resumes it on a thread of its own.
TEST(LibraryThreads, AJobMayBeResumedElsewhere) {
    const LogLines log;
    struct OnNewThread {
        ResumingThreads& threads;
        bool await_ready() const { return false; }
        void await_suspend(std::coroutine_handle<> caller) const { threads.Resume(caller); }
        void await_resume() const {}
    };
    Context context;
    ResumingThreads threads;
    Wakeup ended;
    Scheduler scheduler(context, {.lock = "memory:"});
    ASSERT_TRUE(
        scheduler.Add({.id = "elsewhere", .cron = "0 0 1 1 *"}, [&](JobContext& run) -> Task<> {
            OnNewThread elsewhere{threads};
            co_await elsewhere;
            const bool whole = co_await run.Sleep(1ms);
            EXPECT_TRUE(whole);
            co_await elsewhere;
            ended.Notify();
        }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(scheduler.Trigger("elsewhere"));
    SystemClock clock;
    ASSERT_EQ(clock.Wait(ended, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
    scheduler.Shutdown(10s);
    EXPECT_EQ(scheduler.Snapshot().at(0).last_result, JobResult::kSuccess);
}

TEST(LibraryThreads, TenThousandCoroutinesAreCancelledAtOnce) {
    const LogLines log;
    constexpr int kJobs = 10'000;
    Context context;
    std::atomic<int> sleeping{0};
    std::atomic<int> woken{0};
    Wakeup all_sleep;
    Scheduler scheduler(context, {.lock = "memory:", .threads = 4});
    for (int n = 0; n < kJobs; ++n) {
        ASSERT_TRUE(scheduler.Add(
            {.id = "job-" + std::to_string(n), .fixed_rate = 24h, .mode = ExecutionMode::kAllNodes},
            [&](JobContext& run) -> Task<> {
                if (++sleeping == kJobs) all_sleep.Notify();
                const bool whole = co_await run.Sleep(24h);
                if (!whole) ++woken;
            }));
    }
    ASSERT_TRUE(scheduler.Start());
    SystemClock clock;
    ASSERT_EQ(clock.Wait(all_sleep, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
    scheduler.Shutdown(0ms);
    EXPECT_EQ(woken, kJobs);
    for (const JobStatus& job : scheduler.Snapshot()) {
        EXPECT_FALSE(job.running) << job.id;
    }
}

}  // namespace
}  // namespace ksana::library
