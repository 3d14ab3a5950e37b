// Jobs, their versions, and the planning of their fires.
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;
using store::WriteMode;

TEST_P(StoreTest, AJobComesBackAsItWent) {
    model::Job job = MakeJob("j1");
    job.tenant = "acme";
    job.group = "nightly";
    job.owner = "ann";
    job.description = "line one\nline two";
    job.labels = {{"team", "core"}, {"env", "prod"}};
    job.enabled = false;
    job.paused_reason = "maintenance";
    job.action = model::QueueAction{.type = "mail", .category = "bulk", .payload = R"({"a":[1]})"};
    job.schedule = {.kind = schedule::ScheduleKind::kCron,
                    .cron = "*/5 * * * *",
                    .zone = "Europe/Paris",
                    .end_at = now_ + std::chrono::hours(1'000),
                    .jitter = seconds(3),
                    .calendar = "holidays"};
    job.misfire = {model::MisfirePolicy::kRunAll, 7, seconds(9)};
    job.overlap = model::OverlapPolicy::kQueueOne;
    job.retry = model::RetryPolicy{.strategy = model::RetryStrategy::kExponential, .jitter = 0.5};
    job.timeout = seconds(77);
    job.stop_grace = seconds(4);
    job.priority = 8;
    job.depends_on = {{"j0", model::OnDependencyFailure::kWait}};
    job.run_log = model::RunLog::kTrigger;
    Create(MakeJob("j0"));
    const model::Job created = Create(job);
    job.state.version = 1;
    job.state.created_at = now_;
    job.state.updated_at = now_;
    EXPECT_EQ(created, job);
    auto read = jobs().Get("j1");
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, job);
    // JSON inside a job keeps its spelling.
    model::Job handler = MakeJob("j2");
    handler.action = model::HandlerAction{.handler = "h", .input = R"({"a" : 1.50, "b":null })"};
    Create(handler);
    EXPECT_EQ(jobs().Get("j2")->action, handler.action);
    handler.action = model::QueueAction{.type = "t", .payload = "null"};
    ASSERT_TRUE(Write(handler, WriteMode::kReplace));
    EXPECT_EQ(jobs().Get("j2")->action, handler.action);
    handler.action = model::CommandAction{
        .argv = {"a", ""},
        .shell = true,
        .environment = {{"A", "b"}},
        .inherit = {"C"},
        .working_directory = "/",
        .user = "u",
        .group = "g",
        .limits =
            {.cpu = seconds(3), .memory = 4, .files = 5, .processes = 6, .file_size = 7, .core = 0},
        .permanent_exit_codes = {2, 255},
        .output_limit = 2'000};
    ASSERT_TRUE(Write(handler, WriteMode::kReplace));
    EXPECT_EQ(jobs().Get("j2")->action, handler.action);
}

TEST_P(StoreTest, GroupsAreListedOnceAndByNameWithTheirSizes) {
    using Sizes = std::vector<store::GroupSize>;
    const auto groups = [&](const std::string& after, std::size_t limit) {
        return *jobs().Groups({.name = "", .after = after, .limit = limit});
    };
    EXPECT_EQ(groups("", 10), Sizes{});
    int number = 0;
    for (const char* group : {"default", "b", "Z", "b", "e", "default", "a.1", "z"}) {
        model::Job job = MakeJob("j" + std::to_string(++number));
        job.group = group;
        job.enabled = number != 4;
        Create(job);
    }
    EXPECT_EQ(
        groups("", 10),
        (Sizes{
            {"Z", 1, 0}, {"a.1", 1, 0}, {"b", 2, 1}, {"default", 2, 0}, {"e", 1, 0}, {"z", 1, 0}}));
    EXPECT_EQ(groups("", 3), (Sizes{{"Z", 1, 0}, {"a.1", 1, 0}, {"b", 2, 1}}));
    EXPECT_EQ(groups("b", 2), (Sizes{{"default", 2, 0}, {"e", 1, 0}}));
    EXPECT_EQ(groups("z", 2), Sizes{});
    EXPECT_FALSE(jobs().Groups({.name = "", .after = "", .limit = 0}));
    const auto one = [&](const std::string& name) {
        return *jobs().Groups({.name = name, .after = "", .limit = 1});
    };
    EXPECT_EQ(one("b"), (Sizes{{"b", 2, 1}}));
    EXPECT_EQ(one("c"), Sizes{});
    model::Job job = *jobs().Get("j1");
    job.enabled = false;
    job.group = "b";
    ASSERT_TRUE(Write(job, WriteMode::kReplace));
    EXPECT_EQ(one("b"), (Sizes{{"b", 3, 2}}));
    EXPECT_EQ(one("default"), (Sizes{{"default", 1, 0}}));
    ASSERT_TRUE(jobs().Delete({.now = now_, .id = "j6"}));
    EXPECT_EQ(one("default"), Sizes{});
}

// Optimistic concurrency: the second of two editors gets an error and changes nothing.
TEST_P(StoreTest, JobsHaveVersions) {
    model::Job job = Create(MakeJob("j1"));
    EXPECT_EQ(Write(MakeJob("j1")).error().code, Code::kAlreadyExists);
    job.name = "renamed";
    now_ += seconds(1);
    auto second = Write(job, WriteMode::kReplace, 1);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->state.version, 2);
    EXPECT_EQ(second->state.updated_at, now_);
    EXPECT_EQ(second->state.created_at, job.state.created_at);
    job.name = "too late";
    EXPECT_EQ(Write(job, WriteMode::kReplace, 1).error().code, Code::kConflict);
    EXPECT_EQ(jobs().Get("j1")->name, "renamed");
    EXPECT_EQ(Write(MakeJob("j2"), WriteMode::kReplace).error().code, Code::kNotFound);
    EXPECT_TRUE(Write(MakeJob("j2"), WriteMode::kUpsert));
    EXPECT_EQ(Write(MakeJob("j2"), WriteMode::kUpsert)->state.version, 2);
    EXPECT_EQ(jobs().Delete({.id = "j2", .expected_version = 1}).error().code, Code::kConflict);
    EXPECT_TRUE(jobs().Delete({.id = "j2", .expected_version = 2}));
    EXPECT_EQ(jobs().Get("j2").error().code, Code::kNotFound);
    EXPECT_EQ(jobs().Delete({.id = "j2"}).error().code, Code::kNotFound);
}

TEST_P(StoreTest, ABatchOfJobsAnswersEach) {
    Create(MakeJob("there"));
    model::Job nul = MakeJob("nul");
    nul.name = std::string("a\0b", 3);
    auto outcomes = jobs().Write({.now = now_,
                                  .writes = {{.job = MakeJob("a")},
                                             {.job = MakeJob("there")},
                                             {.job = nul},
                                             {.job = MakeJob("a")},
                                             {.job = MakeJob("b")}}});
    ASSERT_TRUE(outcomes) << outcomes.error().Describe();
    ASSERT_EQ(outcomes->size(), 5U);
    EXPECT_TRUE(outcomes->at(0));
    EXPECT_EQ(outcomes->at(1).error().code, Code::kAlreadyExists);
    ASSERT_FALSE(outcomes->at(2));
    EXPECT_EQ(outcomes->at(2).error().problems.at(0).path, "/writes/2/job/name");
    EXPECT_EQ(outcomes->at(3).error().code, Code::kInvalidArgument);
    EXPECT_TRUE(outcomes->at(4));
    EXPECT_EQ(*jobs().Count({}, 100), 3);
    auto many = jobs().GetMany({"b", "nobody", "a"});
    ASSERT_TRUE(many);
    ASSERT_EQ(many->size(), 2U);
    EXPECT_EQ(many->at(0).id, "b");
}

// D-17: a job that others depend on cannot be deleted.
TEST_P(StoreTest, ADependedOnJobCannotBeDeleted) {
    Create(MakeJob("base"));
    model::Job job = MakeJob("top");
    job.depends_on = {{"base", model::OnDependencyFailure::kSkip}};
    job = Create(job);
    auto refused = jobs().Delete({.id = "base"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
    EXPECT_NE(refused.error().message.find("top"), std::string::npos);
    job.depends_on.clear();
    ASSERT_TRUE(Write(job, WriteMode::kReplace));
    EXPECT_TRUE(jobs().Delete({.id = "base"}));
}

TEST_P(StoreTest, DeletingAJobCancelsWhatHasNotStarted) {
    model::Job job = MakeJob("j1");
    job.overlap = model::OverlapPolicy::kAllow;
    Create(job);
    Submit(
        {MakeFire(job, now_), MakeFire(job, now_ + seconds(1)), MakeFire(job, now_ + minutes(5))});
    const auto running = Claim(1, {.kind = model::ActionKind::kHttp});
    ASSERT_EQ(running.size(), 1U);
    ASSERT_TRUE(jobs().Delete({.now = now_, .id = "j1"}));
    EXPECT_EQ(*runs().Count({.states = model::SetOf(RunState::kCancelled)}, 10), 2);
    EXPECT_EQ(Report(running[0], EventKind::kSuccess).state, RunState::kSucceeded);
}

// Promise 1: a plan writes its runs, its ledger entries and the next fire together.
TEST_P(StoreTest, PlanningWritesRunsAndTheNextFire) {
    model::Job paused = MakeJob("paused");
    paused.enabled = false;
    Create(paused);
    Create(MakeJob("j1"));
    Create(MakeJob("j2"));
    EXPECT_EQ(PlanDue().jobs, 0U) << "nothing is due yet";
    EXPECT_EQ(runs().NextWake()->plan, now_ + minutes(1));
    const TimePoint first = now_ + minutes(1);
    now_ += minutes(2);
    const auto planned = PlanDue();
    EXPECT_EQ(planned.jobs, 2U);
    EXPECT_EQ(planned.runs, 4U);
    EXPECT_EQ(planned.duplicates, 0U);
    EXPECT_FALSE(planned.more);
    const auto job = jobs().Get("j1");
    EXPECT_EQ(job->state.planned_until, now_);
    EXPECT_EQ(job->state.next_run_at, now_ + minutes(1));
    EXPECT_EQ(job->state.version, 1) << "the engine's own bookkeeping is no edit";
    auto fire = jobs().FindFire("j1", first);
    ASSERT_TRUE(fire);
    ASSERT_TRUE(*fire);
    EXPECT_EQ((*fire)->nominal_at, first);
    EXPECT_FALSE(*jobs().FindFire("j1", first + seconds(1)));
    EXPECT_EQ(PlanDue().jobs, 0U);
}

// After a change of a calendar its jobs are planned again before they are due.
TEST_P(StoreTest, GivenJobsArePlannedWhetherDueOrNot) {
    model::Job paused = MakeJob("paused");
    paused.enabled = false;
    Create(paused);
    Create(MakeJob("j1"));
    Create(MakeJob("j2"));
    const auto planner = [](const model::Job& job, TimePoint now) {
        return store::JobPlan{
            .ranges = {{model::FireFate::kSkippedCalendar,
                        {.count = 2, .first = now, .last = now}}},
            .planned_until = now,
            .next_run_at = job.enabled ? std::optional(now + minutes(7)) : std::nullopt};
    };
    const auto planned = jobs().PlanJobs({.now = now_, .ids = {"j1", "paused", "gone"}}, planner);
    ASSERT_TRUE(planned) << planned.error().Describe();
    EXPECT_EQ(planned->jobs, 2U);
    EXPECT_EQ(planned->now, now_);
    const auto job = jobs().Get("j1");
    EXPECT_EQ(job->state.planned_until, now_);
    EXPECT_EQ(job->state.next_run_at, now_ + minutes(7));
    EXPECT_EQ(job->state.version, 1) << "the definition is what it was";
    EXPECT_EQ(jobs().Get("paused")->state.next_run_at, std::nullopt);
    EXPECT_EQ(jobs().Get("j2")->state.next_run_at, now_ + minutes(1)) << "was not asked for";
    EXPECT_EQ(jobs().Ledger({.job_id = "j1"})->items.size(), 1U);
    EXPECT_EQ(runs().NextWake()->plan, now_ + minutes(1));
    EXPECT_EQ(jobs().PlanJobs({.now = now_, .ids = {}}, planner)->jobs, 0U);
}

TEST_P(StoreTest, PlanningLooksAheadAndStopsAtItsLimit) {
    for (const char* id : {"a", "b", "c"}) Create(MakeJob(id));
    const auto planner = [this](const model::Job& job, TimePoint) {
        store::JobPlan plan{.planned_until = *job.state.next_run_at};
        plan.runs.push_back(MakeFire(job, *job.state.next_run_at));
        plan.next_run_at = *job.state.next_run_at + minutes(1);
        return plan;
    };
    store::PlanParams params{.now = now_, .look_ahead = seconds(59), .limit = 2};
    EXPECT_EQ(jobs().PlanDue(params, planner)->jobs, 0U);
    params.look_ahead = seconds(60);
    auto planned = jobs().PlanDue(params, planner);
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->jobs, 2U);
    EXPECT_TRUE(planned->more);
    EXPECT_EQ(jobs().PlanDue(params, planner)->jobs, 1U);
}

// (job, nominal time) is unique: a fire gets no second run, whichever caller made the first one,
// even if that one has ended.
TEST_P(StoreTest, AFireHasOneRun) {
    const model::Job job = Create(MakeJob("j1"));
    now_ += minutes(1);
    Run early = MakeFire(job, now_);
    early.trigger = model::RunTrigger::kBackfill;
    SubmitOne(early);
    const auto claimed = Claim(1, {.kind = model::ActionKind::kHttp});
    ASSERT_EQ(claimed.size(), 1U);
    Report(claimed[0], EventKind::kSuccess);
    const auto planned = PlanDue();
    EXPECT_EQ(planned.jobs, 1U);
    EXPECT_EQ(planned.runs, 0U);
    EXPECT_EQ(planned.duplicates, 1U);
    EXPECT_EQ(jobs().Get("j1")->state.next_run_at, now_ + minutes(1)) << "it goes on";
    const auto again = Submit({MakeFire(job, now_)});
    EXPECT_EQ(again[0].verdict, store::SubmitVerdict::kSameFire);
    EXPECT_EQ(again[0].id, early.id);
    Run other = MakeFire(job, now_);
    other.job_id = "j2";
    EXPECT_EQ(Submit({other})[0].verdict, store::SubmitVerdict::kStored);
}

TEST_P(StoreTest, ThePlanStartsWhatItCan) {
    Create(MakeJob("j1"));
    now_ += minutes(1);
    const auto planned =
        PlanDue({.start = store::StartAs{.owner = "me", .kind = model::ActionKind::kHttp}});
    ASSERT_EQ(planned.started.size(), 1U);
    EXPECT_EQ(planned.started[0].status.owner, "me");
    EXPECT_EQ(Read(planned.started[0].id).run, planned.started[0]);
    // The next fire comes while the first run is under way; the default overlap policy is "skip".
    now_ += minutes(1);
    const auto next =
        PlanDue({.start = store::StartAs{.owner = "me", .kind = model::ActionKind::kHttp}});
    EXPECT_EQ(next.runs, 1U);
    EXPECT_EQ(next.skipped, 1U);
    EXPECT_TRUE(next.started.empty());
    const auto fire = *jobs().FindFire("j1", now_);
    EXPECT_EQ(fire->status.state, RunState::kSkipped);
    EXPECT_EQ(fire->status.skip_reason, model::SkipReason::kOverlap);
    EXPECT_EQ(jobs().Get("j1")->state.last_state, RunState::kSkipped);
}

// A write returns the job as stored, including the missed fires of its plan.
TEST_P(StoreTest, AWriteAnswersWithWhatItsPlanChanged) {
    store::JobPlan plan{.planned_until = now_, .next_run_at = {}};
    plan.tally = model::JobTally{.last_state = RunState::kMissed, .last_error = "too late"};
    model::Job job = MakeJob("j1");
    for (const WriteMode mode : {WriteMode::kCreate, WriteMode::kReplace}) {
        const auto written =
            jobs().Write({.now = now_, .writes = {{.job = job, .mode = mode, .plan = plan}}});
        ASSERT_TRUE(written && written->at(0));
        EXPECT_EQ(written->at(0)->state.last_state, RunState::kMissed);
        EXPECT_EQ(*written->at(0), *jobs().Get("j1"));
        job = *written->at(0);
        plan.tally->last_error = "again";
    }
}

// K-02, K-16: missed fires are in the ledger and in the job's bookkeeping.
TEST_P(StoreTest, TheLedgerKeepsWhatMadeNoRun) {
    Create(MakeJob("j1"));
    Create(MakeJob("j2"));
    now_ += minutes(10);
    const auto planner = [](const model::Job& job, TimePoint now) {
        store::JobPlan plan{.planned_until = now, .next_run_at = now + minutes(1)};
        plan.ranges.push_back({model::FireFate::kMissed,
                               {.count = 10, .first = *job.state.next_run_at, .last = now}});
        plan.tally = model::JobTally{.last_state = RunState::kMissed};
        return plan;
    };
    const auto planned = jobs().PlanDue({.now = now_}, planner);
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->without_run.at(static_cast<std::size_t>(model::FireFate::kMissed)), 20);
    EXPECT_EQ(planned->without_run.at(static_cast<std::size_t>(model::FireFate::kNoWorker)), 0);
    EXPECT_EQ(jobs().Get("j1")->state.last_state, RunState::kMissed);
    EXPECT_EQ(jobs().Get("j1")->state.total_runs, 0);
    auto all = jobs().Ledger({.limit = 1});
    ASSERT_TRUE(all);
    ASSERT_EQ(all->items.size(), 1U);
    EXPECT_FALSE(all->next.empty());
    auto rest = jobs().Ledger({.limit = 1, .cursor = all->next});
    ASSERT_TRUE(rest);
    ASSERT_EQ(rest->items.size(), 1U);
    EXPECT_NE(rest->items[0].job_id, all->items[0].job_id);
    auto one = jobs().Ledger({.job_id = "j1"});
    ASSERT_TRUE(one);
    ASSERT_EQ(one->items.size(), 1U);
    EXPECT_EQ(one->items[0].range.range.count, 10);
    EXPECT_EQ(one->items[0].recorded_at, now_);
    EXPECT_TRUE(jobs().Ledger({.job_id = "j1", .from = now_ + seconds(1)})->items.empty());
    EXPECT_TRUE(jobs().Ledger({.job_id = "j1", .until = now_ - minutes(9)})->items.empty());
    EXPECT_EQ(
        jobs().Ledger({.job_id = "j1", .from = now_, .until = now_ + seconds(1)})->items.size(),
        1U);
}

// K-16, G-02: the bookkeeping follows the runs.
TEST_P(StoreTest, RunsUpdateTheirJob) {
    model::Job job = MakeJob("j1");
    job.overlap = model::OverlapPolicy::kAllow;
    Create(job);
    const auto end = [&](EventKind kind) {
        now_ += minutes(1);
        SubmitOne(MakeFire(job, now_));
        const auto claimed = Claim(1, {.kind = model::ActionKind::kHttp});
        Report(claimed.at(0), kind, kind == EventKind::kSuccess ? "" : "boom");
        return *jobs().Get("j1");
    };
    end(EventKind::kPermanentFailure);
    model::Job after = end(EventKind::kPermanentFailure);
    EXPECT_EQ(after.state.total_runs, 2);
    EXPECT_EQ(after.state.consecutive_failures, 2);
    EXPECT_EQ(after.state.last_state, RunState::kFailed);
    EXPECT_EQ(after.state.last_error, "boom");
    EXPECT_EQ(after.state.last_run_at, now_);
    after = end(EventKind::kSuccess);
    EXPECT_EQ(after.state.total_runs, 3);
    EXPECT_EQ(after.state.consecutive_failures, 0);
    EXPECT_EQ(after.state.last_state, RunState::kSucceeded);
    EXPECT_EQ(after.state.last_error, "");
    EXPECT_EQ(after.state.next_run_at, job.state.next_run_at) << "K-06: the cadence is left alone";
    // An edit keeps the bookkeeping.
    job.name = "renamed";
    auto edited = Write(job, WriteMode::kReplace);
    ASSERT_TRUE(edited);
    EXPECT_EQ(edited->state.total_runs, 3);
    EXPECT_EQ(jobs().Get("j1")->state.last_state, RunState::kSucceeded);
}

// An edit of the schedule accounts for the fires of the old one in the same transaction.
TEST_P(StoreTest, AnEditMayBringItsPlan) {
    model::Job job = Create(MakeJob("j1"));
    now_ += minutes(1);
    store::JobPlan plan{.planned_until = now_, .next_run_at = now_ + minutes(30)};
    plan.runs.push_back(MakeFire(job, now_));
    const auto write = [&](const model::Job& to) {
        return jobs().Write(
            {.now = now_, .writes = {{.job = to, .mode = WriteMode::kReplace, .plan = plan}}});
    };
    job.state.planned_until = now_ - seconds(1);
    EXPECT_EQ(write(job)->at(0).error().code, Code::kConflict) << "the planner was faster";
    EXPECT_EQ(*runs().Count({}, 10), 0);
    job.state.planned_until = jobs().Get("j1")->state.planned_until;
    ASSERT_TRUE(write(job)->at(0));
    EXPECT_EQ(jobs().Get("j1")->state.next_run_at, now_ + minutes(30));
    EXPECT_EQ(jobs().Get("j1")->state.planned_until, now_);
    EXPECT_EQ(*runs().Count({}, 10), 1);
}

TEST_P(StoreTest, StatisticsOfAJob) {
    model::Job job = MakeJob("j1");
    job.overlap = model::OverlapPolicy::kAllow;
    Create(job);
    const TimePoint start = now_;
    for (int i = 1; i <= 10; ++i) {
        now_ += minutes(1);
        SubmitOne(MakeFire(job, now_));
        const auto claimed = Claim(1, {.kind = model::ActionKind::kHttp});
        now_ += seconds(i);
        Report(claimed.at(0), i <= 8 ? EventKind::kSuccess : EventKind::kPermanentFailure);
    }
    auto all = jobs().Statistics({.job_id = "j1"});
    ASSERT_TRUE(all);
    EXPECT_EQ(all->runs, 10);
    EXPECT_EQ(all->succeeded, 8);
    EXPECT_EQ(all->failed, 2);
    EXPECT_DOUBLE_EQ(*all->success_rate, 0.8);
    EXPECT_EQ(all->p50, seconds(5));
    EXPECT_EQ(all->p90, seconds(9));
    EXPECT_EQ(all->p99, seconds(10));
    EXPECT_EQ(all->longest, seconds(10));
    auto window = jobs().Statistics({.job_id = "j1", .from = start, .until = start + minutes(2)});
    EXPECT_EQ(window->runs, 1);
    EXPECT_EQ(jobs().Statistics({.job_id = "nobody"})->runs, 0);
}

}  // namespace
}  // namespace ksana::conformance
