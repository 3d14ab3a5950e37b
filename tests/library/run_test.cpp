// One run: its context, its outcome, its listener and its log.

#include <stdexcept>

#include "library/library_fixture.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;

TEST_F(LibraryTest, AContextSaysWhatRuns) {  // N-02
    int service = 7;
    context_.Bind(service);
    int seen = 0;
    Add({.id = "nightly", .cron = "0 3 * * *", .timeout = 5s}, [&](JobContext& context) {
        ++seen;
        EXPECT_EQ(context.job_id(), "nightly");
        EXPECT_EQ(&context.context(), &context_);
        EXPECT_EQ(context.context().Get<int>(), 7);
        EXPECT_EQ(context.fire_time(), After(3h));
        EXPECT_EQ(context.logger().name(), "ksana.jobs.nightly");
        EXPECT_TRUE(context.parameters().empty());
        EXPECT_FALSE(context.cancelled());
        ASSERT_TRUE(context.deadline());
        EXPECT_EQ(*context.deadline() - test_.clock().Now(), 5s);
        EXPECT_EQ(context.attempt(), 1);
        context.logger().Info("cleaned", {{"count", 3}});
    });
    Start();
    test_.Advance(3h);
    EXPECT_EQ(seen, 1);
    EXPECT_EQ(log_.With({"cleaned", "logger=ksana.jobs.nightly", "count=3"}).size(), 1U);
}

TEST_F(LibraryTest, ATriggerHandsOverParameters) {  // N-14, N-20
    Parameters got;
    Add({.id = "report", .cron = "0 3 * * *"},
        [&](JobContext& context) { got = context.parameters(); });
    Start();
    const auto ended = test_.RunOnce("report", {{"day", "2026-01-01"}, {"to", "ada"}});
    ASSERT_TRUE(ended) << ended.error().Describe();
    EXPECT_EQ(ended->result, JobResult::kSuccess);
    EXPECT_EQ(got, (Parameters{{"day", "2026-01-01"}, {"to", "ada"}}));
    EXPECT_EQ(Status("report").next_fire_time, After(3h)) << "the schedule is left alone";
    test_.Advance(3h);
    EXPECT_TRUE(got.empty()) << "a fire has none";
}

TEST_F(LibraryTest, AnUnknownJobCannotBeTriggered) {  // N-14
    Start();
    const auto triggered = test_.scheduler().Trigger("nope");
    ASSERT_FALSE(triggered);
    EXPECT_EQ(triggered.error().code, Code::kNotFound);
    EXPECT_NE(triggered.error().message.find("nope"), std::string::npos);
}

TEST_F(LibraryTest, ATriggerOfARunningJobIsSkipped) {  // N-14
    Add({.id = "slow", .cron = "0 3 * * *"},
        [](JobContext& context) -> Task<> { co_await context.Sleep(1h); });
    Start();
    ASSERT_TRUE(test_.scheduler().Trigger("slow"));
    test_.Advance(1s);
    EXPECT_TRUE(Status("slow").running);
    ASSERT_TRUE(test_.scheduler().Trigger("slow"));
    EXPECT_EQ(Status("slow").skip_count, 1);
    test_.Advance(1h);
    const auto fires = test_.FiresOf("slow");
    ASSERT_EQ(fires.size(), 2U);
    EXPECT_EQ(fires[0].result, JobResult::kSkipped);
    EXPECT_EQ(fires[1].result, JobResult::kSuccess);
    EXPECT_EQ(fires[1].duration_ms, 3'600'000);
}

TEST_F(LibraryTest, AFireDuringATriggeredRunIsSkipped) {
    Add({.id = "beat", .fixed_rate = 10s, .initial_delay = 5s}, [](JobContext& context) -> Task<> {
        if (!context.parameters().empty()) co_await context.Sleep(20s);
    });
    Start();
    ASSERT_TRUE(test_.scheduler().Trigger("beat", {{"slow", "yes"}}));
    test_.Advance(40s);
    EXPECT_EQ(test_.RunTimesOf("beat"),
              (std::vector<std::int64_t>{After(0ms), After(25s), After(35s)}));
    EXPECT_EQ(Status("beat").skip_count, 2);
}

TEST_F(LibraryTest, AFailureStopsNothing) {  // N-10
    int runs = 0;
    Add({.id = "flaky", .fixed_rate = 1s}, [&](JobContext&) {
        if (++runs == 2) throw std::runtime_error("no connection");
        if (runs == 3) throw 42;
    });
    Start();
    test_.Advance(3500ms);
    const auto fires = test_.FiresOf("flaky");
    ASSERT_EQ(fires.size(), 4U);
    EXPECT_EQ(fires[1].result, JobResult::kFailed);
    EXPECT_EQ(fires[1].error, "no connection");
    EXPECT_EQ(fires[2].error, "an exception that is no std::exception");
    EXPECT_EQ(fires[3].result, JobResult::kSuccess);
    const JobStatus status = Status("flaky");
    EXPECT_EQ(status.run_count, 4);
    EXPECT_EQ(status.fail_count, 2);
    EXPECT_EQ(status.last_result, JobResult::kSuccess);
    EXPECT_EQ(status.last_error, "");
}

TEST_F(LibraryTest, TheStatusFollowsTheRuns) {  // N-15
    Add({.id = "beat",
         .fixed_rate = 10s,
         .initial_delay = 1s,
         .mode = ExecutionMode::kAllNodes,
         .group = "billing"},
        [](JobContext& context) -> Task<> {
            co_await context.Sleep(30ms);
            throw std::runtime_error("broken");
        });
    Start();
    JobStatus status = Status("beat");
    EXPECT_EQ(status.last_fire_time, std::nullopt);
    EXPECT_EQ(status.last_duration, std::nullopt);
    EXPECT_EQ(status.last_result, std::nullopt);
    EXPECT_TRUE(status.enabled);
    EXPECT_EQ(status.schedule.fixed_rate, 10s);
    EXPECT_EQ(status.schedule.initial_delay, 1s);
    EXPECT_EQ(status.mode, ExecutionMode::kAllNodes);
    EXPECT_EQ(status.group, "billing");
    test_.Advance(2s);
    status = Status("beat");
    EXPECT_EQ(status.last_fire_time, After(1s));
    EXPECT_EQ(status.last_duration, 30);
    EXPECT_EQ(status.last_result, JobResult::kFailed);
    EXPECT_EQ(status.last_error, "broken");
    EXPECT_EQ(status.next_fire_time, After(11s));
    EXPECT_EQ(status.run_count, 1);
    EXPECT_EQ(status.fail_count, 1);
}

// Notes every call as a text.
class Notes : public JobExecutionListener {
  public:
    void OnStart(const std::string& id, std::int64_t fire_time) override {
        calls.push_back("start " + id + " " + std::to_string(fire_time - kStart));
    }
    void OnSuccess(const std::string& id, std::int64_t fire_time, std::int64_t duration) override {
        calls.push_back("success " + id + " " + std::to_string(fire_time - kStart) + " " +
                        std::to_string(duration));
    }
    void OnFailure(const std::string& id, std::int64_t fire_time, std::int64_t duration,
                   const std::string& error) override {
        calls.push_back("failure " + id + " " + std::to_string(fire_time - kStart) + " " +
                        std::to_string(duration) + " " + error);
    }
    void OnSkipped(const std::string& id, std::int64_t fire_time) override {
        calls.push_back("skipped " + id + " " + std::to_string(fire_time - kStart));
    }
    std::vector<std::string> calls;
};

TEST(LibraryListener, HearsOfEveryRun) {  // N-16
    Notes notes;
    Context context;
    context.Bind<JobExecutionListener>(notes);
    testing::TestScheduler test(context);
    int runs = 0;
    ASSERT_TRUE(
        test.scheduler().Add({.id = "beat", .fixed_rate = 1s}, [&](JobContext& run) -> Task<> {
            ++runs;
            if (runs == 2) throw std::runtime_error("second");
            co_await run.Sleep(runs == 3 ? 1500ms : 20ms);
        }));
    ASSERT_TRUE(test.Start());
    test.Advance(3700ms);
    EXPECT_EQ(notes.calls,
              (std::vector<std::string>{"start beat 0", "success beat 0 20", "start beat 1000",
                                        "failure beat 1000 0 second", "start beat 2000",
                                        "success beat 2000 1500", "skipped beat 3000"}));
}

// A listener may call the scheduler.
TEST(LibraryListener, MayLookAndTrigger) {
    const LogLines log;
    class Looking final : public JobExecutionListener {
      public:
        void OnStart(const std::string&, std::int64_t) override { Look(); }
        void OnSkipped(const std::string&, std::int64_t) override { Look(); }
        Scheduler* scheduler = nullptr;
        int looks = 0;

      private:
        void Look() {
            EXPECT_EQ(scheduler->Snapshot().size(), 1U);
            ++looks;
        }
    };
    Looking looking;
    Context context;
    testing::TestScheduler test(context, {.listener = &looking});
    looking.scheduler = &test.scheduler();
    ASSERT_TRUE(test.scheduler().Add({.id = "slow", .cron = "0 3 * * *"},
                                     [](JobContext& run) -> Task<> { co_await run.Sleep(1h); }));
    ASSERT_TRUE(test.Start());
    ASSERT_TRUE(test.scheduler().Trigger("slow"));
    test.RunDue();
    ASSERT_TRUE(test.scheduler().Trigger("slow"));
    EXPECT_EQ(looking.looks, 2);
}

class Throwing final : public JobExecutionListener {
  public:
    void OnStart(const std::string&, std::int64_t) override { throw std::runtime_error("start"); }
    void OnSuccess(const std::string&, std::int64_t, std::int64_t) override { throw 1; }
    void OnFailure(const std::string&, std::int64_t, std::int64_t, const std::string&) override {
        throw std::runtime_error("failure");
    }
    void OnSkipped(const std::string&, std::int64_t) override { throw std::runtime_error("skip"); }
};

TEST(LibraryListener, MayThrow) {  // N-16
    const LogLines log;
    Throwing throwing;
    Context context;
    testing::TestScheduler test(context, {.listener = &throwing});
    int runs = 0;
    ASSERT_TRUE(test.scheduler().Add({.id = "beat", .fixed_rate = 1s}, [&](JobContext&) {
        if (++runs == 2) throw std::runtime_error("second");
    }));
    ASSERT_TRUE(test.Start());
    test.Advance(5s);
    EXPECT_EQ(runs, 6);
    EXPECT_EQ(test.StatusOf("beat")->run_count, 6);
    EXPECT_EQ(log.With({"the listener threw"}).size(), 12U);
}

TEST_F(LibraryTest, TheLogHasTheEventsOfTheDocument) {  // N-17
    int runs = 0;
    Add({.id = "beat", .fixed_rate = 1s}, [&](JobContext& context) -> Task<> {
        if (++runs == 2) throw std::runtime_error("second");
        co_await context.Sleep(runs == 3 ? 1500ms : 20ms);
    });
    Start();
    test_.Advance(3700ms);
    const std::string first = "fireTime=" + std::to_string(After(0ms));
    EXPECT_EQ(log_.With({"info", "job.started", "jobId=beat", first}).size(), 1U);
    EXPECT_EQ(log_.With({"info", "job.done", "jobId=beat", first, "duration=20"}).size(), 1U);
    EXPECT_EQ(log_.With({"error", "job.failed", "jobId=beat", "duration=0", "error=second"}).size(),
              1U);
    EXPECT_EQ(log_.With({"info", "job.skipped", "jobId=beat",
                         "fireTime=" + std::to_string(After(3s)), "reason=running"})
                  .size(),
              1U);
}

TEST_F(LibraryTest, AFailedRunIsTriedAgain) {  // N-20
    std::vector<int> attempts;
    Add({.id = "flaky",
         .fixed_rate = 1h,
         .retry = {.max_retries = 3, .interval = 1s, .exponential = true}},
        [&](JobContext& context) {
            attempts.push_back(context.attempt());
            EXPECT_EQ(context.fire_time(), After(0ms)) << "the fire stays the same";
            if (attempts.size() < 4) throw std::runtime_error("again");
        });
    Start();
    test_.Advance(6999ms);
    EXPECT_EQ(attempts, (std::vector<int>{1, 2, 3})) << "after 0, 1 and 3 s";
    EXPECT_EQ(Status("flaky").run_count, 0);
    test_.Advance(1ms);
    EXPECT_EQ(attempts, (std::vector<int>{1, 2, 3, 4})) << "after 7 s";
    EXPECT_EQ(Status("flaky").run_count, 1);
    EXPECT_EQ(Status("flaky").fail_count, 0);
    EXPECT_EQ(Status("flaky").next_fire_time, After(1h));
}

TEST_F(LibraryTest, ARetryOfATriggerKeepsItsParametersAndTheSchedule) {
    std::vector<std::string> got;
    Add({.id = "hourly", .cron = "0 * * * *", .retry = {.max_retries = 1, .interval = 1min}},
        [&](JobContext& context) {
            const auto day = context.parameters().find("day");
            got.push_back(day == context.parameters().end() ? "none" : day->second);
            if (got.size() == 1) throw std::runtime_error("first");
        });
    Start();
    ASSERT_TRUE(test_.scheduler().Trigger("hourly", {{"day", "monday"}}));
    test_.Advance(61min);
    EXPECT_EQ(got, (std::vector<std::string>{"monday", "monday", "none"}));
    EXPECT_EQ(test_.RunTimesOf("hourly"),
              (std::vector<std::int64_t>{After(0ms), After(0ms), After(1h)}));
}

TEST_F(LibraryTest, RetriesEnd) {  // N-20
    Add({.id = "broken", .fixed_rate = 10s, .retry = {.max_retries = 2, .interval = 6s}},
        [&](JobContext&) { throw std::runtime_error("always"); });
    Start();
    test_.Advance(15s);
    EXPECT_EQ(test_.RunTimesOf("broken").size(), 3U) << "0, 6 and 12 s";
    EXPECT_EQ(Status("broken").run_count, 1);
    EXPECT_EQ(Status("broken").fail_count, 1);
    EXPECT_EQ(Status("broken").skip_count, 1) << "the fire at 10 s";
    EXPECT_EQ(Status("broken").next_fire_time, After(20s));
}

TEST_F(LibraryTest, AJobCanBeAddedAndRemovedWhileItRuns) {  // N-20
    Start();
    Add({.id = "late", .fixed_rate = 1s},
        [](JobContext& context) -> Task<> { co_await context.Sleep(300ms); });
    test_.Advance(1100ms);
    EXPECT_TRUE(Status("late").running);
    ASSERT_TRUE(test_.scheduler().Remove("late"));
    EXPECT_FALSE(test_.StatusOf("late"));
    test_.Advance(5s);
    EXPECT_EQ(test_.FiresOf("late").size(), 2U) << "the run in progress ends";
    EXPECT_EQ(test_.scheduler().Remove("late").error().code, Code::kNotFound);
    Add({.id = "other", .fixed_rate = 1s, .initial_delay = 1s}, [](JobContext&) {});
    test_.Advance(1s);
    EXPECT_EQ(Status("other").run_count, 1);
    EXPECT_EQ(test_.FiresOf("late").size(), 2U);
}

TEST_F(LibraryTest, ASpecIsCheckedAsADeclarationIs) {
    const auto added = test_.scheduler().Add({.id = "a b",
                                              .cron = "x",
                                              .fixed_rate = 1s,
                                              .initial_delay = -1s,
                                              .lock_ttl = 0s,
                                              .timeout = -1s,
                                              .retry = {.max_retries = -1}},
                                             [](JobContext&) {});
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, Code::kInvalidArgument);
    std::vector<std::string> paths;
    for (const Problem& problem : added.error().problems) paths.push_back(problem.path);
    EXPECT_EQ(paths, (std::vector<std::string>{"/id", "/cron", "/initial_delay", "/lock_ttl",
                                               "/timeout", "/retry/max_retries"}));
    const auto cron = test_.scheduler().Add({.id = "a", .cron = "61 * * * *"}, [](JobContext&) {});
    ASSERT_FALSE(cron);
    EXPECT_EQ(cron.error().problems.at(0).path, "/cron");
    EXPECT_FALSE(test_.scheduler().Add({.id = "a"}, [](JobContext&) {}));
    EXPECT_TRUE(test_.scheduler().Add({.id = "a", .cron = "1 * * * *"}, [](JobContext&) {}));
    EXPECT_EQ(
        test_.scheduler().Add({.id = "a", .cron = "1 * * * *"}, [](JobContext&) {}).error().code,
        Code::kAlreadyExists);
}

TEST(LibraryContext, FindsByType) {
    struct Base {
        virtual ~Base() = default;
        int value = 1;
    };
    struct Derived final : Base {};
    Context context;
    Derived derived;
    context.Bind<Base>(derived);
    EXPECT_EQ(&context.Get<Base>(), &derived);
    EXPECT_EQ(context.Find<Derived>(), nullptr);
    const auto shared = std::make_shared<std::string>("text");
    context.Bind(shared);
    EXPECT_EQ(context.Get<std::string>(), "text");
    EXPECT_EQ(context.Share<std::string>().use_count(), 3);
    try {
        context.Get<std::vector<int>>();
        FAIL() << "nothing is bound";
    } catch (const std::out_of_range& error) {
        EXPECT_NE(std::string(error.what()).find("vector<int"), std::string::npos);
    }
}

}  // namespace
}  // namespace ksana::library
