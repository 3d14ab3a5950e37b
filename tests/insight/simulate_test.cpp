#include "ksana/insight/simulate/simulate.hpp"

#include "insight/memory_world.hpp"
#include "ksana/codec/json/json_text.hpp"

namespace ksana::insight {
namespace {

using model::OverlapPolicy;
using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class SimulateTest : public MemoryWorld {
  protected:
    static model::Job Cron(const std::string& id, const std::string& cron,
                           OverlapPolicy overlap = OverlapPolicy::kSkip,
                           const std::string& zone = "UTC") {
        model::Job job = ExplainWorld::CronJob(cron, zone);
        job.id = id;
        job.overlap = overlap;
        return job;
    }
    Simulation Run(const SimulateParams& params) {
        auto simulation = Simulate(world_.sources(), params);
        EXPECT_TRUE(simulation) << simulation.error().Describe();
        return simulation ? *std::move(simulation) : Simulation{};
    }
    // Simulates ten minutes of a job with runs of the given duration.
    SimCounts TenMinutes(OverlapPolicy overlap, Duration duration, std::int64_t slots = 0) {
        SimulateParams params;
        params.from = At("2026-03-02T00:00:00Z");
        params.to = params.from + minutes(10);
        params.changes = {Cron("a", "* * * * *", overlap)};
        params.default_duration = duration;
        if (slots > 0) params.slots = slots;
        simulation_ = Run(params);
        return simulation_.totals;
    }

    Simulation simulation_;
};

// N-20: dependencies and `after` schedules, with and without slots.
TEST_F(SimulateTest, JobsWaitForEachOtherAndFollowEachOther) {
    for (const std::int64_t slots : {0, 100}) {
        SimulateParams params;
        params.from = At("2026-03-02T00:00:00Z");
        params.to = params.from + minutes(10);
        if (slots > 0) params.slots = slots;
        params.default_duration = seconds(10);
        params.durations = {{"load", seconds(90)}};
        model::Job report = Cron("report", "1-59/2 * * * *", OverlapPolicy::kAllow);
        report.depends_on = {{"load", model::OnDependencyFailure::kWait}};
        model::Job impatient = report;
        impatient.id = "impatient";
        impatient.max_wait = seconds(1);
        params.changes = {Cron("load", "*/2 * * * *"), report, impatient};
        for (const char* id : {"b", "c"}) {
            model::Job job = Cron(id, "* * * * *");
            job.schedule = {.kind = schedule::ScheduleKind::kAfter};
            job.schedule.jobs = {"load"};
            params.changes.push_back(job);
        }
        model::Job join = params.changes.back();
        join.id = "join";
        join.schedule.jobs = {"b", "c"};
        params.changes.push_back(join);
        join.id = "each";
        join.schedule.join = schedule::AfterJoin::kEach;
        params.changes.push_back(join);
        join.id = "never";
        join.schedule.on = schedule::AfterOn::kFailure;
        params.changes.push_back(join);
        const Simulation simulation = Run(params);
        std::map<std::string, SimCounts> counts;
        for (const SimJobOutcome& one : simulation.outcomes) counts[one.id] = one.counts;
        // load runs from 0:00 to 1:30, from 2:00 to 3:30, …; report fires at 1:00, 3:00, … and
        // waits.
        EXPECT_EQ(counts["load"], (SimCounts{.fires = 5, .runs = 5}));
        EXPECT_EQ(counts["report"], (SimCounts{.fires = 5, .runs = 5, .queued = 5}));
        EXPECT_EQ(counts["impatient"], (SimCounts{.fires = 5, .skipped = 5, .queued = 5}));
        EXPECT_EQ(counts["b"], (SimCounts{.fires = 5, .runs = 5}));
        EXPECT_EQ(counts["join"], (SimCounts{.fires = 5, .runs = 5}));
        EXPECT_EQ(counts["each"].fires, 10);
        EXPECT_EQ(counts["never"].fires, 0);
    }
}

TEST_F(SimulateTest, OverlapsAsThePolicySays) {
    for (const std::int64_t slots : {0, 100}) {
        // Runs of 150 s: from 0:00 to 2:30, from 3:00 to 5:30, …
        EXPECT_EQ(TenMinutes(OverlapPolicy::kSkip, seconds(150), slots),
                  (SimCounts{.fires = 10, .runs = 4, .skipped = 6, .unfinished = 1}));
        EXPECT_EQ(simulation_.load.max_running, 1);
        EXPECT_EQ(TenMinutes(OverlapPolicy::kAllow, seconds(150), slots),
                  (SimCounts{.fires = 10, .runs = 10, .unfinished = 2}));
        EXPECT_EQ(simulation_.load.max_running, 3);
        EXPECT_EQ(TenMinutes(OverlapPolicy::kQueueOne, seconds(150), slots),
                  (SimCounts{.fires = 10, .runs = 4, .skipped = 5, .queued = 4, .unfinished = 1}));
        EXPECT_EQ(TenMinutes(OverlapPolicy::kQueueAll, seconds(150), slots),
                  (SimCounts{.fires = 10, .runs = 4, .queued = 9, .unfinished = 6}));
        EXPECT_EQ(TenMinutes(OverlapPolicy::kCancelOther, seconds(150), slots),
                  (SimCounts{.fires = 10, .runs = 10, .cancelled = 9, .unfinished = 1}));
        EXPECT_EQ(simulation_.load.max_running, 1);
        EXPECT_EQ(TenMinutes(OverlapPolicy::kSkip, seconds(60), slots),
                  (SimCounts{.fires = 10, .runs = 10}))
            << "a run that ends when the next one starts is over";
    }
}

TEST_F(SimulateTest, TellsTheLoadOfEachMinute) {
    SimulateParams params;
    params.from = At("2026-03-02T00:00:00Z");
    params.to = params.from + minutes(5);
    params.changes = {Cron("a", "*/2 * * * *"), Cron("b", "*/2 * * * *"),
                      Cron("c", "30 1 * * * *")};
    params.durations = {{"a", seconds(90)}, {"b", seconds(10)}};
    const Simulation simulation = Run(params);
    EXPECT_EQ(simulation.load.starts, (std::vector<std::int32_t>{2, 1, 2, 0, 2}));
    EXPECT_EQ(simulation.load.running, (std::vector<std::int32_t>{2, 1, 2, 1, 2}))
        << "c starts when a has ended";
    EXPECT_EQ(simulation.load.max_starts, 2);
    EXPECT_EQ(simulation.load.max_running, 2);
    EXPECT_EQ(simulation.load.max_running_at, params.from);
    EXPECT_TRUE(codec::IsJson(SimulationToJson(simulation)));
}

TEST_F(SimulateTest, SharesSlotsAndTellsHowLongRunsWait) {
    SimulateParams params;
    params.from = At("2026-03-02T00:00:00Z");
    params.to = params.from + minutes(10);
    for (const char* id : {"a", "b", "c"}) params.changes.push_back(Cron(id, "*/5 * * * *"));
    params.default_duration = seconds(30);
    params.slots = 1;
    const Simulation simulation = Run(params);
    ASSERT_TRUE(simulation.waits);
    EXPECT_EQ(simulation.totals.runs, 6);
    EXPECT_EQ(simulation.waits->runs, 4);
    EXPECT_EQ(simulation.waits->longest, seconds(60));
    EXPECT_EQ(simulation.waits->average, seconds(45));
    EXPECT_EQ(simulation.waits->max_waiting, 2);
    EXPECT_EQ(simulation.load.max_running, 1);
    EXPECT_EQ(simulation.outcomes[2].longest_wait, seconds(60));
}

TEST_F(SimulateTest, CountsWhatCalendarsAndClocksDo) {
    schedule::Calendar calendar;
    calendar.name = "week";
    calendar.exclude.push_back({.weekdays = 0b1000001});
    world_.AddCalendar(calendar);
    SimulateParams params;
    params.from = At("2026-03-01T00:00:00Z");
    params.to = At("2026-11-10T00:00:00Z");
    model::Job working = Cron("c", "0 9 * * *");
    working.schedule.calendar = "week";
    params.changes = {Cron("a", "30 2 * * *", OverlapPolicy::kSkip, "Europe/Berlin"),
                      Cron("b", "30 1 * * *", OverlapPolicy::kSkip, "America/New_York"), working,
                      Cron("d", "15 2 * * *", OverlapPolicy::kSkip, "Australia/Lord_Howe"),
                      Cron("e", "*/15 * * * *", OverlapPolicy::kSkip, "Europe/Berlin")};
    const Simulation simulation = Run(params);
    const auto& outcomes = simulation.outcomes;
    EXPECT_EQ(outcomes[0].counts.dst, 2) << "moved in March, first pass in October";
    EXPECT_EQ(outcomes[1].counts.dst, 1) << "first pass in November";
    EXPECT_EQ(outcomes[2].counts.excluded, 73);
    EXPECT_EQ(outcomes[2].counts.fires + outcomes[2].counts.excluded, 254);
    EXPECT_EQ(outcomes[3].counts.dst, 1) << "02:15 is in the gap, and 01:45 would come twice";
    EXPECT_EQ(outcomes[4].counts.dst, 8) << "it repeats: through both passes of an hour";
    std::size_t shown = 0;
    for (const SimExample& example : simulation.examples) {
        shown += example.kind == SimExampleKind::kDst ? 1 : 0;
    }
    EXPECT_EQ(shown, params.examples) << "of 12";
}

TEST_F(SimulateTest, TakesStoredJobsTheirDurationsAndChanges) {
    world_.Create(ExplainWorld::CronJob("*/5 * * * *"));
    model::Job paused = Cron("p", "* * * * *");
    paused.enabled = false;
    world_.Create(paused);
    world_.Create(Cron("x", "* * * * *"));
    for (int i = 0; i < 3; ++i) {
        world_.now += minutes(5);
        world_.RunAll(seconds(20));
        world_.now -= seconds(20);
    }
    SimulateParams params;
    params.from = At("2026-04-01T00:00:00Z");
    params.to = params.from + hours(1);
    params.changes = {Cron("y", "0 * * * *")};
    params.without = {"x"};
    const Simulation simulation = Run(params);
    ASSERT_EQ(simulation.outcomes.size(), 3U);
    EXPECT_EQ(simulation.paused, 1);
    EXPECT_EQ(simulation.outcomes[0].id, "j");
    EXPECT_TRUE(simulation.outcomes[0].measured);
    EXPECT_EQ(simulation.outcomes[0].duration, seconds(20));
    EXPECT_EQ(simulation.outcomes[0].counts.runs, 12);
    EXPECT_TRUE(simulation.outcomes[1].paused);
    EXPECT_FALSE(simulation.outcomes[2].measured);
    EXPECT_EQ(simulation.totals.runs, 13);
    params.changes[0].schedule.calendar = "none";
    EXPECT_EQ(Run(params).broken, 1);
}

// Of too many jobs the stored ones are left out, not those that the caller asks about.
TEST_F(SimulateTest, ChangedJobsAreSimulatedWhateverIsStored) {
    for (const char* id : {"a", "b", "c"}) world_.Create(Cron(id, "* * * * *"));
    SimulateParams params;
    params.from = At("2026-04-01T00:00:00Z");
    params.to = params.from + hours(1);
    params.changes = {Cron("y", "0 * * * *"), Cron("z", "0 * * * *")};
    params.max_jobs = 3;
    const Simulation simulation = Run(params);
    ASSERT_EQ(simulation.outcomes.size(), 3U);
    EXPECT_EQ(simulation.outcomes[1].id, "y");
    EXPECT_EQ(simulation.outcomes[2].id, "z");
}

TEST_F(SimulateTest, StopsWhenNobodyWaits) {
    for (const bool slots : {false, true}) {
        SimulateParams params;
        params.from = At("2026-03-02T00:00:00Z");
        params.to = params.from + days(10);
        params.changes = {Cron("a", "* * * * * *")};  // 864,000 fires
        if (slots) params.slots = 1;
        Sources sources = world_.sources();
        int asked = 0;
        sources.stopped = [&asked] { return ++asked > 20; };
        const auto stopped = Simulate(sources, params);
        ASSERT_FALSE(stopped);
        EXPECT_EQ(stopped.error().code, Code::kUnavailable);
        EXPECT_LT(asked, 25) << "it went on";
    }
}

TEST_F(SimulateTest, RefusesWhatMakesNoSense) {
    SimulateParams params;
    params.from = At("2026-03-02T00:00:00Z");
    params.to = params.from;
    params.slots = 0;
    const auto refused = Simulate(world_.sources(), params);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().problems.size(), 2U);
    params.slots.reset();
    params.to = params.from + days(401);
    EXPECT_FALSE(Simulate(world_.sources(), params));
}

// The simulation job by job and the one event by event yield the same numbers if there is a slot
// for every run.
TEST_F(SimulateTest, WithSlotsForEveryoneItIsTheSame) {
    SeededRandom random(7);
    const std::vector<std::string> crons = {"* * * * *", "*/5 * * * *", "*/7 * * * * *",
                                            "0 * * * *", "30 2 * * *"};
    for (int round = 0; round < 30; ++round) {
        SimulateParams params;
        params.from = At("2026-03-28T00:00:00Z") + seconds(random.Next() % 86'400);
        params.to = params.from + hours(1 + random.Next() % 30);
        for (int i = 0; i < 8; ++i) {
            const auto overlap = static_cast<OverlapPolicy>(random.Next() % 5);
            model::Job job = Cron(std::string(1, static_cast<char>('a' + i)),
                                  crons[random.Next() % crons.size()], overlap, "Europe/Berlin");
            if (random.Next() % 3 == 0) job.schedule.jitter = seconds(random.Next() % 90);
            params.durations[job.id] = std::chrono::milliseconds(random.Next() % 400'000);
            params.changes.push_back(std::move(job));
        }
        params.examples = 0;
        const Simulation alone = Run(params);
        params.slots = 1'000'000;
        const Simulation together = Run(params);
        EXPECT_EQ(alone.totals, together.totals) << round;
        EXPECT_EQ(alone.outcomes, together.outcomes) << round;
        EXPECT_EQ(alone.load, together.load) << round;
        EXPECT_EQ(together.waits->runs, 0);
        for (const SimJobOutcome& outcome : alone.outcomes) {
            const SimCounts& counts = outcome.counts;
            EXPECT_LE(counts.runs + counts.skipped, counts.fires);
            EXPECT_GE(counts.runs + counts.skipped + counts.queued, counts.fires);
        }
    }
}

}  // namespace
}  // namespace ksana::insight
