#include "ksana/insight/preview/preview.hpp"

#include "insight/memory_world.hpp"
#include "ksana/codec/json/json_text.hpp"

namespace ksana::insight {
namespace {

using std::chrono::minutes;

class PreviewTest : public MemoryWorld {
  protected:
    Preview Show(const schedule::ScheduleSpec& spec, const std::string& from, std::size_t count = 5,
                 const std::string& job_id = "") {
        PreviewParams params;
        params.spec = spec;
        params.from = At(from);
        params.count = count;
        params.job_id = job_id;
        auto preview = PreviewSchedule(world_.sources(), params);
        EXPECT_TRUE(preview) << preview.error().Describe();
        return preview ? *std::move(preview) : Preview{};
    }
    static schedule::ScheduleSpec Cron(const std::string& cron, const std::string& zone = "UTC") {
        return ExplainWorld::CronJob(cron, zone).schedule;
    }
    static std::vector<WarningKind> Kinds(const Preview& preview) {
        std::vector<WarningKind> kinds;
        for (const PreviewWarning& warning : preview.warnings) kinds.push_back(warning.kind);
        return kinds;
    }
    using WarningKinds = std::vector<WarningKind>;
};

TEST_F(PreviewTest, ShowsFiresInWordsWithNotes) {
    const Preview preview = Show(Cron("30 2 * * *", "Europe/Berlin"), "2026-03-28T12:00:00Z", 2);
    EXPECT_EQ(preview.words, "At 02:30, Europe/Berlin time.");
    ASSERT_EQ(preview.fires.size(), 2U);
    EXPECT_EQ(preview.fires[0].fire.local, "Sun 2026-03-29 03:00:00 CEST");
    EXPECT_EQ(preview.fires[0].fire.dst, schedule::DstNote::kAfterGap);
    EXPECT_EQ(preview.fires[1].fire.at, At("2026-03-30T00:30:00Z"));
    EXPECT_EQ(Kinds(preview), (WarningKinds{WarningKind::kDstGap, WarningKind::kDstFold}));
    EXPECT_NE(preview.warnings[0].text.find("it fires right after (gap policy run_after)"),
              std::string::npos)
        << preview.warnings[0].text;
    EXPECT_TRUE(codec::IsJson(PreviewToJson(preview)));
}

TEST_F(PreviewTest, WarnsOfClocksOnlyWhereTheyMatter) {
    const std::string from = "2026-01-01T00:00:00Z";
    EXPECT_EQ(Kinds(Show(Cron("0 12 * * *", "Europe/Berlin"), from)), WarningKinds{});
    EXPECT_EQ(Kinds(Show(Cron("30 2 * * *", "Asia/Tokyo"), from)), WarningKinds{});
    EXPECT_EQ(Kinds(Show(Cron("*/30 * * * *", "Europe/Berlin"), from)), WarningKinds{});
    EXPECT_EQ(Kinds(Show(Cron("15 2 * * *", "Australia/Lord_Howe"), from)),
              (WarningKinds{WarningKind::kDstGap}));
    schedule::ScheduleSpec skip = Cron("30 2 * * *", "America/New_York");
    skip.dst.gap = schedule::GapPolicy::kSkip;
    const Preview preview = Show(skip, from);
    ASSERT_FALSE(preview.warnings.empty());
    EXPECT_NE(preview.warnings[0].text.find("does not fire then"), std::string::npos);
}

TEST_F(PreviewTest, WarnsOfWhatIsOddAboutASchedule) {
    const std::string from = "2026-01-01T00:00:00Z";
    EXPECT_EQ(Kinds(Show(Cron("0 0 30 2 *"), from)),
              (WarningKinds{WarningKind::kNeverFires, WarningKind::kShortMonths}));
    EXPECT_EQ(Kinds(Show(Cron("0 0 31 * *"), from)), (WarningKinds{WarningKind::kShortMonths}));
    EXPECT_EQ(Kinds(Show(Cron("0 0 31 1,3 *"), from)), WarningKinds{}) << "they all have one";
    EXPECT_EQ(Kinds(Show(Cron("0 0 1,31 * *"), from)), WarningKinds{});
    EXPECT_EQ(Kinds(Show(Cron("* * * * * *"), from)), (WarningKinds{WarningKind::kFrequent}));
    schedule::ScheduleSpec over = Cron("0 0 * * *");
    over.end_at = At("2025-06-01T00:00:00Z");
    EXPECT_EQ(Kinds(Show(over, from)), (WarningKinds{WarningKind::kOnlyInThePast}));
    schedule::Calendar closed;
    closed.name = "closed";
    closed.exclude.emplace_back();
    world_.AddCalendar(closed);
    schedule::ScheduleSpec excluded = Cron("0 0 * * *");
    excluded.calendar = "closed";
    EXPECT_EQ(Kinds(Show(excluded, from)), (WarningKinds{WarningKind::kAllExcluded}));
}

TEST_F(PreviewTest, ShowsWhatTheCalendarTakesAway) {
    schedule::Calendar calendar;
    calendar.name = "week";
    calendar.exclude.push_back({.weekdays = 0b1000001});
    world_.AddCalendar(calendar);
    schedule::ScheduleSpec spec = Cron("0 9 * * *");
    spec.calendar = "week";
    const Preview preview = Show(spec, "2026-03-06T00:00:00Z", 2);  // a Friday
    ASSERT_EQ(preview.fires.size(), 2U);
    EXPECT_EQ(preview.fires[1].fire.at, At("2026-03-09T09:00:00Z"));
    EXPECT_EQ(preview.excluded, 2);
    ASSERT_EQ(preview.excluded_fires.size(), 2U);
    EXPECT_EQ(preview.excluded_fires[0].fire.at, At("2026-03-07T09:00:00Z"));
    EXPECT_EQ(preview.excluded_fires[0].rule, "every Saturday, Sunday");
}

TEST_F(PreviewTest, ShowsTheWindowOfJitter) {
    schedule::ScheduleSpec spec = Cron("0 * * * *");
    spec.jitter = minutes(10);
    Preview preview = Show(spec, "2026-03-06T00:30:00Z", 1);
    EXPECT_EQ(preview.fires[0].start_until, At("2026-03-06T01:10:00Z"));
    EXPECT_FALSE(preview.fires[0].start_at);
    preview = Show(spec, "2026-03-06T00:30:00Z", 1, "j");
    ASSERT_TRUE(preview.fires[0].start_at);
    EXPECT_LE(*preview.fires[0].start_at, *preview.fires[0].start_until);
}

TEST_F(PreviewTest, CountsJobsThatFireAtTheSameTime) {
    const auto add = [&](const std::string& id, const std::string& cron, bool enabled = true) {
        model::Job job = ExplainWorld::CronJob(cron);
        job.id = id;
        job.enabled = enabled;
        world_.Create(job);
    };
    add("same", "0 3 * * *");
    add("minute", "30 0 3 * * *");
    add("always", "* * * * *");
    add("other", "0 4 * * *");
    add("paused", "0 3 * * *", false);
    add("itself", "0 3 * * *");
    const Preview preview = Show(Cron("0 3 * * *"), "2026-03-06T00:00:00Z", 2, "itself");
    for (const PreviewFire& shown : preview.fires) {
        EXPECT_EQ(shown.same_minute, 3) << "same, minute and always";
        EXPECT_EQ(shown.same_second, 2);
    }
    EXPECT_EQ(preview.compared_jobs, 4);
    EXPECT_TRUE(preview.compared_all);

    PreviewParams few;
    few.spec = Cron("0 3 * * *");
    few.max_jobs = 2;
    const auto cut = PreviewSchedule(world_.sources(), few);
    ASSERT_TRUE(cut);
    EXPECT_FALSE(cut->compared_all);
}

TEST_F(PreviewTest, IsBoundedAndTellsEveryFault) {
    EXPECT_EQ(Show(Cron("* * * * *"), "2026-03-06T00:00:00Z", 1'000'000).fires.size(),
              kMaxPreviewFires);
    PreviewParams params;
    params.spec = Cron("0 75 * * *", "Europe/Nowhere");
    const auto refused = PreviewSchedule(world_.sources(), params);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().problems.size(), 2U);
}

}  // namespace
}  // namespace ksana::insight
