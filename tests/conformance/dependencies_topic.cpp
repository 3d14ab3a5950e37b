// D-17, N-20: jobs that depend on each other (depends_on).
#include <latch>
#include <thread>

#include "conformance/dependency_fixture.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::OnDependencyFailure;
using model::RunState;
using model::SkipReason;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_P(StoreTest, AFireWaitsUntilTheOtherJobHasSucceeded) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.Have(Graph::Depends("report", {"load"}));
    const Uuid report = graph.Fire("report").id;
    EXPECT_TRUE(graph.Claim("report").empty());  // there is no run of load yet
    const Run waiting = graph.Read(report);
    EXPECT_EQ(waiting.status.state, RunState::kQueued);
    EXPECT_TRUE(waiting.status.blocked);
    EXPECT_EQ(waiting.status.wait_until, now_ + hours(1));
    EXPECT_NE(waiting.status.detail.find("load"), std::string::npos);
    graph.Fire("load");
    const auto load = graph.Claim("load");
    ASSERT_EQ(load.size(), 1U);
    EXPECT_TRUE(graph.Claim("report").empty());
    now_ += seconds(3);
    graph.End(load[0]);
    EXPECT_FALSE(graph.Read(report).status.blocked);  // in the transaction that ended load
    const auto started = graph.Claim("report");
    ASSERT_EQ(started.size(), 1U);
    EXPECT_EQ(started[0].id, report);
    EXPECT_FALSE(started[0].status.blocked);
    EXPECT_EQ(started[0].status.detail, "");
}

TEST_P(StoreTest, AFireStartsAtOnceAfterASuccess) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.FireAndRun("load");
    graph.Have(Graph::Depends("report", {"load"}));
    graph.Fire("report");
    EXPECT_EQ(graph.Claim("report").size(), 1U);
}

// The other job's retries are over before it counts as failed.
TEST_P(StoreTest, OnFailureSaysWhatAFireDoes) {
    Graph graph(store(), now_);
    model::Job load = Graph::Plain("load");
    load.retry = model::RetryPolicy{.max_retries = 1, .interval = seconds(1)};
    graph.Have(load);
    graph.Have(Graph::Depends("skips", {"load"}, OnDependencyFailure::kSkip));
    graph.Have(Graph::Depends("waits", {"load"}, OnDependencyFailure::kWait));
    graph.Have(Graph::Depends("runs", {"load"}, OnDependencyFailure::kRun));
    graph.Fire("load");
    const Uuid skips = graph.Fire("skips").id;
    const Uuid waits = graph.Fire("waits").id;
    const Uuid runs = graph.Fire("runs").id;
    for (const char* id : {"skips", "waits", "runs"}) EXPECT_TRUE(graph.Claim(id).empty()) << id;
    graph.Run("load", EventKind::kRetryableFailure);
    EXPECT_TRUE(graph.Awaits(skips) && graph.Awaits(waits) && graph.Awaits(runs));
    now_ += seconds(2);
    graph.Run("load", EventKind::kRetryableFailure);
    const Run skipped = graph.Read(skips);
    EXPECT_EQ(skipped.status.state, RunState::kSkipped);
    EXPECT_EQ(skipped.status.skip_reason, SkipReason::kDependency);
    EXPECT_EQ(skipped.status.last_error, "the latest run of \"load\" did not succeed");
    EXPECT_TRUE(graph.Awaits(waits));
    EXPECT_EQ(graph.Claim("runs").size(), 1U);
    // A later run of load succeeds: only `waits` still waits for it.
    graph.FireAndRun("load");
    EXPECT_EQ(graph.Claim("waits").size(), 1U);
    EXPECT_EQ(StateOf(skips), RunState::kSkipped);
    EXPECT_EQ(StateOf(runs), RunState::kRunning);
}

TEST_P(StoreTest, AWaitEndsAfterMaxWait) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    model::Job job = Graph::Depends("report", {"load"});
    job.max_wait = seconds(40);
    graph.Have(job);
    const Uuid report = graph.Fire("report").id;
    EXPECT_TRUE(graph.Claim("report").empty());
    const auto wake = [&] { return runs().NextWake()->expiry; };
    EXPECT_EQ(wake(), now_ + model::kLookAgain);
    now_ += model::kLookAgain;
    graph.Reap();
    EXPECT_TRUE(graph.Awaits(report));
    EXPECT_EQ(wake(), now_ + seconds(10));
    now_ += seconds(10);
    graph.Reap();
    const Run skipped = graph.Read(report);
    EXPECT_EQ(skipped.status.state, RunState::kSkipped);
    EXPECT_EQ(skipped.status.skip_reason, SkipReason::kDependency);
    EXPECT_EQ(skipped.status.last_error, "\"load\" has not run yet, and max_wait is over");
    EXPECT_EQ(wake(), std::nullopt);
}

TEST_P(StoreTest, MaxWaitZeroNeverWaits) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    model::Job job = Graph::Depends("report", {"load"});
    job.max_wait = {};
    graph.Have(job);
    const Uuid report = graph.Fire("report").id;
    EXPECT_TRUE(graph.Claim("report").empty());
    EXPECT_EQ(StateOf(report), RunState::kSkipped);
}

// The reaper finds a run that nobody released.
TEST_P(StoreTest, ALostReleaseIsFound) {
    Graph graph(store(), now_);
    for (const char* id : {"a", "b"}) graph.Have(Graph::Plain(id));
    graph.Have(Graph::Depends("d", {"a", "b"}));
    const Uuid d = graph.Fire("d").id;
    EXPECT_TRUE(graph.Claim("d").empty());
    graph.FireAndRun("a");
    EXPECT_TRUE(graph.Awaits(d));
    graph.EndUntold("b");
    EXPECT_TRUE(graph.Claim("d").empty());
    now_ += model::kLookAgain - seconds(1);
    graph.Reap();
    EXPECT_TRUE(graph.Awaits(d));
    now_ += seconds(1);
    graph.Reap();
    EXPECT_EQ(graph.Claim("d").size(), 1U);
}

// A run that was skipped or missed did not take place; a run that is not over counts.
TEST_P(StoreTest, TheLatestRunThatTookPlaceCounts) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.Have(Graph::Depends("report", {"load"}));
    graph.FireAndRun("load");
    now_ += minutes(1);
    const Uuid later = graph.Fire("load").id;
    graph.Fire("report");
    EXPECT_TRUE(graph.Claim("report").empty());
    ASSERT_TRUE(runs().Apply({{later, {.kind = EventKind::kSkip}}}, now_));
    EXPECT_EQ(graph.Claim("report").size(), 1U);
}

// Held runs wait for a person: they count as failed, and as succeeded once they are resolved.
TEST_P(StoreTest, AResolvedRunCountsAsASuccess) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.Have(Graph::Depends("report", {"load"}, OnDependencyFailure::kWait));
    const Uuid load = graph.Fire("load").id;
    const Uuid report = graph.Fire("report").id;
    EXPECT_TRUE(graph.Claim("report").empty());
    ASSERT_TRUE(runs().Apply({{load, {.kind = EventKind::kHold}}}, now_));
    EXPECT_TRUE(graph.Awaits(report));
    ASSERT_TRUE(runs().Apply({{load, {.kind = EventKind::kResolve}}}, now_));
    EXPECT_EQ(graph.Claim("report").size(), 1U);
}

// Without stored runs the counters of the job tell.
TEST_P(StoreTest, AJobWithoutARunLogCanBeDependedOn) {
    Graph graph(store(), now_);
    model::Job load = Graph::Plain("load");
    load.run_log = model::RunLog::kNone;
    graph.Have(load);
    graph.Have(Graph::Depends("report", {"load"}, OnDependencyFailure::kWait));
    const Uuid report = graph.Fire("report").id;
    EXPECT_TRUE(graph.Claim("report").empty());
    graph.FireAndRun("load", EventKind::kPermanentFailure);
    EXPECT_TRUE(graph.Awaits(report));
    graph.FireAndRun("load");
    EXPECT_TRUE(graph.RunsOf("load").empty());
    EXPECT_EQ(graph.Claim("report").size(), 1U);
}

// A parent that is retried after the child has started changes nothing for the child.
TEST_P(StoreTest, ALaterRunOfTheOtherJobDoesNotStopAStartedOne) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.Have(Graph::Depends("report", {"load"}));
    graph.FireAndRun("load");
    graph.Fire("report");
    const auto started = graph.Claim("report");
    ASSERT_EQ(started.size(), 1U);
    now_ += seconds(1);
    graph.FireAndRun("load", EventKind::kPermanentFailure);
    graph.Reap();
    EXPECT_EQ(StateOf(started[0].id), RunState::kRunning);
    // Its own retry does not ask again either.
    graph.End(started[0], EventKind::kShutdown);
    EXPECT_EQ(graph.Claim("report").size(), 1U);
}

// Jobs with the same schedule: the other job's fire is due and not yet a run.
TEST_P(StoreTest, ADueFireOfTheOtherJobCounts) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.FireAndRun("load");
    model::Job load = *jobs().Get("load");
    now_ += minutes(1);
    graph.Have(Graph::Depends("report", {"load"}));
    const auto due =
        jobs().PlanJobs({.now = now_, .ids = {"load"}}, [&](const model::Job&, TimePoint) {
            return store::JobPlan{.planned_until = now_ - seconds(1), .next_run_at = now_};
        });
    ASSERT_TRUE(due);
    graph.Fire("report");
    EXPECT_TRUE(graph.Claim("report").empty());
}

TEST_P(StoreTest, OnlyJobsThatExistCanBeNamed) {
    Graph graph(store(), now_);
    const auto refused = graph.Save(Graph::Depends("report", {"load"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
    ASSERT_EQ(refused.error().problems.size(), 1U);
    EXPECT_EQ(refused.error().problems[0].path, "/depends_on/0/job");
    EXPECT_FALSE(jobs().Get("report"));
    // Several jobs in one call may name each other, the named ones first.
    const auto both = jobs().Write(
        {.now = now_,
         .writes = {{.job = Graph::Plain("load")}, {.job = Graph::Depends("report", {"load"})}}});
    ASSERT_TRUE(both);
    EXPECT_TRUE(both->at(0) && both->at(1));
    EXPECT_EQ(jobs().Get("load")->state.dependants, 1);
    EXPECT_EQ(*jobs().Dependants("load"), Strings{"report"});
}

TEST_P(StoreTest, AJobThatOthersNameCannotBeDeleted) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.Have(Graph::Depends("report", {"load"}));
    graph.Have(Graph::After("mail", {"load"}));
    const auto refused = jobs().Delete({.now = now_, .id = "load"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kConflict);
    EXPECT_NE(refused.error().message.find("mail, report"), std::string::npos);
    ASSERT_TRUE(jobs().Delete({.now = now_, .id = "report"}));
    EXPECT_EQ(jobs().Get("load")->state.dependants, 1);
    ASSERT_TRUE(jobs().Delete({.now = now_, .id = "mail"}));
    EXPECT_EQ(jobs().Get("load")->state.dependants, 0);
    EXPECT_TRUE(jobs().Delete({.now = now_, .id = "load"}));
}

TEST_P(StoreTest, ACycleIsRefused) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("a"));
    graph.Have(Graph::Depends("b", {"a"}));
    graph.Have(Graph::After("c", {"b"}));
    const auto refused = graph.Save(Graph::Depends("a", {"c"}));
    ASSERT_FALSE(refused);
    ASSERT_EQ(refused.error().problems.size(), 1U);
    EXPECT_EQ(refused.error().problems[0].path, "/depends_on/0/job");
    EXPECT_EQ(refused.error().problems[0].message, "makes a cycle: a needs c needs b needs a");
    EXPECT_TRUE(jobs().Get("a")->depends_on.empty());
    // Both halves in one call.
    const auto halves = jobs().Write(
        {.now = now_, .writes = {{.job = Graph::Plain("x")}, {.job = Graph::Plain("y")}}});
    ASSERT_TRUE(halves);
    const auto cycle = jobs().Write(
        {.now = now_,
         .writes = {{.job = Graph::Depends("x", {"y"}), .mode = store::WriteMode::kReplace},
                    {.job = Graph::Depends("y", {"x"}), .mode = store::WriteMode::kReplace}}});
    ASSERT_TRUE(cycle);
    EXPECT_TRUE(cycle->at(0));
    EXPECT_FALSE(cycle->at(1));
}

// Two callers make the two halves of a cycle at the same moment: one of them is refused.
TEST_P(StoreTest, TwoConcurrentEditsDoNotMakeACycle) {
    Graph graph(store(), now_);
    for (int round = 0; round < 5; ++round) {
        const std::string a = "a" + std::to_string(round);
        const std::string b = "b" + std::to_string(round);
        graph.Have(Graph::Plain(a));
        graph.Have(Graph::Plain(b));
        std::latch start(2);
        std::array<bool, 2> saved{};
        {
            const auto edit = [&](std::size_t n, const std::string& from, const std::string& to) {
                start.arrive_and_wait();
                saved.at(n) = graph.Save(Graph::Depends(from, {to})).has_value();
            };
            const std::jthread one([&] { edit(0, a, b); });
            const std::jthread two([&] { edit(1, b, a); });
        }
        EXPECT_NE(saved[0], saved[1]) << "round " << round;
        const std::size_t edges =
            jobs().Get(a)->depends_on.size() + jobs().Get(b)->depends_on.size();
        EXPECT_EQ(edges, 1U);
    }
}

// A run that was under way when another job first named its job tells of its end, too.
TEST_P(StoreTest, ARunThatIsUnderWayIsWatchedFromTheFirstEdgeOn) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    const auto fire = graph.Fire("load");
    const auto load = graph.Claim("load");
    ASSERT_EQ(load.size(), 1U);
    EXPECT_FALSE(graph.Read(fire.id).status.watched);
    graph.Have(Graph::After("mail", {"load"}));
    EXPECT_TRUE(graph.Read(fire.id).status.watched);
    graph.End(load[0]);
    EXPECT_EQ(graph.RunsOf("mail").size(), 1U);
}

// The queue of the overlap policy and the wait for other jobs do not release each other's runs.
TEST_P(StoreTest, WaitingRunsObeyTheOverlapPolicyToo) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    model::Job job = Graph::Depends("report", {"load"});
    job.overlap = model::OverlapPolicy::kQueueAll;
    graph.Have(job);
    std::vector<Uuid> fires;
    for (int n = 0; n < 3; ++n) {
        now_ += seconds(1);
        fires.push_back(graph.Fire("report").id);
    }
    EXPECT_TRUE(graph.Claim("report").empty());
    graph.Reap();
    for (const Uuid& id : fires) EXPECT_TRUE(graph.Awaits(id));
    graph.FireAndRun("load");
    const auto first = graph.Claim("report");
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].id, fires[0]);
    graph.End(first[0]);
    const auto second = graph.Claim("report");
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].id, fires[1]);
}

TEST_P(StoreTest, DependenciesSurviveAReopening) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    model::Job job = Graph::After("mail", {"load"}, schedule::AfterJoin::kEach);
    job.max_wait = minutes(7);
    graph.Have(job);
    graph.Have(Graph::Depends("report", {"load"}));
    const Uuid report = graph.Fire("report").id;
    EXPECT_TRUE(graph.Claim("report").empty());
    const Run before = graph.Read(report);
    const model::Job mail = *jobs().Get("mail");
    if (!harness_->Reopen()) return;
    EXPECT_EQ(Read(report).run, before);
    EXPECT_EQ(*jobs().Get("mail"), mail);
    EXPECT_EQ(jobs().Get("load")->state.dependants, 2);
    Graph again(store(), now_);
    again.FireAndRun("load");
    EXPECT_EQ(again.Claim("report").size(), 1U);
    EXPECT_EQ(again.RunsOf("mail").size(), 1U);
}

}  // namespace
}  // namespace ksana::conformance
