// When the jobs of a scheduler without a store fire.

#include "library/library_fixture.hpp"

namespace ksana::library {
namespace {

using namespace std::chrono_literals;

void Nothing(JobContext&) {}

TEST_F(LibraryTest, AFixedRateBeginsAfterItsInitialDelay) {  // N-09
    Add({.id = "beat", .fixed_rate = 200ms, .initial_delay = 50ms}, Nothing);
    Start();
    EXPECT_EQ(Status("beat").next_fire_time, After(50ms));
    test_.Advance(49ms);
    EXPECT_TRUE(test_.FiresOf("beat").empty());
    test_.Advance(401ms);
    EXPECT_EQ(test_.RunTimesOf("beat"),
              (std::vector<std::int64_t>{After(50ms), After(250ms), After(450ms)}));
    EXPECT_EQ(Status("beat").next_fire_time, After(650ms));
}

TEST_F(LibraryTest, AFixedRateWithoutADelayFiresAtOnce) {  // N-09
    Add({.id = "now", .fixed_rate = 1h}, Nothing);
    Start();
    test_.RunDue();
    EXPECT_EQ(test_.RunTimesOf("now"), std::vector<std::int64_t>{After(0ms)});
}

TEST_F(LibraryTest, CronIgnoresTheInitialDelay) {  // N-09
    Add({.id = "nightly", .cron = "0 3 * * *", .initial_delay = 5h}, Nothing);
    Start();
    EXPECT_EQ(Status("nightly").next_fire_time, After(3h));
    test_.Advance(48h);
    EXPECT_EQ(test_.RunTimesOf("nightly"), (std::vector<std::int64_t>{After(3h), After(27h)}));
}

// N-08: 2026-01-15 is a Thursday, 2026-06-15 the first 15th that is a Monday.
TEST_F(LibraryTest, CronNeedsBothDayFields) {
    Add({.id = "both", .cron = "0 3 15 * 1"}, Nothing);
    Start();
    EXPECT_EQ(Status("both").next_fire_time, After(24h * (31 + 28 + 31 + 30 + 31 + 14) + 3h));
}

TEST_F(LibraryTest, CronLooksAYearAhead) {  // N-08: 370 days
    Add({.id = "leap", .cron = "0 0 29 2 *"}, Nothing);
    Start();
    EXPECT_EQ(Status("leap").next_fire_time, std::nullopt);
}

TEST_F(LibraryTest, TheStandardDialectHasSecondsAndZones) {  // N-20
    Add({.id = "seconds", .cron = "*/10 * * * * *", .dialect = CronDialect::kStandard}, Nothing);
    Add({.id = "paris",
         .cron = "0 3 * * *",
         .zone = "Europe/Paris",
         .dialect = CronDialect::kStandard},
        Nothing);
    Start();
    EXPECT_EQ(Status("seconds").next_fire_time, After(10s));
    EXPECT_EQ(Status("paris").next_fire_time, After(2h));
}

TEST_F(LibraryTest, TheGlobalSwitchLetsNothingFire) {  // N-07
    Context context;
    testing::TestScheduler off(context, {.enabled = false});
    ASSERT_TRUE(off.scheduler().Add({.id = "beat", .fixed_rate = 1s}, Nothing));
    ASSERT_TRUE(off.Start());
    off.Advance(1h);
    EXPECT_TRUE(off.FiresOf("beat").empty());
    EXPECT_EQ(off.StatusOf("beat")->next_fire_time, std::nullopt);
    EXPECT_TRUE(off.RunOnce("beat")) << "N-14: a trigger ignores it";
}

TEST_F(LibraryTest, ADisabledJobDoesNotFireAndCanBeEnabled) {  // N-14, N-19
    Add({.id = "beat", .fixed_rate = 1s, .enabled = false}, Nothing);
    Start();
    test_.Advance(10s);
    EXPECT_TRUE(test_.FiresOf("beat").empty());
    EXPECT_TRUE(test_.RunOnce("beat")) << "a trigger ignores it";
    ASSERT_TRUE(test_.scheduler().SetEnabled("beat", true));
    test_.Advance(2500ms);
    EXPECT_EQ(test_.RunTimesOf("beat").size(), 4U) << "the trigger, and three fires";
    ASSERT_TRUE(test_.scheduler().SetEnabled("beat", false));
    test_.Advance(10s);
    EXPECT_EQ(test_.RunTimesOf("beat").size(), 4U);
    EXPECT_EQ(test_.scheduler().SetEnabled("nope", true).error().code, Code::kNotFound);
}

TEST_F(LibraryTest, AJobDisabledAndEnabledDuringARunGoesOn) {
    Add({.id = "slow", .fixed_rate = 10s, .initial_delay = 1s, .mode = ExecutionMode::kAllNodes},
        [](JobContext& context) -> Task<> { co_await context.Sleep(5s); });
    Start();
    test_.Advance(2s);
    ASSERT_TRUE(test_.scheduler().SetEnabled("slow", false));
    ASSERT_TRUE(test_.scheduler().SetEnabled("slow", true));
    test_.Advance(10s);
    EXPECT_EQ(test_.RunTimesOf("slow").size(), 2U) << "armed again when the run has ended";
    ASSERT_TRUE(test_.scheduler().SetEnabled("slow", false));
    test_.Advance(1min);
    EXPECT_EQ(test_.RunTimesOf("slow").size(), 2U);
}

TEST_F(LibraryTest, AClockSetDuringARunDoesNotStopAFixedRate) {  // F18
    Add({.id = "slow", .fixed_rate = 10s},
        [](JobContext& context) -> Task<> { co_await context.Sleep(4s); });
    Start();
    test_.Advance(1s);
    test_.clock().JumpWall(-24h);
    test_.Advance(30s);
    EXPECT_EQ(test_.RunTimesOf("slow").size(), 3U) << "ended at 4, 14 and 24 s";
    test_.clock().JumpWall(24h);
    test_.Advance(30s);
    EXPECT_EQ(test_.RunTimesOf("slow").size(), 6U);
    EXPECT_EQ(Status("slow").skip_count, 0);
}

TEST_F(LibraryTest, ALateTimerStillRunsAFireWithinTheGrace) {
    Add({.id = "beat", .fixed_rate = 1h}, Nothing);
    Start();
    test_.RunDue();
    test_.clock().JumpWall(24h + 2s);  // a fixed rate goes on after that, so hold up the timer
    Add({.id = "daily", .cron = "* * * * *"}, Nothing);
    test_.clock().JumpWall(1h);
    test_.Advance(3s);
    EXPECT_EQ(Status("daily").run_count, 1) << "the fire of two seconds ago";
    EXPECT_EQ(Status("daily").miss_count, 59);
}

TEST_F(LibraryTest, AFireInYearsIsNotForgotten) {  // N-08
    Add({.id = "leap", .cron = "0 0 29 2 *"}, Nothing);
    Start();
    test_.Advance(24h * (365 + 365 + 31 + 28));
    EXPECT_EQ(Status("leap").run_count, 1) << "2028-02-29";
}

TEST_F(LibraryTest, AJobNeverOverlapsItself) {  // N-10
    Add({.id = "slow", .fixed_rate = 1s},
        [](JobContext& context) -> Task<> { co_await context.Sleep(2500ms); });
    Start();
    test_.Advance(6s);
    EXPECT_EQ(test_.RunTimesOf("slow"), (std::vector<std::int64_t>{After(0ms), After(3s)}));
    EXPECT_EQ(Status("slow").skip_count, 4) << "1 and 2, 4 and 5 s";
    EXPECT_EQ(Status("slow").run_count, 2);
}

TEST_F(LibraryTest, ALateFireIsMissed) {
    Add({.id = "daily", .cron = "0 3 * * *"}, Nothing);
    Start();
    test_.clock().JumpWall(24h);  // the machine slept
    test_.Advance(2s);
    EXPECT_TRUE(test_.FiresOf("daily").empty());
    EXPECT_EQ(Status("daily").miss_count, 1);
    EXPECT_EQ(Status("daily").next_fire_time, After(27h));
    EXPECT_EQ(log_.With({"job.missed", "jobId=daily"}).size(), 1U);
}

TEST_F(LibraryTest, ALateFireIsCaughtUpAsTheJobSays) {
    Add({.id = "latest", .cron = "0 3 * * *", .misfire = Misfire::kRunLatest}, Nothing);
    Add({.id = "all", .cron = "0 3 * * *", .misfire = Misfire::kRunAll}, Nothing);
    Start();
    test_.clock().JumpWall(72h);
    test_.Advance(2s);
    EXPECT_EQ(test_.RunTimesOf("latest"), std::vector<std::int64_t>{After(51h)});
    EXPECT_EQ(Status("latest").miss_count, 2);
    EXPECT_EQ(test_.RunTimesOf("all"),
              (std::vector<std::int64_t>{After(3h), After(27h), After(51h)}));
    EXPECT_EQ(Status("all").next_fire_time, After(75h));
}

TEST_F(LibraryTest, ASetClockDoesNotStopAFixedRate) {  // F18
    Add({.id = "beat", .fixed_rate = 1s}, Nothing);
    Start();
    test_.Advance(1500ms);
    test_.clock().JumpWall(-24h);
    test_.Advance(3s);
    EXPECT_EQ(test_.RunTimesOf("beat").size(), 5U);
    test_.clock().JumpWall(48h);
    test_.Advance(3s);
    EXPECT_EQ(test_.RunTimesOf("beat").size(), 8U);
}

TEST_F(LibraryTest, AClockSetBackFiresAgainAtTheTimeOfDay) {
    Add({.id = "daily", .cron = "0 3 * * *"}, Nothing);
    Start();
    test_.Advance(4h);
    EXPECT_EQ(Status("daily").next_fire_time, After(27h));
    test_.clock().JumpWall(-48h);
    test_.Advance(1s);
    EXPECT_EQ(Status("daily").next_fire_time, After(3h - 24h));
}

TEST_F(LibraryTest, ManyJobsFireInTheOrderOfTheirTimes) {
    std::vector<std::int64_t> order;
    for (int n = 0; n < 1000; ++n) {
        const int delay = (n * 7919) % 1000;
        Add({.id = "job-" + std::to_string(n),
             .fixed_rate = 1h,
             .initial_delay = std::chrono::milliseconds(delay)},
            [&](JobContext& context) { order.push_back(context.fire_time()); });
    }
    Start();
    test_.Advance(1s);
    EXPECT_EQ(order.size(), 1000U);
    EXPECT_TRUE(std::ranges::is_sorted(order));
}

}  // namespace
}  // namespace ksana::library
