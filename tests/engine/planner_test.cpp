#include "ksana/engine/plan/planner.hpp"

#include <gtest/gtest.h>

#include "ksana/base/log/log.hpp"
#include "ksana/base/time/fake_clock.hpp"
#include "ksana/engine/dispatch/reaper.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"

namespace ksana::engine {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class PlannerTest : public ::testing::Test {
  protected:
    void Create(const std::string& id, Duration every,
                model::OverlapPolicy overlap = model::OverlapPolicy::kSkip) {
        model::Job job;
        job.overlap = overlap;
        job.id = id;
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = every;
        job.state.planned_until = clock_.Now();
        job.state.next_run_at = clock_.Now() + every;
        auto written = store_->jobs().Write({.now = {}, .writes = {{.job = job, .plan = {}}}});
        ASSERT_TRUE(written);
        ASSERT_TRUE(written->at(0));
    }

    FakeClock clock_;
    SeededRandom random_{1};
    UuidGenerator ids_{clock_, random_};
    std::unique_ptr<store::Store> store_ =
        store_kit::MakeStore(store_memory::OpenMemory(clock_), ids_);
    schedule::ZoneDatabase zones_;
    ScheduleCache book_{zones_, {}};
    FirePlans plans_{book_, {}, {.defaults = {}, .max_fires = 100}};
    Planner planner_{*store_,
                     plans_,
                     clock_,
                     {.least_ahead = seconds(2), .most_ahead = seconds(2), .batch = 10}};
};

TEST_F(PlannerTest, PlansWhatIsDueAndSaysWhenToComeAgain) {
    Create("a", minutes(1));
    auto idle = planner_.RunOnce({});
    ASSERT_TRUE(idle);
    EXPECT_EQ(idle->jobs, 0U);
    EXPECT_EQ(*planner_.NextFire(), clock_.Now() + minutes(1) - seconds(2));
    clock_.Advance(minutes(1) - seconds(2));
    const auto planned = planner_.RunOnce({});
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->runs, 1U) << "ahead of its time";
    EXPECT_EQ(*planner_.NextFire(), clock_.Now() + minutes(1));
    const auto wake = store_->runs().NextWake();
    EXPECT_EQ(wake->ready, clock_.Now() + seconds(2));
}

TEST_F(PlannerTest, TheMoreThereIsToDoTheFurtherAhead) {
    const Duration every = seconds(1);
    for (int i = 0; i < 3000; ++i) {
        Create("j" + std::to_string(i), every + milliseconds(i) / 3, model::OverlapPolicy::kAllow);
    }
    Planner planner(*store_, plans_, clock_, {.batch = 1000});
    EXPECT_EQ(*planner.NextFire(), clock_.Now() + every) << "with nothing to do, not at all";
    clock_.Advance(every);
    int calls = 0;
    for (const TimePoint end = clock_.Now() + milliseconds(900); clock_.Now() < end; ++calls) {
        const auto planned = planner.RunOnce(
            store::StartAs{.owner = "node", .kind = model::ActionKind::kHttp, .limit = 1000});
        ASSERT_TRUE(planned);
        const TimePoint next = **planner.NextFire();
        if (next > clock_.Now()) clock_.Advance(next - clock_.Now());
    }
    EXPECT_LT(calls, 100) << "3,000 fires go many together";
    const auto wake = store_->runs().NextWake();
    EXPECT_GT(*wake->plan, clock_.Now() + milliseconds(40));
}

// Otherwise the planner would never catch up: a queued run costs one more write than one that
// starts.
TEST_F(PlannerTest, WithMuchToDoNoMoreIsPlannedThanCanStart) {
    for (int i = 0; i < 4000; ++i) Create("j" + std::to_string(i), seconds(1));
    Planner planner(*store_, plans_, clock_, {.most_ahead = {}, .batch = 1000});
    store::StartAs start{.owner = "node", .kind = model::ActionKind::kHttp, .limit = 300};
    clock_.Advance(seconds(1));
    EXPECT_EQ(planner.RunOnce(start)->runs, 128U) << "the first do not wait for the others";
    start.limit = 800;
    EXPECT_EQ(planner.RunOnce(start)->runs, 512U) << "nor the next for all of them";
    start.limit = 300;
    clock_.Advance(milliseconds(50));
    const auto planned = planner.RunOnce(start);
    EXPECT_EQ(planned->runs, 300U);
    EXPECT_EQ(planned->started.size(), 300U);
    EXPECT_TRUE(planned->step.again);
}

// In a burst most attempts in flight end within milliseconds, and then there is room again.
TEST_F(PlannerTest, WithMuchToDoRoomIsWaitedForALittle) {
    for (int i = 0; i < 1000; ++i) Create("j" + std::to_string(i), seconds(1));
    Planner planner(*store_, plans_, clock_, {.most_ahead = {}, .batch = 1000});
    store::StartAs start{.owner = "node", .kind = model::ActionKind::kHttp, .limit = 64};
    clock_.Advance(seconds(1));
    EXPECT_EQ(planner.RunOnce(start)->runs, 64U);
    const auto waits = planner.RunOnce(std::nullopt);
    EXPECT_EQ(waits->runs, 0U);
    EXPECT_FALSE(waits->step.again);
    ASSERT_EQ(waits->step.within, milliseconds(5));
    clock_.Advance(milliseconds(2));
    EXPECT_EQ(planner.RunOnce(std::nullopt)->step.within, milliseconds(3));
    EXPECT_EQ(planner.RunOnce(start)->runs, 64U) << "there is room";
    EXPECT_EQ(planner.RunOnce(std::nullopt)->runs, 0U) << "and again there is none";
    clock_.Advance(milliseconds(5));
    EXPECT_EQ(planner.RunOnce(std::nullopt)->runs, 50U) << "others may start them";
    EXPECT_EQ(planner.RunOnce(std::nullopt)->step.within, milliseconds(5));
}

TEST_F(PlannerTest, WithoutRoomOneLargeBatchIsPlannedAndThenSmallOnes) {
    for (int i = 0; i < 2000; ++i) Create("j" + std::to_string(i), seconds(1));
    Planner planner(*store_, plans_, clock_, {.most_ahead = {}, .batch = 1000});
    clock_.Advance(seconds(1));
    EXPECT_EQ(planner.RunOnce(std::nullopt)->runs, 1000U) << "it may be all there is";
    clock_.Advance(*planner.RunOnce(std::nullopt)->step.within);
    EXPECT_EQ(planner.RunOnce(std::nullopt)->runs, 50U) << "it was not";
}

TEST_F(PlannerTest, AJobLeftUntilItsTimeIsNotLookedAtAllTheTime) {
    Create("a", minutes(1));
    clock_.Advance(minutes(1));
    ASSERT_EQ(planner_.RunOnce({})->runs, 1U);
    clock_.Advance(minutes(1) - seconds(2));
    const auto left = planner_.RunOnce({});
    ASSERT_TRUE(left);
    EXPECT_EQ(left->jobs, 0U) << "its run has not even started";
    EXPECT_FALSE(left->step.again);
    EXPECT_EQ(*planner_.NextFire(), clock_.Now() + seconds(1)) << "half of the way";
    clock_.Advance(seconds(2));
    EXPECT_EQ(planner_.RunOnce({})->runs, 1U) << "skipped, now that it is time";
}

TEST_F(PlannerTest, TakesManyJobsInBatches) {
    for (int i = 0; i < 25; ++i) Create("j" + std::to_string(i), minutes(1));
    clock_.Advance(minutes(1));
    std::vector<std::size_t> batches;
    for (bool again = true; again;) {
        const auto planned = planner_.RunOnce({});
        ASSERT_TRUE(planned);
        if (planned->runs > 0) batches.push_back(planned->runs);
        clock_.Advance(planned->step.within.value_or(Duration()));
        again = planned->step.again || planned->step.within;
    }
    EXPECT_EQ(batches, (std::vector<std::size_t>{10, 10, 5}));
}

TEST_F(PlannerTest, WhatCanStartIsStarted) {
    Create("a", minutes(1));
    Create("b", minutes(1));
    clock_.Advance(minutes(1));
    const auto planned = planner_.RunOnce(
        store::StartAs{.owner = "node", .kind = model::ActionKind::kHttp, .limit = 1});
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->runs, 2U);
    ASSERT_EQ(planned->started.size(), 1U);
    EXPECT_EQ(planned->started[0]->run.status.owner, "node");
    EXPECT_TRUE(store_->runs().NextWake()->queued) << "the other one";
}

// The owner is silent: its run is reaped when the lease expires, and retried.
TEST_F(PlannerTest, TheReaperTakesBackWhatNobodyEnds) {
    Create("a", hours(1));
    clock_.Advance(hours(1));
    const auto planned =
        planner_.RunOnce(store::StartAs{.owner = "node", .kind = model::ActionKind::kHttp});
    ASSERT_TRUE(planned);
    ASSERT_EQ(planned->started.size(), 1U);
    Reaper reaper(*store_, clock_, {});
    const auto early = reaper.RunOnce();
    ASSERT_TRUE(early);
    EXPECT_TRUE(early->runs.empty());
    ASSERT_TRUE(early->step.next);
    clock_.Advance(*early->step.next - clock_.Now());
    SetLogSinkForTest([](LogLevel, std::string_view) {});
    const auto reaped = reaper.RunOnce();
    SetLogSinkForTest(nullptr);
    ASSERT_TRUE(reaped);
    ASSERT_EQ(reaped->runs.size(), 1U);
    EXPECT_EQ(reaped->runs[0].status.state, model::RunState::kQueued);
    EXPECT_FALSE(reaped->step.next) << "nothing is running";
}

TEST_F(PlannerTest, ABacklogIsBounded) {
    Planner planner(
        *store_, plans_, clock_,
        {.least_ahead = seconds(2), .most_ahead = seconds(2), .batch = 10, .max_waiting = 20});
    for (int i = 0; i < 10; ++i) {
        Create("j" + std::to_string(i), minutes(1), model::OverlapPolicy::kAllow);
    }
    int planned = 0;
    for (int minute = 0; minute < 10; ++minute) {
        clock_.Advance(minutes(1));
        const auto answer = planner.RunOnce({});
        ASSERT_TRUE(answer);
        if (answer->full) {
            EXPECT_TRUE(answer->step.within) << "it looks again";
        } else if (answer->jobs > 0) {
            ++planned;
        } else {
            clock_.Advance(answer->step.within.value());
            planned += planner.RunOnce({})->jobs > 0 ? 1 : 0;
        }
    }
    EXPECT_EQ(planned, 2);
    const auto waiting = store_->runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "o", .limit = 100});
    EXPECT_LE(waiting->runs.size() + waiting->skipped, 20U);
    clock_.Advance(seconds(1));
    const auto again = planner.RunOnce({});
    EXPECT_FALSE(again->full);
    EXPECT_GT(again->jobs, 0U) << "and the fires of the meantime are accounted for";
}

}  // namespace
}  // namespace ksana::engine
