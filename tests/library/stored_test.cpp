// Jobs in a store: history, restarts, misfires, retries, groups (N-20).

#include <thread>

#include "ksana/model/run/trace_context.hpp"
#include "ksana/store/store.hpp"
#include "library/library_fixture.hpp"
#include "library/run_signal.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;

class StoredTest : public ::testing::Test {
  protected:
    std::string Store() const { return "sqlite:" + (folder_.path() / "app.db").string(); }
    static JobStatus StatusOf(const Scheduler& scheduler, std::string_view id) {
        for (const JobStatus& job : scheduler.Snapshot()) {
            if (job.id == id) return job;
        }
        ADD_FAILURE() << id;
        return {};
    }

    LogLines log_;
    test::TemporaryFolder folder_;
    Context context_;
    Signal ran_;
};

TEST_F(StoredTest, JobsFireFromTheStore) {
    Scheduler scheduler(context_, {.store = Store()});
    ASSERT_TRUE(
        scheduler.Add({.id = "beat", .fixed_rate = 50ms}, [&](JobContext&) { ran_.Note(); }));
    const auto started = scheduler.Start();
    ASSERT_TRUE(started) << started.error().Describe();
    ASSERT_TRUE(ran_.Await(3));
    scheduler.Shutdown(10s);
    const JobStatus status = StatusOf(scheduler, "beat");
    EXPECT_GE(status.run_count, 3);
    EXPECT_EQ(status.last_result, JobResult::kSuccess);
}

TEST_F(StoredTest, ATriggerHandsOverParametersAndObeysOverlap) {  // N-14
    Scheduler scheduler(context_, {.store = "memory:"});
    Signal started;
    Signal release;
    Parameters got;
    ASSERT_TRUE(scheduler.Add({.id = "report", .cron = "0 0 1 1 *"}, [&](JobContext& context) {
        got = context.parameters();
        started.Note();
        EXPECT_TRUE(release.Await(1));
        ran_.Note();
    }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(scheduler.Trigger("report", {{"day", "today"}, {"quote", "\"x\""}}));
    ASSERT_TRUE(started.Await(1));
    EXPECT_EQ(got, (Parameters{{"day", "today"}, {"quote", "\"x\""}}));
    EXPECT_TRUE(StatusOf(scheduler, "report").running);
    ASSERT_TRUE(scheduler.Trigger("report"));
    EXPECT_EQ(StatusOf(scheduler, "report").skip_count, 1);
    EXPECT_EQ(scheduler.Trigger("nope").error().code, Code::kNotFound);
    release.Note();
    ASSERT_TRUE(ran_.Await(1));
    scheduler.Shutdown(10s);
    EXPECT_EQ(StatusOf(scheduler, "report").run_count, 1);
}

TEST_F(StoredTest, AHandlerIsToldItsTrace) {  // D-13
    Scheduler scheduler(context_, {.store = "memory:"});
    std::string told;
    ASSERT_TRUE(scheduler.Add({.id = "traced", .cron = "0 0 1 1 *"}, [&](JobContext& context) {
        told = context.traceparent();
        ran_.Note();
    }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(scheduler.Trigger("traced"));
    ASSERT_TRUE(ran_.Await(1));
    scheduler.Shutdown(10s);
    const auto parent = model::ParseTraceParent(told);
    ASSERT_TRUE(parent) << told;
}

TEST_F(StoredTest, AFailureIsTriedAgain) {  // N-20
    Scheduler scheduler(context_, {.store = "memory:"});
    std::atomic<int> attempts{0};
    ASSERT_TRUE(scheduler.Add(
        {.id = "flaky", .cron = "0 0 1 1 *", .retry = {.max_retries = 2, .interval = 10ms}},
        [&](JobContext& context) -> Task<> {
            attempts = context.attempt();
            co_await context.Sleep(1ms);
            if (context.attempt() < 3) throw std::runtime_error("again");
            ran_.Note();
        }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(scheduler.Trigger("flaky"));
    ASSERT_TRUE(ran_.Await(1));
    scheduler.Shutdown(10s);
    EXPECT_EQ(attempts, 3);
    EXPECT_EQ(StatusOf(scheduler, "flaky").run_count, 1);
    EXPECT_EQ(StatusOf(scheduler, "flaky").fail_count, 0);
}

TEST_F(StoredTest, ATimeoutCancelsARun) {
    Scheduler scheduler(context_, {.store = "memory:"});
    std::atomic<bool> whole{true};
    ASSERT_TRUE(scheduler.Add({.id = "slow", .cron = "0 0 1 1 *", .timeout = 50ms},
                              [&](JobContext& context) -> Task<> {
                                  EXPECT_TRUE(context.deadline());
                                  whole = co_await context.Sleep(1h);
                                  ran_.Note();
                              }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(scheduler.Trigger("slow"));
    ASSERT_TRUE(ran_.Await(1));
    EXPECT_FALSE(whole);
    scheduler.Shutdown(10s);
    EXPECT_EQ(StatusOf(scheduler, "slow").last_result, JobResult::kFailed);
    EXPECT_EQ(StatusOf(scheduler, "slow").last_error, "timed out");
}

TEST_F(StoredTest, AFixedRateWithoutADelayFiresAtOnce) {  // N-09
    Scheduler scheduler(context_, {.store = Store()});
    ASSERT_TRUE(scheduler.Add({.id = "hourly", .fixed_rate = 1h}, [&](JobContext& context) {
        EXPECT_FALSE(context.deadline());
        EXPECT_GT(context.fence(), 0);
        ran_.Note();
    }));
    ASSERT_TRUE(scheduler.Start());
    EXPECT_TRUE(ran_.Await(1));
    scheduler.Shutdown(10s);
}

TEST_F(StoredTest, FiresDuringARunAreSkipped) {  // N-16
    class Skips final : public JobExecutionListener {
      public:
        void OnSkipped(const std::string&, std::int64_t) override { seen.Note(); }
        Signal seen;
    };
    Skips skips;
    Scheduler scheduler(context_, {.listener = &skips, .store = "memory:"});
    ASSERT_TRUE(scheduler.Add({.id = "slow", .fixed_rate = 20ms},
                              [](JobContext& context) -> Task<> { co_await context.Sleep(90ms); }));
    ASSERT_TRUE(scheduler.Start());
    EXPECT_TRUE(skips.seen.Await(1));
    scheduler.Shutdown(10s);
    EXPECT_GE(StatusOf(scheduler, "slow").skip_count, 3);
}

// A restart keeps the grid of a fixed rate and the history, and takes over changed declarations.
TEST_F(StoredTest, RestartsAreSurvived) {
    std::int64_t first = 0;
    {
        Scheduler scheduler(context_, {.store = Store()});
        ASSERT_TRUE(scheduler.Add({.id = "beat", .fixed_rate = 100ms}, [&](JobContext& context) {
            if (first == 0) first = context.fire_time();
            ran_.Note();
        }));
        ASSERT_TRUE(scheduler.Add({.id = "old", .fixed_rate = 1h, .initial_delay = 1h},
                                  [](JobContext&) {}));
        ASSERT_TRUE(scheduler.Start());
        ASSERT_TRUE(ran_.Await(1));
        scheduler.Shutdown(10s);
    }
    Signal again;
    std::atomic<std::int64_t> later{0};
    Scheduler scheduler(context_, {.store = Store()});
    ASSERT_TRUE(scheduler.Add({.id = "beat", .fixed_rate = 100ms}, [&](JobContext& context) {
        later = context.fire_time();
        again.Note();
    }));
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(again.Await(1));
    scheduler.Shutdown(10s);
    EXPECT_EQ((later - first) % 100, 0) << "the same grid";
    EXPECT_EQ(log_.With({"not declared any more", "jobId=old"}).size(), 1U);
}

// The fire that was due while the process was down is made up for, as the job says.
TEST_F(StoredTest, MisfiresAreHonoured) {
    FakeClock clock;
    const auto run = [&](Signal& signal, std::vector<std::int64_t>& fires) {
        Scheduler scheduler(context_, {.store = Store(), .clock = &clock});
        EXPECT_TRUE(
            scheduler.Add({.id = "daily", .cron = "0 3 * * *", .misfire = Misfire::kRunLatest},
                          [&](JobContext& context) {
                              fires.push_back(context.fire_time());
                              signal.Note();
                          }));
        EXPECT_TRUE(scheduler.Start());
        if (clock.Now() > FakeClock::DefaultStart()) {
            EXPECT_TRUE(signal.Await(1));
        }
        scheduler.Shutdown(0ms);
    };
    std::vector<std::int64_t> fires;
    run(ran_, fires);
    EXPECT_TRUE(fires.empty());
    clock.Advance(72h);
    run(ran_, fires);
    EXPECT_EQ(fires, std::vector<std::int64_t>{After(51h)});
}

TEST_F(StoredTest, SetEnabledHoldsUntilTheRestart) {  // N-19
    for (int round = 0; round < 2; ++round) {
        Scheduler scheduler(context_, {.store = Store()});
        ASSERT_TRUE(scheduler.Add({.id = "beat", .fixed_rate = 1h, .initial_delay = 1h},
                                  [](JobContext&) {}));
        ASSERT_TRUE(scheduler.Start());
        EXPECT_TRUE(StatusOf(scheduler, "beat").enabled);
        EXPECT_TRUE(StatusOf(scheduler, "beat").next_fire_time);
        ASSERT_TRUE(scheduler.SetEnabled("beat", false));
        EXPECT_FALSE(StatusOf(scheduler, "beat").enabled);
        EXPECT_FALSE(StatusOf(scheduler, "beat").next_fire_time);
        scheduler.Shutdown(10s);
    }
}

TEST_F(StoredTest, JobsCanBeAddedAndRemoved) {  // N-20
    Scheduler scheduler(context_, {.store = Store()});
    ASSERT_TRUE(scheduler.Start());
    ASSERT_TRUE(
        scheduler.Add({.id = "late", .fixed_rate = 20ms}, [&](JobContext&) { ran_.Note(); }));
    ASSERT_TRUE(ran_.Await(2));
    ASSERT_TRUE(scheduler.Remove("late"));
    EXPECT_TRUE(scheduler.Snapshot().empty());
    EXPECT_EQ(scheduler.Remove("late").error().code, Code::kNotFound);
    scheduler.Shutdown(10s);
}

TEST_F(StoredTest, BadOptionsAreTold) {
    const auto fault = [&](SchedulerOptions options) {
        Scheduler scheduler(context_, std::move(options));
        const auto started = scheduler.Start();
        return started ? std::string() : started.error().Describe();
    };
    EXPECT_NE(fault({.store = "sqlight:x"}).find("store: "), std::string::npos);
    EXPECT_NE(fault({.http = "7200"}).find("http: \"7200\" is no ADDRESS:PORT"), std::string::npos);
    EXPECT_NE(fault({.http = "0.0.0.0:0"}).find("http_token_file"), std::string::npos);
    EXPECT_NE(fault({.http = "127.0.0.1:x"}).find("is no ADDRESS:PORT"), std::string::npos);
    EXPECT_EQ(fault({.http = "127.0.0.1:0"}), "");
}

}  // namespace
}  // namespace ksana::library
