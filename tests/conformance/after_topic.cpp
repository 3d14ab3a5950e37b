// N-20: schedules of kind `after`.
#include "conformance/dependency_fixture.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::RunState;
using schedule::AfterJoin;
using schedule::AfterOn;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_P(StoreTest, AJobFiresAfterAnother) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.Have(Graph::After("mail", {"load"}));
    graph.Fire("load");
    now_ += seconds(5);
    graph.Run("load");
    const auto mails = graph.RunsOf("mail");
    ASSERT_EQ(mails.size(), 1U);
    EXPECT_EQ(mails[0].nominal_at, now_);  // the end of the other run
    EXPECT_EQ(mails[0].trigger, model::RunTrigger::kFire);
    // D-13: it is linked to its cause.
    EXPECT_TRUE(model::StoredTraceOf(mails[0]).link);
    EXPECT_EQ(jobs().Get("mail")->state.planned_until, now_);
    EXPECT_EQ(graph.Claim("mail").size(), 1U);
}

TEST_P(StoreTest, OnSaysWhichEndsCount) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    graph.Have(Graph::After("good", {"load"}, AfterJoin::kAll, AfterOn::kSuccess));
    graph.Have(Graph::After("bad", {"load"}, AfterJoin::kAll, AfterOn::kFailure));
    graph.Have(Graph::After("any", {"load"}, AfterJoin::kAll, AfterOn::kAny));
    const auto count = [&](const char* id) { return graph.RunsOf(id).size(); };
    graph.FireAndRun("load");
    EXPECT_EQ(std::tuple(count("good"), count("bad"), count("any")), std::tuple(1U, 0U, 1U));
    now_ += seconds(1);
    graph.FireAndRun("load", EventKind::kPermanentFailure);
    EXPECT_EQ(std::tuple(count("good"), count("bad"), count("any")), std::tuple(1U, 1U, 2U));
    now_ += seconds(1);
    const Uuid skipped = graph.Fire("load").id;
    ASSERT_TRUE(runs().Apply({{skipped, {.kind = EventKind::kSkip}}}, now_));
    EXPECT_EQ(std::tuple(count("good"), count("bad"), count("any")), std::tuple(1U, 1U, 2U));
    now_ += seconds(1);
    const Uuid cancelled = graph.Fire("load").id;
    ASSERT_TRUE(runs().Apply({{cancelled, {.kind = EventKind::kCancel}}}, now_));
    EXPECT_EQ(std::tuple(count("good"), count("bad"), count("any")), std::tuple(1U, 2U, 3U));
}

// An attempt that is tried again is no end; a held run ends when a person decides.
TEST_P(StoreTest, OnlyTheEndOfARunIsAnEnd) {
    Graph graph(store(), now_);
    model::Job load = Graph::Plain("load");
    load.retry = model::RetryPolicy{.max_retries = 1, .interval = seconds(1)};
    graph.Have(load);
    graph.Have(Graph::After("any", {"load"}, AfterJoin::kAll, AfterOn::kAny));
    const Uuid run = graph.Fire("load").id;
    graph.Run("load", EventKind::kRetryableFailure);
    EXPECT_TRUE(graph.RunsOf("any").empty());
    ASSERT_TRUE(runs().Apply({{run, {.kind = EventKind::kHold}}}, now_));
    EXPECT_TRUE(graph.RunsOf("any").empty());
    ASSERT_TRUE(runs().Apply({{run, {.kind = EventKind::kResolve}}}, now_));
    EXPECT_EQ(graph.RunsOf("any").size(), 1U);
}

// Whatever the run was doing when the first job named its own.
TEST_P(StoreTest, UnfinishedRunsAreFollowedToo) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    const Uuid held = graph.Fire("load").id;
    ASSERT_TRUE(runs().Apply({{held, {.kind = EventKind::kHold}}}, now_));
    now_ += seconds(1);
    graph.Fire("load");
    const auto running = graph.Claim("load");
    ASSERT_EQ(running.size(), 1U);
    now_ += seconds(1);
    graph.Fire("load");
    graph.Have(Graph::After("mail", {"load"}));
    ASSERT_TRUE(runs().Apply({{held, {.kind = EventKind::kResolve}}}, now_));
    EXPECT_EQ(graph.RunsOf("mail").size(), 1U);
    graph.End(running[0]);
    EXPECT_EQ(graph.RunsOf("mail").size(), 2U);
    graph.Run("load");
    EXPECT_EQ(graph.RunsOf("mail").size(), 3U);
}

TEST_P(StoreTest, EndsOfOneMomentMakeDistinctFires) {
    Graph graph(store(), now_);
    for (const char* id : {"a", "b"}) graph.Have(Graph::Plain(id));
    graph.Have(Graph::After("each", {"a", "b"}, AfterJoin::kEach));
    now_ += seconds(1);
    graph.FireAndRun("a");
    graph.FireAndRun("b");
    const auto fires = graph.RunsOf("each");
    ASSERT_EQ(fires.size(), 2U);
    EXPECT_EQ(fires[0].nominal_at, now_);
    EXPECT_EQ(fires[1].nominal_at, now_ + Duration(1));
}

TEST_P(StoreTest, AJoinFiresWhenAllHaveEnded) {
    Graph graph(store(), now_);
    for (const char* id : {"a", "b", "c"}) graph.Have(Graph::Plain(id));
    graph.Have(Graph::After("all", {"a", "b", "c"}));
    for (int round = 1; round <= 2; ++round) {
        now_ += seconds(1);
        graph.FireAndRun("a");
        now_ += seconds(1);
        graph.FireAndRun("a");  // a second end of the same job changes nothing
        graph.FireAndRun("c", EventKind::kPermanentFailure);
        graph.FireAndRun("b");
        EXPECT_EQ(graph.RunsOf("all").size(), static_cast<std::size_t>(round - 1));
        now_ += seconds(1);
        graph.FireAndRun("c");
        const auto fires = graph.RunsOf("all");
        ASSERT_EQ(fires.size(), static_cast<std::size_t>(round));
        EXPECT_EQ(fires.back().nominal_at, now_);
    }
}

// a → b, c → d: one fire of d for each of a.
TEST_P(StoreTest, ADiamondFiresOnce) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("a"));
    graph.Have(Graph::After("b", {"a"}));
    graph.Have(Graph::After("c", {"a"}));
    graph.Have(Graph::After("d", {"b", "c"}));
    for (std::size_t round = 1; round <= 3; ++round) {
        now_ += seconds(1);
        graph.FireAndRun("a");
        now_ += seconds(1);
        graph.Run("b");
        EXPECT_EQ(graph.RunsOf("d").size(), round - 1);
        now_ += seconds(1);
        graph.Run("c");
        EXPECT_EQ(graph.RunsOf("d").size(), round);
        graph.Run("d");
    }
}

// The end of one side is not told: the reaper finds it.
TEST_P(StoreTest, ADiamondWithALostEventFires) {
    Graph graph(store(), now_);
    for (const char* id : {"b", "c"}) graph.Have(Graph::Plain(id));
    graph.Have(Graph::After("d", {"b", "c"}));
    now_ += seconds(1);
    graph.FireAndRun("b");
    now_ += seconds(1);
    const TimePoint lost = now_;
    graph.EndUntold("c");
    graph.Reap();
    EXPECT_TRUE(graph.RunsOf("d").empty());
    now_ += model::kLookAgain;
    graph.Reap();
    const auto fires = graph.RunsOf("d");
    ASSERT_EQ(fires.size(), 1U);
    EXPECT_EQ(fires[0].nominal_at, lost);
    now_ += model::kLookAgain;
    graph.Reap();
    EXPECT_EQ(graph.RunsOf("d").size(), 1U);
}

// The fire accounts for every end that has arrived, in whichever order: none is found again.
TEST_P(StoreTest, AnEndThatMadeAFireIsNotFoundAgain) {
    Graph graph(store(), now_);
    for (const char* id : {"b", "c"}) graph.Have(Graph::Plain(id));
    graph.Have(Graph::After("d", {"b", "c"}));
    now_ += seconds(1);
    graph.EndUntold("c");
    now_ += seconds(1);
    const TimePoint last = now_;
    graph.FireAndRun("b");
    now_ += model::kLookAgain;
    graph.Reap();
    ASSERT_EQ(graph.RunsOf("d").size(), 1U);
    EXPECT_EQ(graph.RunsOf("d")[0].nominal_at, last);
    graph.FireAndRun("c");
    now_ += model::kLookAgain;
    graph.Reap();
    EXPECT_EQ(graph.RunsOf("d").size(), 1U);
}

// Nor are ends outside the bounds, which made none.
TEST_P(StoreTest, AnEndOutsideTheBoundsIsNotFoundAgain) {
    Graph graph(store(), now_);
    for (const char* id : {"b", "c"}) graph.Have(Graph::Plain(id));
    model::Job all = Graph::After("d", {"b", "c"});
    all.schedule.start_at = now_ + minutes(1);
    graph.Have(all);
    now_ += seconds(1);
    graph.FireAndRun("b");
    graph.FireAndRun("c");
    now_ += minutes(2);
    graph.FireAndRun("c");
    now_ += model::kLookAgain;
    graph.Reap();
    EXPECT_TRUE(graph.RunsOf("d").empty());
    graph.FireAndRun("b");
    EXPECT_EQ(graph.RunsOf("d").size(), 1U);
}

// A run with a callback ends when its work is done; that it becomes final later is no second end.
TEST_P(StoreTest, ADeliveredCallbackIsNoSecondEnd) {
    Graph graph(store(), now_);
    for (const char* id : {"a", "b"}) graph.Have(Graph::Plain(id));
    graph.Have(Graph::After("all", {"a", "b"}));
    now_ += seconds(1);
    graph.FireAndRun("b");
    model::Run run = model::RunOf(*jobs().Get("a"), nullptr, {});
    run.id = ids_.Next();
    run.status.ready_at = now_;
    run.policy.success_callback = true;
    ASSERT_TRUE(runs().Submit({.now = now_, .runs = {run}}));
    graph.Run("a");
    EXPECT_EQ(graph.Read(run.id).status.state, RunState::kCompleting);
    ASSERT_EQ(graph.RunsOf("all").size(), 1U);
    now_ += seconds(1);
    graph.FireAndRun("b");
    now_ += seconds(1);
    ASSERT_TRUE(runs().Apply({{run.id, {.kind = EventKind::kCallbackDelivered}}}, now_));
    EXPECT_EQ(graph.Read(run.id).status.state, RunState::kSucceeded);
    now_ += model::kLookAgain;
    graph.Reap();
    EXPECT_EQ(graph.RunsOf("all").size(), 1U);
}

// A join begins when its schedule is stored, also if the clock was ahead and then set back.
TEST_P(StoreTest, EndsBeforeAJoinAreNotFound) {
    Graph graph(store(), now_);
    for (const char* id : {"a", "b"}) graph.Have(Graph::Plain(id));
    graph.Have(Graph::Plain("changed"));
    const TimePoint present = now_;
    now_ += minutes(30);
    graph.FireAndRun("a");
    now_ = present;
    graph.Have(Graph::After("changed", {"a", "b"}));
    graph.Have(Graph::After("fresh", {"a", "b"}));
    now_ += minutes(40);
    graph.FireAndRun("b");
    now_ += model::kLookAgain;
    graph.Reap();
    EXPECT_TRUE(graph.RunsOf("changed").empty());
    EXPECT_TRUE(graph.RunsOf("fresh").empty());
    graph.FireAndRun("a");
    EXPECT_EQ(graph.RunsOf("changed").size(), 1U);
    EXPECT_EQ(graph.RunsOf("fresh").size(), 1U);
}

TEST_P(StoreTest, AFireOfAPausedJobIsRecordedAsSkipped) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    model::Job mail = Graph::After("mail", {"load"});
    mail.enabled = false;
    graph.Have(mail);
    now_ += seconds(1);
    graph.FireAndRun("load");
    EXPECT_TRUE(graph.RunsOf("mail").empty());
    const auto ledger = jobs().Ledger({.job_id = "mail"});
    ASSERT_TRUE(ledger);
    ASSERT_EQ(ledger->items.size(), 1U);
    EXPECT_EQ(ledger->items[0].range.fate, model::FireFate::kSkippedPaused);
    EXPECT_EQ(ledger->items[0].range.range, (schedule::FireRange{1, now_, now_}));
}

TEST_P(StoreTest, FiresOutsideTheBoundsDoNotExist) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    model::Job mail = Graph::After("mail", {"load"});
    mail.schedule.start_at = now_ + minutes(1);
    mail.schedule.end_at = now_ + minutes(2);
    graph.Have(mail);
    for (int n = 0; n < 3; ++n) {
        graph.FireAndRun("load");
        now_ += seconds(61);
    }
    EXPECT_EQ(graph.RunsOf("mail").size(), 1U);
    EXPECT_TRUE(jobs().Ledger({.job_id = "mail"})->items.empty());
}

TEST_P(StoreTest, JitterDelaysTheRunNotTheFire) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    model::Job mail = Graph::After("mail", {"load"});
    mail.schedule.jitter = minutes(10);
    graph.Have(mail);
    now_ += seconds(1);
    graph.FireAndRun("load");
    const auto fires = graph.RunsOf("mail");
    ASSERT_EQ(fires.size(), 1U);
    EXPECT_EQ(fires[0].nominal_at, now_);
    EXPECT_GT(fires[0].status.ready_at, now_);
    EXPECT_LE(fires[0].status.ready_at, now_ + minutes(10));
}

TEST_P(StoreTest, AFireAfterAJobWithoutARunLog) {
    Graph graph(store(), now_);
    for (const char* id : {"a", "b"}) {
        model::Job job = Graph::Plain(id);
        job.run_log = model::RunLog::kNone;
        graph.Have(job);
    }
    graph.Have(Graph::After("all", {"a", "b"}));
    now_ += seconds(1);
    graph.FireAndRun("a");
    now_ += seconds(1);
    graph.FireAndRun("b");
    EXPECT_EQ(graph.RunsOf("all").size(), 1U);
}

// A fire obeys the overlap policy of its job, and the end of a skipped run is no end.
TEST_P(StoreTest, FiresThatFollowObeyTheOverlapPolicy) {
    Graph graph(store(), now_);
    graph.Have(Graph::Plain("load"));
    model::Job mail = Graph::After("mail", {"load"});
    mail.overlap = model::OverlapPolicy::kSkip;
    graph.Have(mail);
    graph.Have(Graph::After("last", {"mail"}, AfterJoin::kAll, AfterOn::kAny));
    for (int n = 0; n < 2; ++n) {
        now_ += seconds(1);
        graph.FireAndRun("load");
    }
    const auto mails = graph.RunsOf("mail");
    ASSERT_EQ(mails.size(), 2U);
    EXPECT_EQ(mails[1].status.state, RunState::kSkipped);
    EXPECT_TRUE(graph.RunsOf("last").empty());
    graph.Run("mail");
    EXPECT_EQ(graph.RunsOf("last").size(), 1U);
}

// A changed schedule and a deleted job forget what has arrived.
TEST_P(StoreTest, AChangedJoinBeginsAnew) {
    Graph graph(store(), now_);
    for (const char* id : {"a", "b"}) graph.Have(Graph::Plain(id));
    graph.Have(Graph::After("all", {"a", "b"}));
    now_ += seconds(1);
    graph.FireAndRun("a");
    EXPECT_EQ(store().records().Counts()->documents, 1);
    graph.Have(Graph::After("all", {"a", "b"}, AfterJoin::kAll, AfterOn::kAny));
    EXPECT_EQ(store().records().Counts()->documents, 0);
    now_ += seconds(1);
    graph.FireAndRun("b");
    EXPECT_TRUE(graph.RunsOf("all").empty());
    now_ += model::kLookAgain;
    graph.Reap();
    EXPECT_TRUE(graph.RunsOf("all").empty());
    ASSERT_TRUE(jobs().Delete({.now = now_, .id = "all"}));
    EXPECT_EQ(store().records().Counts()->documents, 0);
}

// The type of the runs, and with it the rest of the policy, comes from the engine.
TEST_P(StoreTest, TheRunsOfFiresAreMadeByTheMaker) {
    Graph graph(store(), now_);
    store().MakeRunsWith([](const model::Job& job) {
        model::Run run = model::RunOf(job, nullptr, {});
        run.creator = "maker";
        return run;
    });
    graph.Have(Graph::Plain("load"));
    graph.Have(Graph::After("mail", {"load"}));
    graph.FireAndRun("load");
    ASSERT_EQ(graph.RunsOf("mail").size(), 1U);
    EXPECT_EQ(graph.RunsOf("mail")[0].creator, "maker");
}

}  // namespace
}  // namespace ksana::conformance
