#include "insight/explain_world.hpp"
#include "ksana/codec/records/wait_cause_codec.hpp"

// Explanations of fires that became runs, with every store.

namespace ksana::conformance {
namespace {

using insight::At;
using insight::ExplainWorld;
using insight::Explanation;
using insight::Reason;
using insight::Verdict;
using model::EventKind;
using model::OverlapPolicy;
using model::RunState;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

bool Has(const Explanation& explanation, const std::string& part) {
    return explanation.text.find(part) != std::string::npos;
}

TEST_P(StoreTest, ExplainsARunThatWasInTime) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 3 * * *", "Europe/Berlin"));
    world.now = At("2026-03-02T02:00:00.2Z");
    world.RunAll(seconds(2));
    const Explanation e = world.Ask("2026-03-02T02:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRan);
    EXPECT_FALSE(e.snapped);
    EXPECT_EQ(e.fire->local, "Mon 2026-03-02 03:00:00 CET");
    EXPECT_EQ(e.run->state, RunState::kSucceeded);
    EXPECT_EQ(e.run->attempts, 1);
    EXPECT_EQ(e.run->late, milliseconds(200));
    EXPECT_EQ(e.run->took, seconds(2));
    EXPECT_EQ(e.after->at, At("2026-03-03T02:00:00Z"));
    EXPECT_FALSE(e.before) << "the job was not there yet";
    EXPECT_EQ(e.text,
              "The fire of Mon 2026-03-02 03:00:00 CET ran in time and succeeded after 2s.");
}

TEST_P(StoreTest, ExplainSnapsToTheNearestFireAndSaysSo) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("17 0 3 * * *"));
    world.now = At("2026-03-02T03:00:17Z");
    world.RunAll();
    for (const char* at : {"2026-03-02T03:00:00Z", "2026-03-02T03:00:30Z"}) {
        const Explanation e = world.Ask(at);
        EXPECT_EQ(e.verdict, Verdict::kRan);
        EXPECT_TRUE(e.snapped);
        EXPECT_EQ(e.fire->at, world.now);
        EXPECT_TRUE(Has(e, "was asked for")) << e.text;
    }
    EXPECT_EQ(world.Ask("2026-03-02T03:02:00Z").verdict, Verdict::kNotAFire);
    const Explanation strict =
        world.Ask("2026-03-02T03:00:00Z", [](auto& params) { params.tolerance = seconds(1); });
    EXPECT_EQ(strict.verdict, Verdict::kNotAFire);
}

TEST_P(StoreTest, ExplainsAFailedRunAndItsRetries) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("0 3 * * *");
    job.retry = model::RetryPolicy{.max_retries = 1, .interval = seconds(10)};
    world.Create(job);
    world.now = At("2026-03-02T03:00:00Z");
    world.Plan();
    auto runs = world.Claim();
    ASSERT_EQ(runs.size(), 1U);
    world.now += seconds(1);
    world.Report(runs[0], EventKind::kRetryableFailure, "HTTP 503\n");

    Explanation e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWaiting);
    EXPECT_EQ(e.reason, Reason::kRetry);
    EXPECT_TRUE(Has(e, "HTTP 503\\n")) << e.text;

    world.now += seconds(10);
    runs = world.Claim();
    ASSERT_EQ(runs.size(), 1U);
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRunning);
    EXPECT_EQ(e.run->attempts, 2);

    world.now += seconds(1);
    world.Report(runs[0], EventKind::kRetryableFailure, "HTTP 502");
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRetried);
    EXPECT_EQ(e.run->state, RunState::kFailed);
    EXPECT_EQ(e.run->started_at, At("2026-03-02T03:00:00Z")) << "of the first attempt";
    EXPECT_EQ(e.run->late, Duration::zero());
    EXPECT_EQ(e.run->took, seconds(12));
    EXPECT_TRUE(Has(e, "took 2 attempts and failed after 12s: HTTP 502")) << e.text;
}

TEST_P(StoreTest, ExplainsWhatRunsNowAndWhatIsHeld) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 3 * * *"));
    world.now = At("2026-03-02T03:00:00Z");
    world.Plan();
    Explanation e = world.Ask(world.now);
    EXPECT_EQ(e.verdict, Verdict::kWaiting);
    EXPECT_EQ(e.reason, Reason::kUnclaimed);

    const auto runs = world.Claim();
    ASSERT_EQ(runs.size(), 1U);
    world.now += seconds(5);
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRunning);
    EXPECT_EQ(e.run->owner, "node-1");
    EXPECT_TRUE(Has(e, "is running since Mon 2026-03-02 03:00:00 UTC")) << e.text;

    world.Report(runs[0], EventKind::kShutdown);
    world.Apply(runs[0].id, {.kind = EventKind::kHold});
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWaiting);
    EXPECT_EQ(e.reason, Reason::kHeld);
}

TEST_P(StoreTest, ExplainsWhyARunWaits) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 3 * * *"));
    world.now = At("2026-03-02T03:00:00Z");
    world.Plan();
    world.now += seconds(3);
    const auto ask = [&](insight::NodeView node) {
        return world.Ask("2026-03-02T03:00:00Z", [&](auto& params) { params.node = node; }).reason;
    };
    EXPECT_EQ(ask({.slots = 4, .busy = 4}), Reason::kNoSlot);
    EXPECT_EQ(ask({.slots = 4, .busy = 1, .starts_held_back = true}), Reason::kStartRate);
    EXPECT_EQ(ask({.slots = 4, .busy = 1}), Reason::kUnclaimed);
}

TEST_P(StoreTest, ExplainsJitter) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("0 3 * * *");
    job.schedule.jitter = hours(1);
    world.Create(job);
    world.now = At("2026-03-02T03:00:00Z");
    const TimePoint start = world.Compile(job).WithJitter("j", world.now);
    ASSERT_GT(start, world.now + minutes(2)) << "this hash is in the way of the test";
    Explanation e = world.Ask("2026-03-02T03:01:00Z");
    EXPECT_EQ(e.verdict, Verdict::kNotPlannedYet);
    world.Plan();
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWaiting);
    EXPECT_EQ(e.reason, Reason::kNotDue);
    EXPECT_EQ(e.start_at, start);
    // A user who read the start time in a log means the same fire.
    e = world.Ask(start);
    EXPECT_EQ(e.fire->at, At("2026-03-02T03:00:00Z"));
    world.now = start;
    world.RunAll();
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRan) << "jitter is not lateness";
    EXPECT_EQ(e.run->late, Duration::zero());
}

TEST_P(StoreTest, ExplainsWhyARunWasLate) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("0 * * * *");
    job.misfire.policy = model::MisfirePolicy::kRunLatest;
    world.Create(job);
    // Planned on time, but no slot was free.
    world.now = At("2026-03-02T01:00:00Z");
    world.Plan();
    world.now += seconds(7);
    world.RunAll(seconds(1));
    Explanation e = world.Ask("2026-03-02T01:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRanLate);
    EXPECT_EQ(e.reason, Reason::kWaitedForSlot);
    EXPECT_EQ(e.run->late, seconds(7));

    // The server was down at 02:00 and 03:00, and caught up on the latest fire.
    world.now = At("2026-03-02T03:20:00Z");
    world.RunAll(seconds(1));
    e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRanLate);
    EXPECT_EQ(e.reason, Reason::kOverdue);
    EXPECT_EQ(e.run->late, minutes(20));
    EXPECT_TRUE(Has(e, "down or behind until Mon 2026-03-02 03:20:00 UTC")) << e.text;
    e = world.Ask("2026-03-02T02:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kMissed);
    EXPECT_EQ(e.misfire, model::MisfirePolicy::kRunLatest);
}

TEST_P(StoreTest, ExplainsWaitingForAnotherRun) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("* * * * *");
    job.overlap = OverlapPolicy::kQueueOne;
    world.Create(job);
    world.now = At("2026-03-02T00:01:00Z");
    world.Plan();
    const auto first = world.Claim();
    ASSERT_EQ(first.size(), 1U);
    world.now = At("2026-03-02T00:02:00Z");
    world.Plan();
    EXPECT_TRUE(world.Claim().empty());
    Explanation e = world.Ask("2026-03-02T00:02:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWaiting);
    EXPECT_EQ(e.reason, Reason::kBlocked);
    ASSERT_TRUE(e.related);
    EXPECT_EQ(e.related->id, first[0].id);

    world.now += seconds(30);
    world.Report(first[0], EventKind::kSuccess);
    world.RunAll(seconds(1));
    e = world.Ask("2026-03-02T00:02:00Z");
    EXPECT_EQ(e.verdict, Verdict::kRanLate);
    EXPECT_EQ(e.reason, Reason::kWaitedForRun);
    ASSERT_TRUE(e.related);
    EXPECT_EQ(e.related->id, first[0].id);
}

TEST_P(StoreTest, ExplainsASkipByOverlapWithTheRunInTheWay) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("* * * * *"));  // overlap: skip
    world.now = At("2026-03-02T00:01:00Z");
    world.Plan();
    const auto first = world.Claim();
    ASSERT_EQ(first.size(), 1U);
    for (const char* at : {"2026-03-02T00:02:00Z", "2026-03-02T00:03:00Z"}) {
        world.now = At(at);
        world.Plan();
    }
    Explanation e = world.Ask("2026-03-02T00:02:00Z");
    EXPECT_EQ(e.verdict, Verdict::kSkippedOverlap);
    ASSERT_TRUE(e.related);
    EXPECT_EQ(e.related->id, first[0].id);
    EXPECT_EQ(e.related->from, At("2026-03-02T00:01:00Z"));
    EXPECT_FALSE(e.related->until);

    world.now += seconds(30);
    world.Report(first[0], EventKind::kSuccess);
    world.now = At("2026-03-02T00:04:00Z");
    world.RunAll();
    for (const char* at : {"2026-03-02T00:02:00Z", "2026-03-02T00:03:00Z"}) {
        e = world.Ask(at);
        EXPECT_EQ(e.verdict, Verdict::kSkippedOverlap);
        ASSERT_TRUE(e.related);
        EXPECT_EQ(e.related->id, first[0].id) << "long after";
        EXPECT_EQ(e.related->until, At("2026-03-02T00:03:30Z"));
        EXPECT_TRUE(Has(e, "(overlap policy skip)")) << e.text;
    }
    EXPECT_EQ(world.Ask("2026-03-02T00:04:00Z").verdict, Verdict::kRan);
}

TEST_P(StoreTest, ExplainsWhoCancelled) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("* * * * *");
    job.overlap = OverlapPolicy::kCancelOther;
    world.Create(job);
    world.now = At("2026-03-02T00:01:00Z");
    world.Plan();
    const auto first = world.Claim();
    ASSERT_EQ(first.size(), 1U);
    world.now = At("2026-03-02T00:02:00Z");
    world.Plan();
    world.Claim();  // cancels the first run
    world.Report(first[0], EventKind::kCancelled);
    Explanation e = world.Ask("2026-03-02T00:01:00Z");
    EXPECT_EQ(e.verdict, Verdict::kCancelled);
    EXPECT_EQ(e.reason, Reason::kCancelOther);
    ASSERT_TRUE(e.related);
    EXPECT_EQ(e.related->nominal_at, At("2026-03-02T00:02:00Z"));

    const auto second = store().jobs().FindFire("j", At("2026-03-02T00:02:00Z")).value();
    world.Apply(second->id, {.kind = EventKind::kCancel});
    ASSERT_TRUE(store().events().Append({{.at = world.now,
                                          .action = "cancelled",
                                          .user = "ann",
                                          .resource_type = "run",
                                          .resource_id = second->id.ToString(),
                                          .data = R"({"reason":"wrong data"})"}}));
    e = world.Ask("2026-03-02T00:02:00Z");
    EXPECT_EQ(e.verdict, Verdict::kCancelled);
    ASSERT_TRUE(e.actor);
    EXPECT_EQ(e.actor->user, "ann");
    EXPECT_EQ(e.actor->reason, "wrong data");
    EXPECT_TRUE(Has(e, "cancelled by ann")) << e.text;
}

TEST_P(StoreTest, ExplainsSkipsForOtherReasons) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    model::Job job = ExplainWorld::CronJob("* * * * *");
    job.overlap = OverlapPolicy::kAllow;
    world.Create(job);
    const std::vector<std::pair<model::SkipReason, Verdict>> reasons = {
        {model::SkipReason::kLock, Verdict::kSkippedLock},
        {model::SkipReason::kDependency, Verdict::kSkippedDependency},
        {model::SkipReason::kPaused, Verdict::kSkippedPaused},
        {model::SkipReason::kCalendar, Verdict::kSkippedCalendar}};
    world.now = At("2026-03-02T00:00:00Z");
    for (const auto& [reason, verdict] : reasons) {
        world.now += minutes(1);
        world.Plan();
        const auto run = store().jobs().FindFire("j", world.now).value();
        ASSERT_TRUE(run);
        world.Apply(run->id, {.kind = EventKind::kSkip, .reason = reason});
        EXPECT_EQ(world.Ask(world.now).verdict, verdict);
    }
    world.now += minutes(1);
    world.Plan();
    const auto run = store().jobs().FindFire("j", world.now).value();
    world.Apply(run->id, {.kind = EventKind::kMiss});
    const Explanation e = world.Ask(world.now);
    EXPECT_EQ(e.verdict, Verdict::kMissed);
    EXPECT_FALSE(e.ledger);
    EXPECT_TRUE(e.run);
}

// A run held back by its node: deferred to the store, and waiting in memory.
TEST_P(StoreTest, ExplainsWhatALimitHoldsBack) {
    const std::string fire = "2026-03-02T03:00:00Z";
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 3 * * *"));
    world.now = At(fire);
    world.Plan();
    auto runs = world.Claim();
    ASSERT_EQ(runs.size(), 1U);
    const model::WaitCause cause{
        .reason = model::WaitReason::kLimited, .key = "group:etl", .before = 7};
    model::Event away{.kind = EventKind::kSnooze, .exec_id = runs[0].status.exec_id};
    away.detail = codec::WaitCauseToDetail(cause);
    away.after = minutes(1);
    away.not_begun = true;
    world.Apply(runs[0].id, away);
    Explanation e = world.Ask(fire);
    EXPECT_EQ(e.verdict, Verdict::kWaiting);
    EXPECT_EQ(e.reason, Reason::kLimited);
    EXPECT_EQ(e.limit->key, "group:etl");
    EXPECT_EQ(e.run->attempts, 0);
    EXPECT_FALSE(e.run->started_at);
    EXPECT_EQ(e.text,
              "The fire of Mon 2026-03-02 03:00:00 UTC waits: the limit of group etl is used up, "
              "and 7 are before it; it is tried again at Mon 2026-03-02 03:01:00 UTC.");

    world.now += minutes(1);
    runs = world.Claim();
    ASSERT_EQ(runs.size(), 1U);
    model::Event waits{.kind = EventKind::kProgress, .exec_id = runs[0].status.exec_id};
    waits.lease = minutes(1);
    waits.not_begun = true;
    waits.detail = codec::WaitCauseToDetail(cause);
    world.Apply(runs[0].id, waits);
    e = world.Ask(fire);
    EXPECT_EQ(e.verdict, Verdict::kWaiting) << "stored as running, and not yet called";
    EXPECT_EQ(e.reason, Reason::kLimited);
    EXPECT_EQ(e.run->attempts, 0);

    world.now += seconds(20);
    waits.detail.clear();
    world.Apply(runs[0].id, waits);
    EXPECT_EQ(world.Ask(fire).verdict, Verdict::kRunning);
    world.now += seconds(1);
    world.Report(runs[0], EventKind::kSuccess);
    e = world.Ask(fire);
    EXPECT_EQ(e.verdict, Verdict::kRanLate);
    EXPECT_EQ(e.reason, Reason::kWaitedForLimit);
    EXPECT_EQ(e.run->late, seconds(80));
    EXPECT_EQ(e.run->attempts, 1);
}

TEST_P(StoreTest, ExplainsWhatAnOpenBreakerHoldsBack) {
    ExplainWorld world(store(), At("2026-03-02T00:00:00Z"));
    world.Create(ExplainWorld::CronJob("0 3 * * *"));
    world.now = At("2026-03-02T03:00:00Z");
    world.Plan();
    const auto runs = world.Claim();
    ASSERT_EQ(runs.size(), 1U);
    model::Event away{.kind = EventKind::kSnooze, .exec_id = runs[0].status.exec_id};
    away.detail = codec::WaitCauseToDetail(
        {.reason = model::WaitReason::kBreakerOpen, .key = "host:example.com:443", .before = 0});
    away.after = seconds(30);
    away.not_begun = true;
    world.Apply(runs[0].id, away);
    const Explanation e = world.Ask("2026-03-02T03:00:00Z");
    EXPECT_EQ(e.verdict, Verdict::kWaiting);
    EXPECT_EQ(e.reason, Reason::kBreakerOpen);
    EXPECT_EQ(e.limit->key, "host:example.com:443");
    EXPECT_EQ(e.run->ready_at, world.now + seconds(30));
    EXPECT_TRUE(Has(e,
                    "host example.com:443 is known to be down; it is tried again at "
                    "Mon 2026-03-02 03:00:30 UTC"))
        << e.text;
}

}  // namespace
}  // namespace ksana::conformance
