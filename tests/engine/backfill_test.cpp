#include "ksana/engine/backfill/backfiller.hpp"

#include "engine/service_fixture.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/engine/backfill/backfill_service.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::engine {
namespace {

using model::Backfill;
using model::BackfillOverlap;
using model::BackfillState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// A job that fires every hour and missed a day of fires: they have no runs.
class BackfillTest : public ServiceFixture {
  protected:
    BackfillTest() {
        model::Job job;
        job.id = "j";
        job.name = "j";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kCron;
        job.schedule.cron = "0 * * * *";
        job.overlap = model::OverlapPolicy::kSkip;
        job.misfire.policy = model::MisfirePolicy::kSkip;
        job.misfire.grace = Duration::zero();
        EXPECT_TRUE(service_.Create(job));
        from_ = std::chrono::floor<hours>(clock_.Now()) + hours(1);
        clock_.Advance(hours(24) + minutes(30));
        EXPECT_TRUE(service_.Pause("j", ""));  // accounts for the day
        EXPECT_TRUE(service_.Resume("j"));
        runs_before_ = Runs("j");
    }

    BackfillParams Wish(int fires, BackfillOverlap overlap = BackfillOverlap::kQueue) const {
        return {.job_id = "j",
                .from = from_,
                .to = from_ + hours(fires),
                .max = {},
                .per_minute = 60,
                .overlap = overlap,
                .parameters = "",
                .id = {}};
    }
    Backfill Start(const BackfillParams& wish) {
        auto made = backfills_.Start(wish, {.user = "ada"});
        EXPECT_TRUE(made) << made.error().Describe();
        return made ? *made : Backfill{};
    }
    // Runs the backfill loop for `time`, as the engine does.
    void Go(Duration time) { GoWith(backfiller_, time); }
    void GoWith(Backfiller& backfiller, Duration time) {
        const SteadyPoint end = clock_.SteadyNow() + time;
        for (int steps = 0; steps < 10'000; ++steps) {
            const auto step = backfiller.RunOnce();
            ASSERT_TRUE(step) << step.error().Describe();
            if (step->again) continue;
            if (clock_.SteadyNow() >= end) return;
            clock_.Advance(seconds(1));
        }
        FAIL() << "it does not come to rest";
    }
    std::vector<model::Run> RunsOf(const Backfill& backfill) {
        store::RunQuery query;
        query.filter.parent = backfill.id;
        query.descending = false;
        query.limit = 1'000;
        return store_->runs().List(query)->items;
    }
    // Claims and ends all ready runs. Returns their number.
    std::size_t WorkOff(model::EventKind kind = model::EventKind::kSuccess) {
        auto claimed = store_->runs().Claim(
            {.filter = {.kind = model::ActionKind::kHttp}, .owner = "w", .limit = 1'000});
        EXPECT_TRUE(claimed);
        for (const model::Run& run : claimed->runs) {
            EXPECT_TRUE(store_->runs().Apply(
                {{run.id, {.kind = kind, .exec_id = run.status.exec_id, .error = "no"}}}));
        }
        return claimed->runs.size();
    }

    TimePoint from_;
    std::size_t runs_before_ = 0;
    BackfillService backfills_{*store_, book_, ids_};
    Backfiller backfiller_{*store_, plans_, clock_};
};

TEST_F(BackfillTest, APreviewChangesNothing) {
    const auto preview = backfills_.Preview(Wish(5));
    ASSERT_TRUE(preview) << preview.error().Describe();
    ASSERT_EQ(preview->fires.size(), 5U);
    EXPECT_EQ(preview->fires.front(), from_);
    EXPECT_EQ(preview->fires.back(), from_ + hours(4)) << "to is not part of it";
    EXPECT_EQ(preview->already_there, 0);
    Go(minutes(1));
    EXPECT_EQ(Runs("j"), runs_before_);
    EXPECT_TRUE(backfills_.List(10, "")->items.empty());
}

TEST_F(BackfillTest, OneAfterTheOtherAndNoneIsDropped) {
    const Backfill made = Start(Wish(5));
    EXPECT_EQ(made.state, BackfillState::kRunning);
    EXPECT_EQ(made.created_by, "ada");
    for (int n = 1; n <= 5; ++n) {
        Go(seconds(5));
        ASSERT_EQ(RunsOf(made).size(), static_cast<std::size_t>(n));
        EXPECT_EQ(
            WorkOff(n == 3 ? model::EventKind::kPermanentFailure : model::EventKind::kSuccess), 1U);
    }
    Go(seconds(1));
    const auto runs = RunsOf(made);
    for (std::size_t n = 0; n < runs.size(); ++n) {
        EXPECT_EQ(runs[n].nominal_at, from_ + hours(n));
        EXPECT_EQ(runs[n].trigger, model::RunTrigger::kBackfill);
        EXPECT_EQ(runs[n].job_id, "j");
    }
    const auto over = backfills_.Get(made.id);
    ASSERT_TRUE(over);
    EXPECT_EQ(over->state, BackfillState::kFinished);
    EXPECT_EQ(over->submitted, 5);
    EXPECT_EQ(over->succeeded, 4);
    EXPECT_EQ(over->failed, 1);
    EXPECT_EQ(over->skipped, 0);
    EXPECT_TRUE(over->ended_at);
    EXPECT_EQ(backfills_.Cancel(made.id, {}).error().code, Code::kConflict);
    EXPECT_TRUE(store_->settings().List({.prefix = "backfill_"})->items.empty())
        << "nothing is left behind but the state";
}

TEST_F(BackfillTest, WaitsBehindARunOfTheScheduleAndIsNotDropped) {
    const auto manual = service_.RunNow({.id = "j", .parameters = "", .run_id = {}});
    ASSERT_TRUE(manual);
    auto running = store_->runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "w", .limit = 10});
    ASSERT_EQ(running->runs.size(), 1U);
    const Backfill made = Start(Wish(2));
    Go(seconds(5));
    EXPECT_EQ(WorkOff(), 0U) << "it waits";
    ASSERT_EQ(RunsOf(made).size(), 1U);
    EXPECT_FALSE(model::IsFinal(RunsOf(made)[0].status.state));
    const model::Run& run = running->runs[0];
    ASSERT_TRUE(store_->runs().Apply(
        {{run.id, {.kind = model::EventKind::kSuccess, .exec_id = run.status.exec_id}}}));
    ASSERT_TRUE(store_->runs().Reap({.now = {}, .lost_owners = {}, .limit = 10, .follow_up = {}}));
    EXPECT_EQ(WorkOff(), 1U);
}

TEST_F(BackfillTest, AllowIsAsFastAsItWasAsked) {
    BackfillParams wish = Wish(20, BackfillOverlap::kAllow);
    wish.per_minute = 60;
    const Backfill made = Start(wish);
    Go(seconds(0));
    EXPECT_EQ(RunsOf(made).size(), 1U);
    Go(seconds(9));
    EXPECT_EQ(RunsOf(made).size(), 10U);
    EXPECT_EQ(WorkOff(), 10U) << "all at once, whatever the job's overlap says";
    Go(seconds(10));
    WorkOff();
    Go(seconds(1));
    EXPECT_EQ(backfills_.Get(made.id)->state, BackfillState::kFinished);
}

TEST_F(BackfillTest, AFireThatHasARunIsSkippedAndCosts) {
    const Backfill first = Start(Wish(3, BackfillOverlap::kAllow));
    Go(seconds(5));
    WorkOff();
    Go(seconds(1));
    ASSERT_EQ(backfills_.Get(first.id)->state, BackfillState::kFinished);
    EXPECT_EQ(backfills_.Preview(Wish(5))->already_there, 3);
    const Backfill second = Start(Wish(5, BackfillOverlap::kAllow));
    Go(seconds(5));
    WorkOff();
    Go(seconds(1));
    const auto over = backfills_.Get(second.id);
    EXPECT_EQ(over->state, BackfillState::kFinished);
    EXPECT_EQ(over->submitted, 2);
    EXPECT_EQ(over->skipped, 3);
}

TEST_F(BackfillTest, GoesOnAfterARestart) {
    const Backfill made = Start(Wish(6, BackfillOverlap::kAllow));
    Go(seconds(2));
    ASSERT_EQ(RunsOf(made).size(), 3U);
    Backfiller after(*store_, plans_, clock_);
    GoWith(after, seconds(10));
    EXPECT_EQ(RunsOf(made).size(), 6U);
}

TEST_F(BackfillTest, AStepWhoseAccountWasLostIsNotDoneTwice) {
    store::FaultPlan faults(1);
    const auto faulty = store::MakeFaultyStore(*store_, faults);
    Backfiller shaky(*faulty, plans_, clock_);
    const Backfill made = Start(Wish(4, BackfillOverlap::kAllow));
    faults.Next("settings.Put", {.kind = store::FaultKind::kErrorBefore, .delay = {}});
    EXPECT_FALSE(shaky.RunOnce());
    ASSERT_EQ(RunsOf(made).size(), 1U);
    GoWith(shaky, seconds(10));
    EXPECT_EQ(RunsOf(made).size(), 4U);
    WorkOff();
    GoWith(shaky, seconds(1));
    const auto over = backfills_.Get(made.id);
    EXPECT_EQ(over->state, BackfillState::kFinished);
    EXPECT_EQ(over->submitted, 4);
    EXPECT_EQ(over->skipped, 0);
}

TEST_F(BackfillTest, TwoNodesMakeEachRunOnce) {
    Backfiller other(*store_, plans_, clock_);
    const Backfill made = Start(Wish(10, BackfillOverlap::kAllow));
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(backfiller_.RunOnce());
        ASSERT_TRUE(other.RunOnce());
        clock_.Advance(seconds(1));
    }
    EXPECT_EQ(RunsOf(made).size(), 10U);
}

TEST_F(BackfillTest, CancelEndsItAndWhatHasNotStarted) {
    const Backfill made = Start(Wish(20, BackfillOverlap::kAllow));
    Go(seconds(4));
    auto claimed = store_->runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "w", .limit = 2});
    ASSERT_EQ(claimed->runs.size(), 2U);
    const auto cancelled = backfills_.Cancel(made.id, {.user = "bob"});
    ASSERT_TRUE(cancelled) << cancelled.error().Describe();
    EXPECT_EQ(cancelled->state, BackfillState::kCancelled);
    EXPECT_EQ(cancelled->failed, 3) << "cancelled";
    Go(minutes(1));
    EXPECT_EQ(RunsOf(made).size(), 5U) << "nothing more";
    std::size_t running = 0;
    for (const model::Run& run : RunsOf(made)) {
        running += run.status.state == model::RunState::kRunning ? 1 : 0;
    }
    EXPECT_EQ(running, 2U) << "what runs is left to end";
    EXPECT_TRUE(backfills_.Cancel(made.id, {})) << "once more does no harm";
    EXPECT_TRUE(store_->settings().List({.prefix = "backfill_"})->items.empty());
}

TEST_F(BackfillTest, EndsWithItsJob) {
    const Backfill made = Start(Wish(5));
    ASSERT_TRUE(service_.Delete("j", {}));
    Go(seconds(5));
    const auto over = backfills_.Get(made.id);
    EXPECT_EQ(over->state, BackfillState::kCancelled);
    EXPECT_NE(over->error.find("there is no job"), std::string::npos) << over->error;
}

TEST_F(BackfillTest, ItsFiresAreThoseOfTheMomentItWasMade) {
    const Backfill made = Start(Wish(3, BackfillOverlap::kAllow));
    ASSERT_TRUE(service_.Change("j", {}, [](model::Job& job) -> Result<void> {
        job.schedule.cron = "30 0 1 1 *";
        return {};
    }));
    Go(seconds(5));
    EXPECT_EQ(RunsOf(made).size(), 3U);
}

TEST_F(BackfillTest, ParametersTakeThePlaceOfThePayload) {
    BackfillParams wish = Wish(1);
    wish.parameters = R"({"day":"monday"})";
    const Backfill made = Start(wish);
    Go(seconds(1));
    ASSERT_EQ(RunsOf(made).size(), 1U);
    EXPECT_EQ(RunsOf(made)[0].payload, wish.parameters);
}

TEST_F(BackfillTest, WishesHaveBounds) {
    const auto fault = [&](BackfillParams wish) {
        const auto made = backfills_.Start(wish, {});
        EXPECT_FALSE(made);
        return made                            ? ""
               : made.error().problems.empty() ? made.error().Describe()
                                               : made.error().problems[0].path;
    };
    BackfillParams wish = Wish(5);
    wish.to = clock_.Now() + seconds(1);
    EXPECT_EQ(fault(wish), "/to");
    wish = Wish(5);
    wish.max = 4;
    EXPECT_EQ(fault(wish), "/to");
    wish.max = 0;
    EXPECT_EQ(fault(wish), "/max");
    wish = Wish(5);
    wish.per_minute = BackfillService::kHighestPerMinute + 1;
    EXPECT_EQ(fault(wish), "/per_minute");
    wish = Wish(5);
    wish.to = wish.from;
    EXPECT_EQ(fault(wish), "/to");
    wish = Wish(5);
    wish.to = wish.from + seconds(1);
    wish.from += Duration(1);
    EXPECT_EQ(fault(wish), "/from");
    wish = Wish(5);
    wish.job_id = "none";
    EXPECT_EQ(backfills_.Start(wish, {}).error().code, Code::kNotFound);
    EXPECT_TRUE(store_->settings().List({.prefix = "backfill"})->items.empty());
}

TEST_F(BackfillTest, WhatIsToComeIsThePlanners) {
    BackfillParams wish = Wish(5);
    wish.from = clock_.Now() - minutes(90);
    clock_.Advance(hours(3));  // the planner does not run
    wish.to = clock_.Now();
    const auto preview = backfills_.Preview(wish);
    ASSERT_TRUE(preview);
    EXPECT_LE(preview->fires.back(), *store_->jobs().Get("j")->state.planned_until);
}

TEST_F(BackfillTest, WhatSomebodyLeftHalfMadeIsTakenAway) {
    ASSERT_TRUE(store_->settings().Put(
        {.key = "backfill_active/" + ids_.Next().ToString(), .value = "true"}));
    Go(seconds(1));
    EXPECT_EQ(store_->settings().List({.prefix = "backfill_"})->items.size(), 1U);
    clock_.Advance(minutes(11));
    Go(seconds(1));
    EXPECT_TRUE(store_->settings().List({.prefix = "backfill_"})->items.empty());
}

TEST_F(BackfillTest, IsAudited) {
    const Backfill made = Start(Wish(5));
    ASSERT_TRUE(backfills_.Cancel(made.id, {.user = "bob"}));
    const auto events = store_->events().List(
        {.filter = {.resource_type = "backfill", .resource_id = made.id.ToString()},
         .descending = false});
    ASSERT_EQ(events->items.size(), 2U);
    EXPECT_EQ(events->items[0].action, "created");
    EXPECT_EQ(events->items[0].user, "ada");
    EXPECT_EQ(events->items[1].action, "cancelled");
    EXPECT_EQ(events->items[1].user, "bob");
}

}  // namespace
}  // namespace ksana::engine
