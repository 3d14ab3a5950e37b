#include "ksana/model/job/plan.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::model {
namespace {

using schedule::Schedule;
using schedule::ScheduleKind;
using schedule::ScheduleSpec;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class PlanTest : public ::testing::Test {
  protected:
    Schedule Compile(const ScheduleSpec& spec) {
        return *Schedule::Compile(spec, {zones_, start_, [this](auto) { return calendar_; }});
    }
    Schedule Every(Duration every) {
        ScheduleSpec spec;
        spec.kind = ScheduleKind::kEvery;
        spec.every = every;
        spec.start_at = start_;
        return Compile(spec);
    }
    Schedule Cron(const char* text, const char* zone = "UTC") {
        ScheduleSpec spec;
        spec.kind = ScheduleKind::kCron;
        spec.cron = text;
        spec.zone = zone;
        if (calendar_ != nullptr) spec.calendar = "c";
        return Compile(spec);
    }

    schedule::ZoneDatabase zones_;
    std::shared_ptr<const schedule::CalendarIndex> calendar_;
    TimePoint start_ = FakeClock::DefaultStart();
};

TEST_F(PlanTest, AFireOnTimeIsPlannedOnce) {
    const Schedule every = Every(minutes(1));
    PlanInput input{.job_id = "j", .planned_until = start_, .now = start_ + minutes(1)};
    const PlanResult result = Plan(every, input);
    ASSERT_EQ(result.fires.size(), 1U);
    EXPECT_EQ(result.fires[0].nominal, start_ + minutes(1));
    EXPECT_EQ(result.fires[0].fate, FireFate::kOnTime);
    EXPECT_TRUE(result.ranges.empty());
    EXPECT_EQ(result.planned_until, input.now);
    EXPECT_EQ(result.next_fire, start_ + minutes(2));
    input.planned_until = result.planned_until;
    EXPECT_TRUE(Plan(every, input).fires.empty()) << "not twice";
}

TEST_F(PlanTest, TheLookAheadPlansWhatIsNotYetDue) {
    const PlanResult result = Plan(Every(minutes(1)), {.planned_until = start_,
                                                       .now = start_ + seconds(50),
                                                       .look_ahead_until = start_ + seconds(70)});
    ASSERT_EQ(result.fires.size(), 1U);
    EXPECT_EQ(result.planned_until, start_ + seconds(70));
}

TEST_F(PlanTest, WithinTheGraceIsOnTime) {
    const Schedule every = Every(minutes(1));
    PlanInput input{.planned_until = start_, .now = start_ + minutes(1) + seconds(5)};
    EXPECT_EQ(Plan(every, input).fires.size(), 1U);
    input.now += Duration(1);
    EXPECT_TRUE(Plan(every, input).fires.empty());
    EXPECT_EQ(Plan(every, input).ranges.at(0).fate, FireFate::kMissed);
}

// A fire whose jittered start is 03:49 is not late at 03:01.
TEST_F(PlanTest, LatenessCountsFromTheJitteredStart) {
    ScheduleSpec spec;
    spec.kind = ScheduleKind::kCron;
    spec.cron = "0 3 * * *";
    spec.jitter = hours(1);
    const Schedule cron = Compile(spec);
    const TimePoint nominal = start_ + hours(3);
    const TimePoint begin = cron.WithJitter("j", nominal);
    ASSERT_GT(begin, nominal + minutes(1));
    PlanInput input{.job_id = "j", .planned_until = start_, .now = begin - seconds(1)};
    ASSERT_EQ(Plan(cron, input).fires.size(), 1U);
    EXPECT_EQ(Plan(cron, input).fires[0].fate, FireFate::kOnTime);
    input.now = begin + seconds(5);
    EXPECT_EQ(Plan(cron, input).fires.size(), 1U);
    input.now = begin + seconds(6);
    EXPECT_TRUE(Plan(cron, input).fires.empty());
    EXPECT_EQ(Plan(cron, input).ranges.at(0).range.count, 1);
}

// The search horizon of a cron dialect must not drop a fire.
TEST_F(PlanTest, RareFiresOfTheLibraryDialectAreAccountedFor) {
    ScheduleSpec spec;
    spec.kind = ScheduleKind::kCron;
    spec.cron = "0 0 29 2 *";
    spec.dialect = schedule::CronDialect::kLibrary;
    const Schedule cron = Compile(spec);
    for (const MisfirePolicy policy :
         {MisfirePolicy::kSkip, MisfirePolicy::kRunLatest, MisfirePolicy::kRunAll}) {
        PlanInput input{.planned_until = *ParseTime("2024-03-01T00:00:00Z"),
                        .now = *ParseTime("2029-06-01T00:00:00Z")};
        input.misfire.policy = policy;
        const PlanResult result = Plan(cron, input);
        const std::size_t missed = result.ranges.empty() ? 0 : 1;
        EXPECT_EQ(result.fires.size() + missed, 1U);
        if (missed == 1) {
            EXPECT_EQ(result.ranges[0].range.first, result.ranges[0].range.last);
        }
        EXPECT_EQ(result.next_fire, ParseTime("2032-02-29T00:00:00Z").value());
    }
}

// K-05: after downtime `every` continues; the missed fires are one entry with a count.
TEST_F(PlanTest, SkipRecordsTheMissedStretchAndRollsOn) {
    const PlanResult result =
        Plan(Every(minutes(5)), {.planned_until = start_, .now = start_ + hours(3) + minutes(2)});
    EXPECT_TRUE(result.fires.empty());
    ASSERT_EQ(result.ranges.size(), 1U);
    EXPECT_EQ(result.ranges[0].range,
              (schedule::FireRange{36, start_ + minutes(5), start_ + hours(3)}));
    EXPECT_EQ(result.next_fire, start_ + hours(3) + minutes(5));
}

// K-02: a `once` in the past is missed and has no next fire.
TEST_F(PlanTest, AnExpiredOnceIsMissed) {
    ScheduleSpec spec;
    spec.run_at = start_ + hours(1);
    const PlanResult result =
        Plan(Compile(spec), {.planned_until = start_, .now = start_ + hours(2)});
    EXPECT_TRUE(result.fires.empty());
    EXPECT_EQ(result.ranges.at(0).range.count, 1);
    EXPECT_FALSE(result.next_fire);
}

TEST_F(PlanTest, RunLatestMakesUpForOne) {
    PlanInput input{.planned_until = start_, .now = start_ + hours(3) + minutes(2)};
    input.misfire.policy = MisfirePolicy::kRunLatest;
    const PlanResult result = Plan(Every(minutes(5)), input);
    ASSERT_EQ(result.fires.size(), 1U);
    EXPECT_EQ(result.fires[0].nominal, start_ + hours(3));
    EXPECT_EQ(result.fires[0].fate, FireFate::kCaughtUp);
    EXPECT_EQ(result.ranges.at(0).range.count, 35);
    // A fire that is still on time is itself the latest.
    input.now = start_ + hours(3) + seconds(2);
    const PlanResult fresh = Plan(Every(minutes(5)), input);
    ASSERT_EQ(fresh.fires.size(), 1U);
    EXPECT_EQ(fresh.fires[0].fate, FireFate::kOnTime);
    EXPECT_EQ(fresh.ranges.at(0).range.count, 35);
}

TEST_F(PlanTest, RunAllMakesUpForTheLatestSoMany) {
    PlanInput input{.planned_until = start_, .now = start_ + hours(3) + minutes(2)};
    input.misfire = {.policy = MisfirePolicy::kRunAll, .max_runs = 10};
    const PlanResult result = Plan(Every(minutes(5)), input);
    ASSERT_EQ(result.fires.size(), 10U);
    EXPECT_EQ(result.fires.front().nominal, start_ + minutes(135));
    EXPECT_EQ(result.fires.back().nominal, start_ + hours(3));
    EXPECT_EQ(result.ranges.at(0).range.count, 26);
}

TEST_F(PlanTest, AFullPlanGoesOnWhereItStopped) {
    PlanInput input{.planned_until = start_, .now = start_ + hours(3) + minutes(2), .max_fires = 4};
    input.misfire = {.policy = MisfirePolicy::kRunAll, .max_runs = 10};
    const Schedule every = Every(minutes(5));
    std::set<TimePoint> fired;
    std::int64_t missed = 0;
    for (int call = 0; call < 3; ++call) {
        const PlanResult result = Plan(every, input);
        EXPECT_EQ(result.more, call < 2);
        for (const PlannedFire& fire : result.fires) EXPECT_TRUE(fired.insert(fire.nominal).second);
        for (const LedgerRange& range : result.ranges) missed += range.range.count;
        input.planned_until = result.planned_until;
    }
    EXPECT_EQ(fired.size(), 10U);
    EXPECT_EQ(missed, 26);
}

TEST_F(PlanTest, WhilePausedNothingAccumulates) {
    PlanInput input{.planned_until = start_, .paused = true, .now = start_ + hours(3)};
    input.misfire.policy = MisfirePolicy::kRunAll;
    const Schedule every = Every(minutes(1));
    const PlanResult paused = Plan(every, input);
    EXPECT_TRUE(paused.fires.empty());
    EXPECT_EQ(paused.ranges.at(0).fate, FireFate::kSkippedPaused);
    EXPECT_EQ(paused.ranges.at(0).range.count, 180);
    input.planned_until = paused.planned_until;
    input.paused = false;
    input.now += seconds(30);
    EXPECT_TRUE(Plan(every, input).fires.empty()) << "resumed: the past is over";
}

TEST_F(PlanTest, WhatACalendarTakesAwayIsInTheLedger) {
    schedule::Calendar calendar;
    calendar.name = "c";
    calendar.exclude.push_back({.weekdays = 0b1000001});
    calendar_ = std::make_shared<const schedule::CalendarIndex>(calendar);
    // 2026-01-01 is a Thursday. Plans on Monday at nine for the time since Friday at nine.
    const PlanResult result = Plan(Cron("0 9 * * *"), {.planned_until = start_ + hours(24 + 9),
                                                       .now = start_ + hours(4 * 24 + 9)});
    ASSERT_EQ(result.fires.size(), 1U);
    ASSERT_EQ(result.ranges.size(), 1U);
    EXPECT_EQ(result.ranges[0].fate, FireFate::kSkippedCalendar);
    EXPECT_EQ(result.ranges[0].range,
              (schedule::FireRange{2, start_ + hours(2 * 24 + 9), start_ + hours(3 * 24 + 9)}));
}

TEST_F(PlanTest, AClockSetBackFiresNothingTwice) {
    const Schedule every = Every(minutes(1));
    PlanInput input{.planned_until = start_ + hours(5), .now = start_ + hours(4)};
    const PlanResult result = Plan(every, input);
    EXPECT_TRUE(result.fires.empty());
    EXPECT_TRUE(result.ranges.empty());
    EXPECT_EQ(result.planned_until, start_ + hours(5));
    EXPECT_EQ(result.next_fire, start_ + hours(5) + minutes(1));
}

// Ten years of downtime of a one-second job, under every policy: the output is bounded, and the
// test finishes, which it could not if Plan walked through 315 million fires.
TEST_F(PlanTest, TenYearsOfDowntimeAreCountedNotWalked) {
    const TimePoint now = start_ + hours(24 * 3652);
    for (const Schedule& schedule :
         {Every(seconds(1)), Cron("* * * * * *"), Cron("* * * * * *", "America/New_York")}) {
        for (const MisfirePolicy policy :
             {MisfirePolicy::kSkip, MisfirePolicy::kRunLatest, MisfirePolicy::kRunAll}) {
            PlanInput input{.planned_until = start_, .now = now};
            input.misfire = {.policy = policy, .max_runs = 50, .grace = Duration(0)};
            const PlanResult result = Plan(schedule, input);
            EXPECT_LE(result.fires.size(), 51U);
            ASSERT_EQ(result.ranges.size(), 1U);
            EXPECT_EQ(result.ranges[0].range.count + static_cast<std::int64_t>(result.fires.size()),
                      (now - start_) / seconds(1));
            EXPECT_EQ(result.planned_until, now);
        }
    }
}

// Promise 1: whatever the downtime, pauses and policies, every nominal fire is accounted for once.
TEST_F(PlanTest, EveryFireIsAccountedForExactlyOnce) {
    SeededRandom random(3);
    for (int round = 0; round < 300; ++round) {
        const Schedule schedule = round % 2 == 0 ? Every(seconds(7 + random.Below(600)))
                                                 : Cron("*/7 1-22 * * *", "Europe/London");
        PlanInput input{.job_id = "j", .planned_until = start_, .now = start_};
        input.misfire = {.policy = static_cast<MisfirePolicy>(random.Below(3)),
                         .max_runs = 1 + static_cast<int>(random.Below(20)),
                         .grace = seconds(random.Below(100))};
        input.max_fires = 1 + random.Below(8);
        std::int64_t accounted = 0;
        TimePoint last = start_;
        for (int step = 0; step < 60; ++step) {
            input.now += seconds(random.Below(random.Below(4) == 0 ? 40'000 : 300));
            input.look_ahead_until = input.now + seconds(random.Below(60));
            input.paused = random.Below(5) == 0;
            const PlanResult result = Plan(schedule, input);
            for (const PlannedFire& fire : result.fires) {
                ASSERT_GT(fire.nominal, last) << "in order, and none twice";
                last = fire.nominal;
                ++accounted;
            }
            for (const LedgerRange& range : result.ranges) accounted += range.range.count;
            ASSERT_EQ(accounted, schedule.Count(start_, result.planned_until)) << "round " << round;
            ASSERT_EQ(result.next_fire, schedule.Next(result.planned_until));
            last = std::max(last, input.planned_until);
            input.planned_until = result.planned_until;
        }
    }
}

}  // namespace
}  // namespace ksana::model
