#include "ksana/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "ksana/base/time/time_text.hpp"

namespace ksana::schedule {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TimePoint At(const char* text) { return *ParseTime(text); }

std::string Text(std::optional<TimePoint> t) { return t ? FormatTime(*t) : "none"; }

class ScheduleTest : public ::testing::Test {
  protected:
    Result<Schedule> TryCompile(const ScheduleSpec& spec) {
        return Schedule::Compile(spec, {zones_, At("2026-01-01T00:00:00Z"), [this](auto name) {
                                            return name == "cn" ? calendar_ : nullptr;
                                        }});
    }
    Schedule Compile(const ScheduleSpec& spec) {
        auto schedule = TryCompile(spec);
        EXPECT_TRUE(schedule) << (schedule ? "" : schedule.error().Describe());
        return *std::move(schedule);
    }

    static ScheduleSpec Every(Duration every) {
        ScheduleSpec spec;
        spec.kind = ScheduleKind::kEvery;
        spec.every = every;
        return spec;
    }
    static ScheduleSpec Cron(std::string text, std::string zone = "UTC") {
        ScheduleSpec spec;
        spec.kind = ScheduleKind::kCron;
        spec.cron = std::move(text);
        spec.zone = std::move(zone);
        return spec;
    }

    ZoneDatabase zones_;
    std::shared_ptr<const CalendarIndex> calendar_;
};

TEST_F(ScheduleTest, OnceFiresOnce) {
    ScheduleSpec spec;
    spec.run_at = At("2026-03-01T12:00:00.5Z");
    const Schedule once = Compile(spec);
    EXPECT_EQ(once.Next(At("2026-01-01T00:00:00Z")), spec.run_at);
    EXPECT_FALSE(once.Next(spec.run_at));
    EXPECT_EQ(once.Previous(spec.run_at + Duration(1)), spec.run_at);
    EXPECT_EQ(once.Count(At("2000-01-01T00:00:00Z"), spec.run_at), 1);
    EXPECT_TRUE(once.EverFires());
}

// K-03
TEST_F(ScheduleTest, EveryStaysOnItsGridHoweverFarAwayItIsAsked) {
    ScheduleSpec spec = Every(minutes(7));
    spec.start_at = At("2026-01-01T00:00:30Z");
    const Schedule every = Compile(spec);
    EXPECT_EQ(every.Next(At("2020-01-01T00:00:00Z")), spec.start_at) << "nothing before the start";
    EXPECT_EQ(Text(every.Next(At("2026-01-01T00:00:30Z"))), "2026-01-01T00:07:30Z");
    EXPECT_EQ(Text(every.Next(At("2026-01-01T00:07:29.999999Z"))), "2026-01-01T00:07:30Z");
    const TimePoint far = *every.Next(At("2126-01-01T00:00:00Z"));
    EXPECT_EQ((far - *spec.start_at) % minutes(7), Duration::zero());
    EXPECT_EQ(every.Previous(far), far - minutes(7));
    EXPECT_FALSE(every.Previous(*spec.start_at));
    EXPECT_EQ(every.Count(*spec.start_at, *spec.start_at + hours(7)), 60);
}

TEST_F(ScheduleTest, EveryWithoutAStartCountsFromCreation) {
    EXPECT_EQ(Text(Compile(Every(hours(1))).Next(At("2026-01-01T00:00:00Z"))),
              "2026-01-01T01:00:00Z");
}

// K-04
TEST_F(ScheduleTest, JitterDelaysWithoutMovingTheGrid) {
    ScheduleSpec spec = Every(seconds(10));
    spec.jitter = seconds(5);
    const Schedule every = Compile(spec);
    TimePoint nominal = At("2026-01-01T00:00:00Z");
    std::set<Duration> delays;
    for (int i = 0; i < 200; ++i) {
        nominal = *every.Next(nominal);
        const TimePoint actual = every.WithJitter("job-1", nominal);
        EXPECT_EQ(actual, every.WithJitter("job-1", nominal)) << "the same each time";
        EXPECT_GE(actual, nominal);
        EXPECT_LE(actual, nominal + seconds(5));
        delays.insert(actual - nominal);
    }
    EXPECT_EQ(nominal, At("2026-01-01T00:33:20Z")) << "200 steps of 10 s";
    EXPECT_GT(delays.size(), 190U);
    EXPECT_NE(every.WithJitter("job-1", nominal), every.WithJitter("job-2", nominal));
}

TEST_F(ScheduleTest, JitterNeverReachesTheNextFire) {
    ScheduleSpec spec = Cron("* * * * * *");
    spec.jitter = hours(1);
    const Schedule cron = Compile(spec);
    TimePoint nominal = At("2026-01-01T00:00:00Z");
    for (int i = 0; i < 500; ++i, nominal += seconds(1)) {
        EXPECT_LT(cron.WithJitter("j", nominal), nominal + seconds(1));
    }
}

TEST_F(ScheduleTest, BoundsHoldForCron) {
    ScheduleSpec spec = Cron("0 0 * * *");
    spec.start_at = At("2026-02-01T00:00:00Z");
    spec.end_at = At("2026-02-03T00:00:00Z");
    const Schedule cron = Compile(spec);
    EXPECT_EQ(cron.Fires(At("2026-01-01T00:00:00Z"), At("2027-01-01T00:00:00Z"), 100).size(), 3U);
    EXPECT_EQ(cron.Count(At("2026-01-01T00:00:00Z"), At("2027-01-01T00:00:00Z")), 3);
    EXPECT_EQ(Text(cron.Previous(At("2027-01-01T00:00:00Z"))), "2026-02-03T00:00:00Z");
    EXPECT_FALSE(cron.Previous(At("2026-02-01T00:00:00Z")));
}

TEST_F(ScheduleTest, KnowsWhatNeverFires) {
    EXPECT_FALSE(Compile(Cron("0 0 30 2 *")).EverFires());
    EXPECT_FALSE(Compile(Cron("0 0 31 4,6,9,11 *")).EverFires());
    EXPECT_TRUE(Compile(Cron("0 0 29 2 1")).EverFires());
    EXPECT_FALSE(Compile(Cron("0 0 30 2 *")).Next(At("2026-01-01T00:00:00Z")));
}

// N-08: the library dialect finds nothing beyond 370 days.
TEST_F(ScheduleTest, TheLibraryDialectLooksAhead370Days) {
    ScheduleSpec spec = Cron("0 0 29 2 *");
    spec.dialect = CronDialect::kLibrary;
    const Schedule cron = Compile(spec);
    EXPECT_FALSE(cron.NextInDialect(At("2026-03-01T00:00:00Z")));
    EXPECT_EQ(Text(cron.NextInDialect(At("2027-03-01T00:00:00Z"))), "2028-02-29T00:00:00Z");
    EXPECT_EQ(Text(cron.Next(At("2026-03-01T00:00:00Z"))), "2028-02-29T00:00:00Z")
        << "planning loses nothing to a horizon";
    EXPECT_TRUE(cron.EverFires());
    spec.zone = "Europe/Paris";
    EXPECT_EQ(TryCompile(spec).error().problems.at(0).path, "/zone");
}

// China's National Day holiday of 2026, simplified: October 1-7 off, Saturday the 10th a working
// day.
TEST_F(ScheduleTest, AMakeUpDayFiresLikeTheDayItCountsAs) {
    Calendar calendar;
    calendar.name = "cn";
    calendar.exclude.push_back({.dates = CalendarRule::DateSpan{{2026, 10, 1}, {2026, 10, 7}}});
    calendar.swaps.push_back({{2026, 10, 10}, 3});
    ASSERT_TRUE(ValidateCalendar(calendar).empty());
    calendar_ = std::make_shared<const CalendarIndex>(calendar);
    ScheduleSpec spec = Cron("0 9 * * MON-FRI", "Asia/Shanghai");
    spec.calendar = "cn";
    const Schedule cron = Compile(spec);
    std::vector<std::string> fires;
    for (const TimePoint t :
         cron.Fires(At("2026-09-29T12:00:00Z"), At("2026-10-13T00:00:00Z"), 99)) {
        fires.push_back(FormatTime(t).substr(5, 11));
    }
    EXPECT_EQ(fires, (std::vector<std::string>{"09-30T01:00", "10-08T01:00", "10-09T01:00",
                                               "10-10T01:00", "10-12T01:00"}));
    const FireRange blocked = cron.Blocked(At("2026-09-29T12:00:00Z"), At("2026-10-13T00:00:00Z"));
    EXPECT_EQ(blocked.count, 5) << "Thursday, Friday, Monday, Tuesday, Wednesday";
    EXPECT_EQ(FormatTime(blocked.first), "2026-10-01T01:00:00Z");
    EXPECT_EQ(FormatTime(blocked.last), "2026-10-07T01:00:00Z");
}

TEST_F(ScheduleTest, ACalendarThatLetsNothingThroughIsNoticed) {
    Calendar calendar;
    calendar.name = "cn";
    calendar.exclude.push_back({.times = CalendarRule::TimeSpan{22 * 3600, 6 * 3600}});
    calendar_ = std::make_shared<const CalendarIndex>(calendar);
    ScheduleSpec spec = Cron("0 23,3 * * *");
    spec.calendar = "cn";
    EXPECT_FALSE(Compile(spec).EverFires());
    spec.cron = "0 23,7 * * *";
    EXPECT_EQ(Text(Compile(spec).Next(At("2026-01-01T08:00:00Z"))), "2026-01-02T07:00:00Z");
}

// The dates that a calendar includes may be the only ones that it allows.
TEST_F(ScheduleTest, FindsTheFewDaysThatACalendarLeaves) {
    Calendar calendar;
    calendar.name = "cn";
    calendar.exclude.push_back({.weekdays = 0x7F});
    calendar.include.push_back({.dates = CalendarRule::DateSpan{{2026, 10, 1}, {2026, 10, 7}}});
    calendar_ = std::make_shared<const CalendarIndex>(calendar);
    ScheduleSpec spec = Cron("0 9 * * *");
    spec.calendar = "cn";
    EXPECT_TRUE(Compile(spec).EverFires());
    EXPECT_EQ(Text(Compile(spec).Next(At("1990-01-01T00:00:00Z"))), "2026-10-01T09:00:00Z");
    EXPECT_EQ(Text(Compile(spec).Previous(At("2600-01-01T00:00:00Z"))), "2026-10-07T09:00:00Z");
    spec = Every(hours(1));
    spec.start_at = At("1950-01-01T00:00:00Z");
    spec.calendar = "cn";
    EXPECT_TRUE(Compile(spec).EverFires());
    EXPECT_EQ(Compile(spec).Count(At("1950-01-01T00:00:00Z"), At("2100-01-01T00:00:00Z")), 168);
}

TEST_F(ScheduleTest, ALongIntervalIsFollowedAcrossTheCalendarCycle) {
    Calendar calendar;
    calendar.name = "cn";
    calendar.exclude.push_back({.weekdays = 0b0011100});  // Tuesday to Thursday
    calendar_ = std::make_shared<const CalendarIndex>(calendar);
    ScheduleSpec spec = Every(hours(87'840));
    spec.start_at = At("2026-11-18T00:00:00Z");  // a Wednesday; each step is one weekday back
    spec.calendar = "cn";
    EXPECT_EQ(Text(Compile(spec).Next(At("2026-01-01T00:00:00Z"))), "2046-12-03T00:00:00Z");
}

// A fire is either allowed or blocked, also where a clock change and a calendar rule meet.
// 02:00-03:00 does not exist.
TEST_F(ScheduleTest, AGapFireIsLetThroughOrBlockedButNotBoth) {
    const TimePoint from = At("2026-03-08T00:00:00Z");
    const TimePoint to = At("2026-03-09T03:00:00Z");
    const auto check = [&](const char* cron, int from_hour, int to_hour, int fires, int blocked) {
        Calendar calendar;
        calendar.name = "cn";
        calendar.exclude.push_back(
            {.times = CalendarRule::TimeSpan{from_hour * 3600, to_hour * 3600}});
        calendar_ = std::make_shared<const CalendarIndex>(calendar);
        ScheduleSpec spec = Cron(cron, "America/New_York");
        spec.calendar = "cn";
        const Schedule schedule = Compile(spec);
        EXPECT_EQ(schedule.Count(from, to), fires) << cron << " without " << from_hour;
        EXPECT_EQ(schedule.Fires(from, to, 9).size(), static_cast<std::size_t>(fires)) << cron;
        EXPECT_EQ(schedule.Blocked(from, to).count, blocked) << cron << " without " << from_hour;
    };
    check("30 2 * * *", 22, 23, 1, 0);
    check("30 2 * * *", 3, 4, 0, 1);   // the fire moves to 03:00, which is excluded
    check("30 2 * * *", 2, 3, 1, 0);   // the excluded time does not exist
    check("0 2,3 * * *", 3, 4, 0, 1);  // both fire at one instant, 03:00
    check("0 2,3 * * *", 2, 3, 1, 0);
    check("0 2,3 * * *", 22, 23, 1, 0);
}

// Lookups are fast whatever the calendar's rules are.
TEST_F(ScheduleTest, ACalendarOfManyWindowsThatCoverEverythingIsQuick) {
    Calendar calendar;
    calendar.name = "cn";
    for (int i = 0; i < 16; ++i) {
        calendar.exclude.push_back({.dates = CalendarRule::DateSpan{{0, 1, 1}, {9999, 12, 31}},
                                    .times = CalendarRule::TimeSpan{i * 5'400, (i + 1) * 5'400}});
    }
    ASSERT_TRUE(ValidateCalendar(calendar).empty());
    calendar_ = std::make_shared<const CalendarIndex>(calendar);
    ScheduleSpec spec = Cron("* * * * *");
    spec.calendar = "cn";
    EXPECT_FALSE(Compile(spec).EverFires());
}

// K-20: every problem at once, each with its path.
TEST_F(ScheduleTest, CompileReportsEveryFault) {
    ScheduleSpec spec = Cron("99 * * * *", "Mars/Olympus");
    spec.calendar = "none";
    spec.jitter = -seconds(1);
    spec.start_at = At("2026-02-01T00:00:00Z");
    spec.end_at = At("2026-01-01T00:00:00Z");
    const auto compiled = TryCompile(spec);
    ASSERT_FALSE(compiled);
    std::vector<std::string> paths;
    for (const Problem& problem : compiled.error().problems) paths.push_back(problem.path);
    std::sort(paths.begin(), paths.end());
    EXPECT_EQ(paths,
              (std::vector<std::string>{"/calendar", "/cron", "/end_at", "/jitter", "/zone"}));

    EXPECT_FALSE(TryCompile(Every(Duration(999))));
    EXPECT_FALSE(TryCompile(Every(-seconds(1))));
    EXPECT_FALSE(TryCompile(Every(hours(24) * 365 * 100)));
}

TEST_F(ScheduleTest, NotesWhatTheClocksDid) {
    const Schedule gap = Compile(Cron("30 2 * * *", "America/New_York"));
    const TimePoint moved = *gap.Next(At("2025-03-09T00:00:00Z"));
    EXPECT_EQ(FormatTime(moved), "2025-03-09T07:00:00Z");
    EXPECT_EQ(gap.NoteFor(moved), DstNote::kAfterGap);
    ScheduleSpec spec = Cron("30 1 * * *", "America/New_York");
    EXPECT_EQ(Compile(spec).NoteFor(At("2025-11-02T05:30:00Z")), DstNote::kFirstPass);
    EXPECT_EQ(Compile(spec).NoteFor(At("2025-11-02T06:30:00Z")), DstNote::kSecondPass);
    EXPECT_EQ(Compile(spec).NoteFor(At("2025-11-03T06:30:00Z")), DstNote::kNone);
}

// Ten years of a one-second job are counted, not enumerated, which would take minutes.
TEST_F(ScheduleTest, CountsTenYearsOfSecondsWithoutWalkingThem) {
    const TimePoint from = At("2026-01-01T00:00:00Z");
    const TimePoint to = At("2036-01-01T00:00:00Z");
    const std::int64_t expected = (to - from) / seconds(1);
    EXPECT_EQ(Compile(Cron("* * * * * *")).Count(from, to), expected);
    EXPECT_EQ(Compile(Cron("* * * * * *", "America/New_York")).Count(from, to), expected);
    EXPECT_EQ(Compile(Every(seconds(1))).Count(from, to), expected);
}

TEST(ValidateCalendar, BoundsWhatCostsTimeForEveryDay) {
    Calendar calendar;
    calendar.name = "c";
    for (int i = 0; i < 17; ++i) {
        calendar.exclude.push_back({.times = CalendarRule::TimeSpan{i * 3600, i * 3600 + 60}});
    }
    EXPECT_EQ(ValidateCalendar(calendar).size(), 1U);
    calendar.exclude.assign(65, {.dates = CalendarRule::DateSpan{{2000, 1, 1}, {2999, 1, 1}}});
    EXPECT_EQ(ValidateCalendar(calendar).size(), 1U);
    calendar.exclude.assign(4'000, {.dates = CalendarRule::DateSpan{{2026, 1, 1}, {2027, 12, 31}}});
    EXPECT_TRUE(ValidateCalendar(calendar).empty());
}

TEST(ValidateCalendar, NamesEveryFault) {
    Calendar calendar;
    calendar.name = "a b";
    calendar.exclude.push_back({});
    calendar.exclude.push_back({.dates = CalendarRule::DateSpan{{2026, 2, 30}, {2026, 3, 1}}});
    calendar.exclude.push_back({.dates = CalendarRule::DateSpan{{2026, 3, 2}, {2026, 3, 1}}});
    calendar.include.push_back({.yearly = CalendarRule::MonthDay{2, 30}});
    calendar.include.push_back({.times = CalendarRule::TimeSpan{3600, 3600}});
    calendar.swaps.push_back({{2026, 1, 1}, 7});
    calendar.swaps.push_back({{2026, 1, 1}, 1});
    std::vector<std::string> paths;
    for (const Problem& problem : ValidateCalendar(calendar)) paths.push_back(problem.path);
    EXPECT_EQ(paths,
              (std::vector<std::string>{"/name", "/exclude/0", "/exclude/1/dates",
                                        "/exclude/2/dates", "/include/0/yearly", "/include/1/to",
                                        "/swaps/0/counts_as", "/swaps/1/date"}));
}

}  // namespace
}  // namespace ksana::schedule
