// Jobs for one node: N-11, N-12, N-13.

#include <atomic>
#include <map>

#include "ksana/lock/memory_locks.hpp"
#include "ksana/sdk/scheduler_core.hpp"
#include "library/library_fixture.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;

void Nothing(JobContext&) {}

std::string LockFaultOf(SchedulerOptions options) {
    Context context;
    Scheduler scheduler(context, std::move(options));
    EXPECT_TRUE(scheduler.Add({.id = "one", .cron = "0 3 * * *"}, Nothing));
    EXPECT_TRUE(scheduler.Add({.id = "two", .fixed_rate = 1h}, Nothing));
    EXPECT_TRUE(
        scheduler.Add({.id = "all", .fixed_rate = 1h, .mode = ExecutionMode::kAllNodes}, Nothing));
    const auto started = scheduler.Start();
    return started ? "" : started.error().Describe();
}

TEST(LibraryLock, AJobForOneNodeNeedsALock) {  // N-13
    const LogLines log;
    const std::string fault = LockFaultOf({});
    EXPECT_NE(fault.find("one: runs on a single node and needs a lock"), std::string::npos)
        << fault;
    EXPECT_NE(fault.find("two: "), std::string::npos) << fault;
    EXPECT_EQ(fault.find("all: "), std::string::npos) << fault;
    EXPECT_EQ(LockFaultOf({.lock = "memory:"}), "");
}

TEST(LibraryLock, ABadUrlIsTold) {
    const LogLines log;
    EXPECT_NE(LockFaultOf({.lock = "reddis://localhost"}).find("redis"), std::string::npos);
    EXPECT_NE(LockFaultOf({.lock = "store"}).find("needs a store"), std::string::npos);
}

TEST(LibraryLock, OnlyJobsForAllNodesNeedNone) {  // N-12
    const LogLines log;
    Context context;
    Scheduler scheduler(context, {});
    EXPECT_TRUE(
        scheduler.Add({.id = "all", .fixed_rate = 1h, .mode = ExecutionMode::kAllNodes}, Nothing));
    EXPECT_TRUE(scheduler.Start());
    const auto late = scheduler.Add({.id = "one", .fixed_rate = 1h}, Nothing);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().problems.at(0).path, "/mode");
}

// A driver that notes its calls and answers as it is told.
class ScriptedLocks final : public lock::LockDriver {
  public:
    Result<lock::TryAnswer> Try(const lock::LockRequest& request) override {
        tries.push_back(request);
        if (fails) return Error(Code::kUnavailable, "the server is away");
        if (!grants) return lock::TryAnswer{.grant = {}, .last_stamp = last_stamp};
        return lock::TryAnswer{.grant = lock::Grant{.fence = ++fence, .valid_for = request.ttl},
                               .last_stamp = request.stamp};
    }
    Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t held) override {
        ++renewals;
        if (lost) return Error(Code::kLeaseLost, "gone");
        return lock::Grant{.fence = held, .valid_for = request.ttl};
    }
    Result<void> Release(const lock::LockRequest& request, std::int64_t) override {
        released.push_back(request.key);
        return {};
    }
    std::string Location() const override { return "scripted:"; }

    std::vector<lock::LockRequest> tries;
    std::vector<std::string> released;
    std::optional<std::int64_t> last_stamp;
    std::int64_t fence = 0;
    std::atomic<int> renewals{0};
    bool grants = true;
    bool fails = false;
    bool lost = false;
};

// The kit with a scripted driver.
class LockedTest : public LibraryTest {
  protected:
    LockedTest() {
        auto driver = std::make_unique<ScriptedLocks>();
        locks_ = driver.get();
        detail::SchedulerAccess::CoreOf(test_.scheduler()).UseLocksForTest(std::move(driver));
    }
    ScriptedLocks* locks_;
};

TEST_F(LockedTest, ARunHoldsTheLockOfItsJob) {  // N-11
    std::size_t released_while_running = 1;
    Add({.id = "one", .cron = "0 3 * * *", .lock_ttl = 60s},
        [&](JobContext&) { released_while_running = locks_->released.size(); });
    Start();
    test_.Advance(3h);
    ASSERT_EQ(locks_->tries.size(), 1U);
    EXPECT_EQ(locks_->tries[0].key, "ksana:lock:job:one");
    EXPECT_EQ(locks_->tries[0].ttl, 60s);
    EXPECT_EQ(locks_->tries[0].stamp, After(3h) * 1000);
    EXPECT_EQ(released_while_running, 0U);
    EXPECT_EQ(locks_->released, std::vector<std::string>{"ksana:lock:job:one"});
}

TEST_F(LockedTest, TheLockIsReleasedWhateverHappens) {  // N-11
    Add({.id = "throws", .fixed_rate = 1h}, [](JobContext&) { throw std::runtime_error("no"); });
    Add({.id = "coroutine", .fixed_rate = 1h}, [](JobContext& context) -> Task<> {
        co_await context.Sleep(1s);
        throw std::runtime_error("no");
    });
    Add({.id = "timeout", .fixed_rate = 1h, .timeout = 1s},
        [](JobContext& context) -> Task<> { co_await context.Sleep(1min); });
    Start();
    test_.Advance(2s);
    EXPECT_EQ(locks_->tries.size(), 3U);
    EXPECT_EQ(locks_->released.size(), 3U);
}

TEST_F(LockedTest, WithoutTheLockARunIsSkipped) {  // N-11
    int runs = 0;
    Add({.id = "one", .fixed_rate = 1s}, [&](JobContext&) { ++runs; });
    locks_->grants = false;
    Start();
    test_.Advance(2500ms);
    EXPECT_EQ(runs, 0);
    const JobStatus status = Status("one");
    EXPECT_EQ(status.skip_count, 3);
    EXPECT_EQ(status.run_count, 0);
    EXPECT_EQ(status.fail_count, 0);
    EXPECT_EQ(status.last_result, JobResult::kSkipped);
    EXPECT_EQ(log_.With({"info", "job.skipped", "jobId=one", "reason=lock"}).size(), 3U);
    EXPECT_TRUE(locks_->released.empty());
    locks_->grants = true;
    test_.Advance(1s);
    EXPECT_EQ(runs, 1) << "the next fire tries again";
}

TEST_F(LockedTest, ATriggerTakesTheLockWithoutAStamp) {  // N-14
    Add({.id = "one", .cron = "0 3 * * *"}, Nothing);
    Start();
    ASSERT_TRUE(test_.RunOnce("one"));
    ASSERT_EQ(locks_->tries.size(), 1U);
    EXPECT_EQ(locks_->tries[0].stamp, std::nullopt);
    locks_->grants = false;
    const auto refused = test_.RunOnce("one");
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->result, JobResult::kSkipped);
}

TEST_F(LockedTest, ALockServerThatIsAwayIsAFailure) {
    Add({.id = "one", .fixed_rate = 1s}, Nothing);
    locks_->fails = true;
    Start();
    test_.RunDue();
    EXPECT_EQ(Status("one").last_result, JobResult::kFailed);
    EXPECT_NE(Status("one").last_error.find("the server is away"), std::string::npos);
    locks_->fails = false;
    test_.Advance(1s);
    EXPECT_EQ(Status("one").last_result, JobResult::kSuccess);
}

TEST_F(LockedTest, JobsForAllNodesNeverAskForALock) {  // N-12
    Add({.id = "all", .fixed_rate = 1s, .mode = ExecutionMode::kAllNodes}, Nothing);
    Start();
    test_.Advance(10s);
    EXPECT_TRUE(test_.RunOnce("all"));
    EXPECT_TRUE(locks_->tries.empty());
    EXPECT_EQ(Status("all").run_count, 12);
}

TEST_F(LockedTest, ARetryBelongsToTheFireThatThisProcessHas) {
    int runs = 0;
    Add({.id = "one", .fixed_rate = 1h, .retry = {.max_retries = 1, .interval = 1s}},
        [&](JobContext&) {
            if (++runs == 1) throw std::runtime_error("first");
        });
    Start();
    test_.Advance(2s);
    ASSERT_EQ(locks_->tries.size(), 2U);
    EXPECT_EQ(locks_->tries[1].stamp, std::nullopt);
}

// A fire that this process could not ask for is not its own: the retry asks for it again.
TEST_F(LockedTest, ARetryAfterALockServerWasAwayStillHasItsStamp) {
    Add({.id = "one", .fixed_rate = 1h, .retry = {.max_retries = 1, .interval = 1s}}, Nothing);
    locks_->fails = true;
    Start();
    test_.RunDue();
    locks_->fails = false;
    test_.Advance(2s);
    ASSERT_EQ(locks_->tries.size(), 2U);
    EXPECT_EQ(locks_->tries[1].stamp, After(0ms) * 1000);
    EXPECT_EQ(Status("one").last_result, JobResult::kSuccess);
}

TEST_F(LockedTest, ARunKnowsTheFenceOfItsLock) {
    std::vector<std::int64_t> fences;
    Add({.id = "one", .fixed_rate = 1s}, [&](JobContext& run) { fences.push_back(run.fence()); });
    Add({.id = "all", .fixed_rate = 1h, .mode = ExecutionMode::kAllNodes},
        [&](JobContext& run) { EXPECT_EQ(run.fence(), 0); });
    Start();
    test_.Advance(1s);
    EXPECT_EQ(fences, (std::vector<std::int64_t>{1, 2}));
}

// One process in each period of a fixed rate, whatever the phase of its grid.
TEST_F(LockedTest, TheStampOfAFixedRateIsItsPeriod) {
    Add({.id = "one", .fixed_rate = 1min, .initial_delay = 90s}, Nothing);
    Start();
    test_.Advance(4min);
    ASSERT_EQ(locks_->tries.size(), 3U);
    EXPECT_EQ(locks_->tries[0].stamp, After(60s) * 1000);
    EXPECT_EQ(locks_->tries[1].stamp, After(120s) * 1000);
    EXPECT_EQ(locks_->tries[2].stamp, After(180s) * 1000);
    test_.clock().JumpWall(-30s);
    test_.Advance(2min);
    ASSERT_EQ(locks_->tries.size(), 5U);
    EXPECT_EQ(locks_->tries[3].stamp, After(240s) * 1000)
        << "goes on though the clock was set back";
}

TEST_F(LockedTest, AFireFarAheadIsIgnored) {
    int runs = 0;
    Add({.id = "one", .fixed_rate = 1h}, [&](JobContext&) { ++runs; });
    locks_->grants = false;
    locks_->last_stamp = After(2h) * 1000;
    Start();
    test_.RunDue();
    ASSERT_EQ(locks_->tries.size(), 2U);
    EXPECT_EQ(locks_->tries[1].key, "ksana:lock:job:one:behind") << "which remembers instead";
    EXPECT_EQ(locks_->tries[1].stamp, After(0ms) * 1000);
    EXPECT_EQ(log_.With({"warn", "more than an hour ahead"}).size(), 1U);
}

// Two processes on one lock server.
class TwoProcesses : public ::testing::Test {
  protected:
    // Passes calls on to the server.
    class Client final : public lock::LockDriver {
      public:
        explicit Client(lock::LockDriver& to) : to_(to) {}
        Result<lock::TryAnswer> Try(const lock::LockRequest& request) override {
            return to_.Try(request);
        }
        Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t fence) override {
            return to_.Renew(request, fence);
        }
        Result<void> Release(const lock::LockRequest& request, std::int64_t fence) override {
            return to_.Release(request, fence);
        }
        std::string Location() const override { return to_.Location(); }

      private:
        lock::LockDriver& to_;
    };
    struct Process {
        Context context;
        testing::TestScheduler test{context};
    };

    void Start(Duration ahead, JobSpec spec) {
        for (Process& process : processes_) {
            detail::SchedulerAccess::CoreOf(process.test.scheduler())
                .UseLocksForTest(std::make_unique<Client>(server_));
            ASSERT_TRUE(process.test.scheduler().Add(
                spec, [this](JobContext& context) { ++runs_[context.fire_time()]; }));
        }
        processes_[1].test.clock().JumpWall(ahead);
        for (Process& process : processes_) ASSERT_TRUE(process.test.Start());
    }
    void Pass(std::chrono::seconds time) {
        for (std::chrono::seconds passed{}; passed < time; ++passed) {
            for (Process& process : processes_) process.test.Advance(1s);
            server_clock_.Advance(1s);
        }
    }

    LogLines log_;
    FakeClock server_clock_;
    lock::MemoryLocks server_{server_clock_};
    std::map<std::int64_t, int> runs_;
    Process processes_[2];
};

TEST_F(TwoProcesses, ClocksThatDifferDoNotDoubleAFire) {
    Start(90s, {.id = "one", .cron = "* * * * *"});
    Pass(1h);
    // From the first minute that the process ahead sees to the last one.
    EXPECT_EQ(runs_.size(), 60U);
    EXPECT_EQ(runs_.begin()->first, After(2min));
    EXPECT_EQ(runs_.rbegin()->first, After(61min));
    for (const auto& [fire, count] : runs_) EXPECT_EQ(count, 1) << fire - kStart;
}

// A third process with a clock that was days ahead has left its stamp behind.
TEST_F(TwoProcesses, AWrongClockOfThePastDoesNotDoubleAFire) {
    const lock::LockRequest wrong{
        .key = "ksana:lock:job:one", .token = "wrong", .ttl = 1s, .stamp = After(72h) * 1000};
    const auto tried = server_.Try(wrong);
    ASSERT_TRUE(tried && tried->grant);
    ASSERT_TRUE(server_.Release(wrong, tried->grant->fence));
    Start(0s, {.id = "one", .cron = "* * * * *"});
    Pass(10min);
    EXPECT_EQ(runs_.size(), 10U);
    for (const auto& [fire, count] : runs_) EXPECT_EQ(count, 1) << fire - kStart;
}

TEST_F(TwoProcesses, OneOfThemRunsInEachPeriodOfAFixedRate) {
    Start(90s, {.id = "one", .fixed_rate = 7s});
    Pass(10min);
    std::map<std::int64_t, int> periods;
    for (const auto& [fire, count] : runs_) periods[fire / 7000] += count;
    for (const auto& [period, count] : periods) EXPECT_EQ(count, 1) << period;
    EXPECT_GE(periods.size(), 80U);
}

TEST(LibraryLock, ARunThatOutlivesItsLockHasNotSucceeded) {
    const LogLines log;
    Context context;
    Wakeup ended;
    SystemClock clock;
    Scheduler scheduler(context, {.lock = "memory:"});
    ASSERT_TRUE(scheduler.Add({.id = "one", .fixed_rate = 1h, .lock_ttl = 50ms}, [&](JobContext&) {
        Wakeup nothing;
        clock.Wait(nothing, clock.SteadyNow() + 200ms, {});
        ended.Notify();
    }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_EQ(clock.Wait(ended, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
    scheduler.Shutdown(10s);
    EXPECT_EQ(scheduler.Snapshot().at(0).last_result, JobResult::kFailed);
    EXPECT_EQ(scheduler.Snapshot().at(0).last_error, "cancelled: the lock was lost");
}

TEST(LibraryLock, ALostLockCancelsTheRun) {
    const LogLines log;
    Context context;
    Scheduler scheduler(context, {.renew_locks = true});
    auto driver = std::make_unique<ScriptedLocks>();
    driver->lost = true;
    detail::SchedulerAccess::CoreOf(scheduler).UseLocksForTest(std::move(driver));
    Wakeup ended;
    std::atomic<bool> whole{true};
    ASSERT_TRUE(scheduler.Add({.id = "one", .fixed_rate = 1h, .lock_ttl = 90ms},
                              [&](JobContext& run) -> Task<> {
                                  whole = co_await run.Sleep(1h);
                                  ended.Notify();
                              }));
    ASSERT_TRUE(scheduler.Start());
    SystemClock clock;
    ASSERT_EQ(clock.Wait(ended, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
    EXPECT_FALSE(whole);
    scheduler.Shutdown(10s);
    EXPECT_EQ(scheduler.Snapshot().at(0).last_error, "cancelled: the lock was lost");
}

TEST(LibraryLock, ARunLongerThanItsLockKeepsItIfLocksAreRenewed) {  // N-20
    const LogLines log;
    Context context;
    Scheduler scheduler(context, {.renew_locks = true});
    auto driver = std::make_unique<ScriptedLocks>();
    const ScriptedLocks& locks = *driver;
    detail::SchedulerAccess::CoreOf(scheduler).UseLocksForTest(std::move(driver));
    Wakeup ended;
    std::atomic<bool> whole{false};
    ASSERT_TRUE(scheduler.Add({.id = "one", .fixed_rate = 1h, .lock_ttl = 600ms},
                              [&](JobContext& run) -> Task<> {
                                  whole = co_await run.Sleep(1500ms);
                                  ended.Notify();
                              }));
    ASSERT_TRUE(scheduler.Start());
    SystemClock clock;
    ASSERT_EQ(clock.Wait(ended, clock.SteadyNow() + 60s, {}), WaitOutcome::kNotified);
    EXPECT_TRUE(whole);
    EXPECT_GT(locks.renewals, 2);
    scheduler.Shutdown(10s);
}

}  // namespace
}  // namespace ksana::library
