#include "insight/explain_world.hpp"

// Explanations for nights with a clock change, with every store.

namespace ksana::conformance {
namespace {

using insight::At;
using insight::ExplainWorld;
using insight::Explanation;
using insight::Reason;
using insight::Verdict;
using schedule::DstNote;
using std::chrono::hours;
using std::chrono::seconds;

TEST_P(StoreTest, ExplainsAFireThatClocksMoved) {
    ExplainWorld world(store(), At("2026-03-28T12:00:00Z"));
    world.Create(ExplainWorld::CronJob("30 2 * * *", "Europe/Berlin"));
    world.now = At("2026-03-29T01:00:00Z");  // 03:00 CEST, the first instant after the gap
    world.RunAll();
    Explanation e = world.Ask("2026-03-29T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRan);
    EXPECT_EQ(e.fire->dst, DstNote::kAfterGap);
    EXPECT_EQ(e.fire->local, "Sun 2026-03-29 03:00:00 CEST");
    EXPECT_NE(e.text.find("moved: clocks skip its time that day"), std::string::npos) << e.text;
    // 02:30 in the winter offset does not exist, but its meaning is clear.
    e = world.Ask("2026-03-29T02:30:00+01:00");
    EXPECT_EQ(e.verdict, Verdict::kRan);
    EXPECT_TRUE(e.snapped);
    EXPECT_EQ(e.fire->at, At("2026-03-29T01:00:00Z"));
    EXPECT_EQ(world.Ask("2026-03-29T03:30:00Z").verdict, Verdict::kNotAFire);
}

TEST_P(StoreTest, ExplainsAFireThatClocksTookAway) {
    ExplainWorld world(store(), At("2026-03-28T12:00:00Z"));
    model::Job job = ExplainWorld::CronJob("30 2 * * *", "Europe/Berlin");
    job.schedule.dst.gap = schedule::GapPolicy::kSkip;
    world.Create(job);
    world.now = At("2026-03-29T12:00:00Z");
    world.Plan();
    for (const char* at : {"2026-03-29T03:00:00+02:00", "2026-03-29T02:30:00+01:00"}) {
        const Explanation e = world.Ask(at);
        EXPECT_EQ(e.verdict, Verdict::kNotAFire);
        EXPECT_EQ(e.reason, Reason::kDstGap) << at;
        EXPECT_EQ(e.after->at, At("2026-03-30T02:30:00+02:00"));
    }
    EXPECT_EQ(world.Ask("2026-03-29T05:00:00+02:00").reason, Reason::kOffSchedule);
}

TEST_P(StoreTest, ExplainsATimeThatComesTwice) {
    using schedule::FoldPolicy;
    const std::string first = "2026-10-25T02:30:00+02:00";
    const std::string second = "2026-10-25T02:30:00+01:00";
    ExplainWorld world(store(), At("2026-10-24T12:00:00Z"));
    world.Create(ExplainWorld::CronJob("30 2 * * *", "Europe/Berlin"));
    Explanation e = world.Ask(first);
    EXPECT_EQ(e.verdict, Verdict::kWillRun);
    EXPECT_EQ(e.fire->dst, DstNote::kFirstPass);
    e = world.Ask(second);
    EXPECT_EQ(e.verdict, Verdict::kNotAFire);
    EXPECT_EQ(e.reason, Reason::kDstFold);

    world.Change([](model::Job& job) { job.schedule.dst.fold = FoldPolicy::kSecond; });
    EXPECT_EQ(world.Ask(first).reason, Reason::kDstFold);
    EXPECT_EQ(world.Ask(second).fire->dst, DstNote::kSecondPass);

    world.Change([](model::Job& job) { job.schedule.dst.fold = FoldPolicy::kBoth; });
    world.now = At(first);
    world.RunAll();
    world.now = At("2026-10-25T12:00:00Z");
    world.Plan();
    EXPECT_EQ(world.Ask(first).verdict, Verdict::kRan);
    EXPECT_EQ(world.Ask(second).verdict, Verdict::kMissed) << "the server was down";
}

// New York skips an hour at 02:00, Lord Howe half an hour; both set the clocks back at 02:00.
TEST_P(StoreTest, ExplainsChangesOfClocksElsewhere) {
    struct Night {
        const char* zone;
        const char* cron;
        const char* day_before;
        const char* moved_to;
        const char* asked;
    };
    const std::vector<Night> nights = {{"America/New_York", "30 2 * * *", "2026-03-07T12:00:00Z",
                                        "2026-03-08T03:00:00-04:00", "2026-03-08T02:30:00-05:00"},
                                       {"Australia/Lord_Howe", "15 2 * * *", "2026-10-03T03:00:00Z",
                                        "2026-10-04T02:30:00+11:00", "2026-10-04T02:15:00+10:30"}};
    for (const Night& night : nights) {
        ExplainWorld world(store(), At(night.day_before));
        model::Job job = ExplainWorld::CronJob(night.cron, night.zone);
        world.Create(job);
        world.now = At(night.moved_to) + hours(1);
        world.Plan();
        const Explanation e = world.Ask(night.asked);
        EXPECT_EQ(e.verdict, Verdict::kMissed) << night.zone;
        EXPECT_EQ(e.fire->at, At(night.moved_to));
        EXPECT_EQ(e.fire->dst, DstNote::kAfterGap);
        ASSERT_TRUE(store().jobs().Delete({.now = world.now, .id = "j", .expected_version = {}}));
    }
}

constexpr Duration kStep = std::chrono::minutes(10);
constexpr Duration kLongRun = std::chrono::minutes(40);

// Simulates 36 hours of a job that fires twice an hour, takes 40 minutes and has a calendar. The
// server is down from hour 9 to 15, the job is paused from 20 to 23. Returns the runs that are
// under way at the end, with their starts.
std::vector<std::pair<TimePoint, model::Run>> LiveThrough(ExplainWorld& world, const char* zone) {
    schedule::Calendar calendar;
    calendar.name = "noon";
    calendar.exclude.push_back({.times = {{12 * 3600, 14 * 3600}}});
    world.AddCalendar(calendar);
    model::Job job = ExplainWorld::CronJob("10,40 * * * *", zone);
    job.schedule.calendar = "noon";
    job.misfire = {.policy = model::MisfirePolicy::kRunLatest};
    world.Create(job);
    const TimePoint begin = world.now;
    std::vector<std::pair<TimePoint, model::Run>> under_way;
    for (int step = 0; step < 36 * 6; ++step) {
        world.now = begin + kStep * step;
        if (step == 20 * 6 + 1) world.Pause("lunch");
        if (step == 23 * 6 + 1) world.Resume();
        std::erase_if(under_way, [&](const auto& entry) {
            if (world.now - entry.first < kLongRun) return false;
            world.Report(entry.second, model::EventKind::kSuccess);
            return true;
        });
        if (step > 9 * 6 && step < 15 * 6) continue;
        world.Plan();
        for (const auto& run : world.Claim()) under_way.emplace_back(world.now, run);
    }
    return under_way;
}

// Expects the verdict that follows from the store's records.
void ExpectAsAccounted(const Explanation& e, const std::optional<model::Run>& run, bool blocked) {
    EXPECT_EQ(e.run.has_value(), run.has_value());
    if (blocked) {
        EXPECT_EQ(e.verdict, Verdict::kSkippedCalendar);
    } else if (!run) {
        ASSERT_TRUE(e.ledger) << e.text;
        const bool paused = e.ledger->fate == model::FireFate::kSkippedPaused;
        EXPECT_EQ(e.verdict, paused ? Verdict::kSkippedPaused : Verdict::kMissed);
        EXPECT_LE(e.ledger->first, e.asked_at);
        EXPECT_GE(e.ledger->last, e.asked_at);
    } else if (run->status.state == model::RunState::kSkipped) {
        EXPECT_EQ(e.verdict, Verdict::kSkippedOverlap);
        EXPECT_TRUE(e.related);
    } else if (run->status.state == model::RunState::kRunning) {
        EXPECT_EQ(e.verdict, Verdict::kRunning);
    } else {
        EXPECT_EQ(run->status.state, model::RunState::kSucceeded);
        EXPECT_EQ(e.run->id, run->id);
        EXPECT_TRUE(e.verdict == Verdict::kRan || e.verdict == Verdict::kRanLate);
    }
}

// Every fire gets the verdict that matches the store's records; no other time is a fire.
TEST_P(StoreTest, ExplainsEveryFireAsTheStoreAccountsForIt) {
    const std::vector<std::pair<const char*, const char*>> nights = {
        {"Europe/Berlin", "2026-03-28T12:00:00Z"},
        {"Europe/Berlin", "2026-10-24T12:00:00Z"},
        {"America/New_York", "2026-03-07T18:00:00Z"},
        {"America/New_York", "2026-10-31T18:00:00Z"},
        {"Australia/Lord_Howe", "2026-04-04T03:00:00Z"},
        {"Australia/Lord_Howe", "2026-10-03T03:00:00Z"}};
    for (const auto& [zone, night] : nights) {
        const TimePoint begin = At(night);
        ExplainWorld world(store(), begin);
        const auto under_way = LiveThrough(world, zone);
        const schedule::Schedule schedule = world.Compile(world.Get());
        std::map<Verdict, int> seen;
        for (TimePoint at = begin + kStep; at <= world.now; at += kStep) {
            const bool fires = schedule.Next(at - Duration(1)) == std::optional(at);
            const bool blocked = schedule.Blocked(at - Duration(1), at).count > 0;
            const Explanation e = world.Ask(at);
            ++seen[e.verdict];
            if (fires || blocked) {
                ExpectAsAccounted(e, store().jobs().FindFire("j", at).value(), blocked);
            } else {
                EXPECT_EQ(e.verdict, Verdict::kNotAFire);
            }
        }
        for (const Verdict verdict :
             {Verdict::kRan, Verdict::kRanLate, Verdict::kMissed, Verdict::kSkippedOverlap,
              Verdict::kSkippedPaused, Verdict::kSkippedCalendar, Verdict::kNotAFire}) {
            EXPECT_GT(seen[verdict], 0) << model::NameOf(verdict) << " in " << zone;
        }
        for (const auto& [since, run] : under_way) {
            world.Report(run, model::EventKind::kSuccess);
        }
        ASSERT_TRUE(store().jobs().Delete({.now = world.now, .id = "j", .expected_version = {}}));
        ASSERT_TRUE(store().runs().Purge({.finished_before = world.now + hours(24)}));
    }
}

}  // namespace
}  // namespace ksana::conformance
