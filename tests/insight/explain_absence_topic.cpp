#include "insight/explain_world.hpp"

// Explanations of fires without a run, of times that are no fires, and of future fires, with every
// store.

namespace ksana::conformance {
namespace {

using insight::At;
using insight::ExplainWorld;
using insight::Explanation;
using insight::Reason;
using insight::Verdict;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

bool Has(const Explanation& explanation, const std::string& part) {
    return explanation.text.find(part) != std::string::npos;
}

model::AuditEvent PausedBy(const std::string& user, TimePoint at, const std::string& data) {
    return {.at = at,
            .action = "paused",
            .user = user,
            .resource_type = "job",
            .resource_id = "j",
            .data = data};
}

TEST_P(StoreTest, ExplainsWhatWasMissedAfterDowntime) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("*/10 * * * *"));
    world.now = At("2026-03-02T05:55:00Z");
    Explanation e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kNotPlannedYet);
    EXPECT_EQ(e.reason, Reason::kBehind);
    EXPECT_EQ(e.expected, model::FireFate::kMissed);
    EXPECT_EQ(e.planned_until, At("2026-03-02T00:00:00Z"));
    EXPECT_TRUE(Has(e, "it will be missed (misfire policy skip)")) << e.text;

    world.Plan();
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kMissed);
    ASSERT_TRUE(e.ledger);
    EXPECT_EQ(e.ledger->count, 35);
    EXPECT_EQ(e.ledger->first, At("2026-03-02T00:10:00Z"));
    EXPECT_EQ(e.ledger->last, At("2026-03-02T05:50:00Z"));
    EXPECT_EQ(e.ledger->recorded_at, world.now);
    EXPECT_EQ(e.misfire, model::MisfirePolicy::kSkip);
    EXPECT_TRUE(Has(e, "35 fires from Mon 2026-03-02 00:10:00 UTC")) << e.text;
}

TEST_P(StoreTest, ExplainsAOnceThatWasInThePastAlready) {
    ExplainWorld world(store(), At("2026-03-02T12:00:00Z"));
    model::Job job = ExplainWorld::EveryJob(hours(1));
    job.schedule.kind = schedule::ScheduleKind::kOnce;
    job.schedule.run_at = At("2026-03-02T10:00:00Z");
    world.Create(job);
    EXPECT_EQ(world.Ask("2026-03-02T10:00:00Z").verdict, Verdict::kNotPlannedYet);
    world.Plan();
    EXPECT_EQ(world.Ask("2026-03-02T10:00:00Z").verdict, Verdict::kMissed);
    const Explanation e = world.Ask("2026-03-02T13:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kNotAFire);
    EXPECT_EQ(e.before->at, At("2026-03-02T10:00:00Z"));
    EXPECT_FALSE(e.after);
}

TEST_P(StoreTest, ExplainsAPause) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 * * * *"));
    world.now = At("2026-03-02T00:30:00Z");
    world.Pause("maintenance");
    world.now = At("2026-03-02T02:30:00Z");
    // While the job is paused, its own fields tell the reason.
    Explanation e = world.Ask("2026-03-02T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kSkippedPaused);
    ASSERT_TRUE(e.actor);
    EXPECT_EQ(e.actor->at, At("2026-03-02T00:30:00Z"));
    EXPECT_EQ(e.actor->reason, "maintenance");
    EXPECT_FALSE(e.ledger);
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWillBeSkipped);
    EXPECT_EQ(e.reason, Reason::kPaused);
    EXPECT_EQ(e.actor->reason, "maintenance");

    // The audit event tells who paused it.
    ASSERT_TRUE(store().events().Append(
        {PausedBy("ann", At("2026-03-02T00:30:00Z"), R"({"reason":"maintenance"})")}));
    world.Resume();
    world.now = At("2026-03-02T04:30:00Z");
    ASSERT_TRUE(store().events().Append({PausedBy("bob", world.now, "")}));
    for (const char* at : {"2026-03-02T01:00:00Z", "2026-03-02T02:00:00Z"}) {
        e = world.Ask(at);
        EXPECT_EQ(e.verdict, Verdict::kSkippedPaused);
        ASSERT_TRUE(e.ledger);
        EXPECT_EQ(e.ledger->count, 2);
        EXPECT_EQ(e.ledger->recorded_at, At("2026-03-02T02:30:00Z"));
        ASSERT_TRUE(e.actor);
        EXPECT_EQ(e.actor->user, "ann");
        EXPECT_TRUE(Has(e, "paused by ann at Mon 2026-03-02 00:30:00 UTC (\"maintenance\")"))
            << e.text;
    }
    EXPECT_EQ(world.Ask("2026-03-02T04:00:00Z").verdict, Verdict::kNotPlannedYet);
}

schedule::Calendar Holidays() {
    schedule::Calendar calendar;
    calendar.name = "eu";
    calendar.exclude.push_back({.dates = {{{2026, 5, 1}, {2026, 5, 3}}}});
    calendar.exclude.push_back({.weekdays = 0b1000001});
    return calendar;
}

TEST_P(StoreTest, ExplainsACalendar) {
    ExplainWorld world(store(), At("2026-04-29T12:00:00Z"));
    world.AddCalendar(Holidays());
    model::Job job = ExplainWorld::CronJob("0 3 * * *", "Europe/Berlin");
    job.schedule.calendar = "eu";
    world.Create(job);
    Explanation e = world.Ask("2026-05-01T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWillBeSkipped);
    EXPECT_EQ(e.reason, Reason::kCalendar);
    EXPECT_EQ(e.calendar->rule, "2026-05-01 to 2026-05-03");
    EXPECT_EQ(e.before->at, At("2026-04-30T01:00:00Z"));
    EXPECT_EQ(e.after->at, At("2026-05-04T01:00:00Z"));

    world.now = At("2026-04-30T01:00:00Z");
    world.RunAll();
    world.now = At("2026-05-10T12:00:00Z");  // one plan: missed and excluded days alternate
    world.Plan();
    e = world.Ask("2026-05-02T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kSkippedCalendar);
    EXPECT_EQ(e.calendar->name, "eu");
    EXPECT_EQ(e.calendar->rule, "2026-05-01 to 2026-05-03");
    ASSERT_TRUE(e.ledger);
    EXPECT_EQ(e.ledger->fate, model::FireFate::kSkippedCalendar);
    EXPECT_EQ(e.ledger->count, 5);
    e = world.Ask("2026-05-09T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kSkippedCalendar);
    EXPECT_EQ(e.calendar->rule, "every Saturday, Sunday");
    e = world.Ask("2026-05-06T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kMissed) << "between excluded days";
    EXPECT_EQ(e.ledger->fate, model::FireFate::kMissed);
    // Not exact: the nearest fire is an excluded one.
    e = world.Ask("2026-05-09T01:00:30Z");
    EXPECT_EQ(e.verdict, Verdict::kSkippedCalendar);
    EXPECT_TRUE(e.snapped);
}

TEST_P(StoreTest, ExplainsACalendarThatWasChangedSince) {
    ExplainWorld world(store(), At("2026-04-29T12:00:00Z"));
    world.AddCalendar(Holidays());
    model::Job job = ExplainWorld::CronJob("0 3 * * *");
    job.schedule.calendar = "eu";
    world.Create(job);
    world.now = At("2026-04-30T03:00:00Z");
    world.RunAll();
    world.now = At("2026-05-01T12:00:00Z");
    Explanation e = world.Ask("2026-05-01T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kSkippedCalendar) << "not on record yet";
    EXPECT_FALSE(e.ledger);
    world.now = At("2026-05-04T12:00:00Z");
    world.Plan();
    schedule::Calendar calendar = Holidays();
    calendar.exclude.erase(calendar.exclude.begin());
    world.AddCalendar(calendar);
    e = world.Ask("2026-05-01T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kSkippedCalendar);
    ASSERT_TRUE(e.ledger);
    ASSERT_EQ(e.notes.size(), 1U);
    calendar.exclude.push_back({.dates = {{{2026, 4, 30}, {2026, 4, 30}}}});
    world.AddCalendar(calendar);
    e = world.Ask("2026-04-30T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRan);
    ASSERT_EQ(e.notes.size(), 1U);
    EXPECT_EQ(e.notes[0], "the calendar excludes this time now");
}

TEST_P(StoreTest, ExplainsWhyATimeIsNoFire) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("0 * * * *");
    job.schedule.start_at = At("2026-03-03T00:00:00Z");
    job.schedule.end_at = At("2026-03-05T00:00:00Z");
    world.Create(job);
    const auto reason = [&](const char* at) {
        const Explanation e = world.Ask(at);
        EXPECT_EQ(e.verdict, Verdict::kNotAFire);
        EXPECT_FALSE(e.fire);
        return e.reason;
    };
    EXPECT_EQ(reason("2026-03-01T12:00:00Z"), Reason::kBeforeCreated);
    EXPECT_EQ(reason("2026-03-02T12:00:00Z"), Reason::kBeforeStart);
    EXPECT_EQ(reason("2026-03-05T12:00:00Z"), Reason::kAfterEnd);
    EXPECT_EQ(reason("2026-03-04T12:30:00Z"), Reason::kOffSchedule);
    const Explanation e = world.Ask("2026-03-04T12:30:00Z");
    EXPECT_EQ(e.before->at, At("2026-03-04T12:00:00Z"));
    EXPECT_EQ(e.after->at, At("2026-03-04T13:00:00Z"));
    EXPECT_TRUE(Has(e, "the next one is Wed 2026-03-04 13:00:00 UTC")) << e.text;
}

TEST_P(StoreTest, ExplainsFiresBeforeTheJobWasMade) {
    ExplainWorld world(store(), At("2026-03-02T00:30:00Z"));
    world.Create(ExplainWorld::CronJob("0 * * * *"));
    const Explanation e = world.Ask("2026-03-02T00:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kNotAFire);
    EXPECT_EQ(e.reason, Reason::kBeforeCreated);
}

TEST_P(StoreTest, ExplainsAScheduleThatWasChangedSince) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 * * * *"));
    world.now = At("2026-03-02T01:00:00Z");
    world.RunAll();
    world.now = At("2026-03-02T02:00:00Z");
    world.RunAll();
    world.now = At("2026-03-02T02:10:00Z");
    world.Change([](model::Job& job) { job.schedule.cron = "30 * * * *"; });
    Explanation e = world.Ask("2026-03-02T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRan) << "what was, was";
    ASSERT_EQ(e.notes.size(), 1U);
    EXPECT_EQ(e.notes[0], "the schedule has been changed since");
    e = world.Ask("2026-03-02T01:00:20Z");
    EXPECT_EQ(e.verdict, Verdict::kRan) << "not exactly, and of the old schedule";
    EXPECT_TRUE(e.snapped);
    e = world.Ask("2026-03-02T01:30:00Z");
    EXPECT_EQ(e.verdict, Verdict::kNotAFire) << "the new schedule was not there yet";
    EXPECT_EQ(e.reason, Reason::kScheduleChanged);
    e = world.Ask("2026-03-02T01:45:00Z");
    EXPECT_EQ(e.verdict, Verdict::kNotAFire);
    EXPECT_EQ(e.reason, Reason::kScheduleChanged);
    e = world.Ask("2026-03-02T02:30:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWillRun);
    EXPECT_EQ(world.Ask("2026-03-02T03:00:00Z").reason, Reason::kOffSchedule);
}

TEST_P(StoreTest, ExplainsMissedFiresOfAnOldSchedule) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 * * * *"));
    world.now = At("2026-03-02T03:30:00Z");
    world.Change([](model::Job& job) { job.schedule.cron = "15 * * * *"; });
    Explanation e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kMissed) << "the end of a range is a fire for sure";
    e = world.Ask("2026-03-02T02:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kNotAFire);
    EXPECT_EQ(e.reason, Reason::kScheduleChanged);
}

TEST_P(StoreTest, ExplainsTheFuture) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("0 3 * * *");
    job.schedule.jitter = minutes(30);
    world.Create(job);
    const Explanation e = world.Ask("2026-03-05T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWillRun);
    EXPECT_TRUE(e.start_at);
    EXPECT_TRUE(Has(e, "with jitter at")) << e.text;
}

TEST_P(StoreTest, ExplainsWhatPlanningWillMakeOfAFireThatIsDue) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("0 * * * *");
    job.misfire.policy = model::MisfirePolicy::kRunLatest;
    world.Create(job);
    world.now = At("2026-03-02T02:10:00Z");
    EXPECT_EQ(world.Ask("2026-03-02T01:00:00Z").expected, model::FireFate::kMissed);
    EXPECT_EQ(world.Ask("2026-03-02T02:00:00Z").expected, model::FireFate::kCaughtUp);
    world.now = At("2026-03-02T02:00:01Z");
    EXPECT_EQ(world.Ask("2026-03-02T02:00:00Z").expected, model::FireFate::kOnTime);
}

TEST_P(StoreTest, ExplainsWhatRetentionHasDeleted) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 * * * *"));
    for (int hour = 0; hour < 4; ++hour) {
        world.now += hours(1);
        world.RunAll(seconds(1));
        world.now -= seconds(1);
    }
    ASSERT_TRUE(store().runs().Purge({.finished_before = At("2026-03-02T02:30:00Z")}));
    Explanation e = world.Ask("2026-03-02T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kPurged);
    EXPECT_EQ(e.reason, Reason::kRetention);
    EXPECT_EQ(world.Ask("2026-03-02T03:00:00Z").verdict, Verdict::kRan);
}

TEST_P(StoreTest, ExplainsAJobThatKeepsNoRuns) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("0 * * * *");
    job.run_log = model::RunLog::kNone;
    world.Create(job);
    world.now = At("2026-03-02T01:00:00Z");
    world.RunAll();
    const Explanation e = world.Ask("2026-03-02T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kPurged);
    EXPECT_EQ(e.reason, Reason::kRunLog);
}

TEST_P(StoreTest, ExplainsAnUnknownJobAndADeletedOne) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    EXPECT_EQ(world.Ask("2026-03-02T01:00:00Z").verdict, Verdict::kUnknownJob);
    world.Create(ExplainWorld::CronJob("0 * * * *"));
    world.now = At("2026-03-02T01:00:00Z");
    world.RunAll();
    ASSERT_TRUE(store().jobs().Delete({.now = world.now, .id = "j", .expected_version = {}}));
    ASSERT_TRUE(store().events().Append({{.at = world.now,
                                          .action = "deleted",
                                          .user = "ann",
                                          .resource_type = "job",
                                          .resource_id = "j"}}));
    Explanation e = world.Ask("2026-03-02T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRan) << "its run is still there";
    e = world.Ask("2026-03-02T02:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kUnknownJob);
    EXPECT_TRUE(Has(e, "it was deleted by ann")) << e.text;
}

TEST_P(StoreTest, ExplainsAScheduleThatCannotBeCompiled) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.AddCalendar(Holidays());
    model::Job job = ExplainWorld::CronJob("0 * * * *");
    job.schedule.calendar = "eu";
    world.Create(job);
    ExplainWorld without(store(), At("2026-03-02T05:00:00Z"));
    const Explanation e = without.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kNotPlannedYet);
    EXPECT_EQ(e.reason, Reason::kScheduleBroken);
    EXPECT_TRUE(Has(e, "there is no calendar")) << e.text;
}

}  // namespace
}  // namespace ksana::conformance
