// Attempts that a dispatcher holds ahead of their time or of a free slot.
#include <gtest/gtest.h>

#include "engine/dispatcher_fixture.hpp"
#include "ksana/engine/dispatch/rate_meter.hpp"
#include "ksana/engine/dispatch/slot_throughput.hpp"
#include "ksana/engine/plan/store_offset.hpp"

namespace ksana::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class AheadTest : public DispatcherTest {
  protected:
    // Stores runs as started `after` before their time, as the planner does.
    std::vector<AttemptPointer> Planned(const store::StartAs& room, int count, Duration after) {
        model::Run run;
        run.job_id = "job";
        run.kind = model::ActionKind::kHttp;
        run.policy.timeout = seconds(1);
        run.status.ready_at = clock_.Now() + after;
        store::StartAs start = room;
        start.ahead = after;
        const auto submitted = store_->runs().Submit(
            {.now = {}, .runs = std::vector(static_cast<std::size_t>(count), run), .start = start});
        std::vector<AttemptPointer> attempts;
        for (const auto& one : *submitted) {
            if (one.started) attempts.push_back(MakeAttempt(*one.started));
        }
        return attempts;
    }

    // Ends four thousand attempts in a second, so that some may wait for the forty slots.
    void MakeBusy() {
        Make({.slots = 40});
        for (int n = 0; n < 20; ++n) {
            Submit(40);
            RunOnce();
            clock_.Advance(milliseconds(10));
            EndAll();
            RunOnce();
        }
        ASSERT_TRUE(dispatcher_->Idle());
        executor_.started.clear();
    }

    void EndAll() {
        while (!executor_.attempts.empty()) {
            executor_.End(std::string(executor_.attempts.begin()->first), EventKind::kSuccess);
        }
    }
};

TEST_F(AheadTest, AStartWaitsForItsTimeAndNotForACommit) {
    const store::StartAs room = dispatcher_->Reserve();
    auto attempts = Planned(room, 1, milliseconds(80));
    ASSERT_EQ(attempts.size(), 1U);
    const Uuid id = attempts[0]->run.id;
    EXPECT_EQ(attempts[0]->run.status.started_at, clock_.Now() + milliseconds(80));
    dispatcher_->Begin(std::move(attempts), room);
    EXPECT_TRUE(executor_.started.empty());
    EXPECT_EQ(starter_wakes_, 1);
    EXPECT_EQ(dispatcher_->StartDue().within, milliseconds(80));
    clock_.Advance(milliseconds(79));
    dispatcher_->StartDue();
    EXPECT_TRUE(executor_.started.empty());
    clock_.Advance(milliseconds(1));
    EXPECT_FALSE(dispatcher_->StartDue().within) << "nothing else waits";
    ASSERT_EQ(executor_.started.size(), 1U);
    EXPECT_EQ(StateOf(id), RunState::kRunning);
}

// The planner's own commit wakes the dispatcher while the planner still holds all the room.
TEST_F(AheadTest, AClaimThatFoundNoRoomIsMadeWhenThePlannerGivesItBack) {
    const store::StartAs room = dispatcher_->Reserve();
    ASSERT_EQ(room.limit, 4U);
    Submit(1);
    RunOnce();
    EXPECT_TRUE(executor_.started.empty());
    wakes_ = 0;
    dispatcher_->Begin({}, room);
    EXPECT_EQ(wakes_, 1) << "it would sleep for seconds";
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 1U);
}

TEST_F(AheadTest, ItsTimeIsThatOfTheStoresClock) {
    const store::StartAs room = dispatcher_->Reserve();
    // The store's clock is 30 ms behind, so its due time is that much later.
    dispatcher_->Begin(Planned(room, 1, milliseconds(80)), room, -milliseconds(30));
    EXPECT_EQ(dispatcher_->StartDue().within, milliseconds(110));
}

TEST_F(AheadTest, ItsTimeoutCountsFromItsStart) {
    const store::StartAs room = dispatcher_->Reserve();
    dispatcher_->Begin(Planned(room, 1, seconds(3)), room);
    clock_.Advance(seconds(3) - milliseconds(1));
    RunOnce();
    EXPECT_TRUE(executor_.cancelled.empty());
    clock_.Advance(milliseconds(1));
    dispatcher_->StartDue();
    RunOnce();
    EXPECT_TRUE(executor_.cancelled.empty()) << "its second begins now";
    clock_.Advance(seconds(2));
    RunOnce();
    EXPECT_EQ(executor_.cancelled, executor_.started);
}

struct SeenEnds final : Observer {
    void Ended(const AttemptEnd& end) override { took.push_back(end.took); }
    std::vector<Duration> took;
};

TEST_F(AheadTest, AShutdownGivesBackWhatHasNotStarted) {  // K-18
    SeenEnds seen;
    Make({.observer = &seen});
    const store::StartAs room = dispatcher_->Reserve();
    auto attempts = Planned(room, 2, milliseconds(80));
    const Uuid id = attempts[0]->run.id;
    dispatcher_->Begin(std::move(attempts), room);
    dispatcher_->Close();
    clock_.Advance(milliseconds(80));
    dispatcher_->StartDue();
    EXPECT_TRUE(executor_.started.empty());
    RunOnce();
    EXPECT_TRUE(dispatcher_->Idle());
    EXPECT_EQ(seen.took, std::vector<Duration>(2)) << "they took no time";
    const model::Run run = store_->runs().Get(id)->run;
    EXPECT_FALSE(model::IsFinal(run.status.state));
    EXPECT_NE(run.status.state, RunState::kRunning);
    EXPECT_EQ(run.status.failures, 0);
}

TEST_F(AheadTest, WhatThePlannerBringsAfterTheCloseIsGivenBackToo) {
    const store::StartAs room = dispatcher_->Reserve();
    auto attempts = Planned(room, 1, {});
    dispatcher_->Close();
    dispatcher_->Begin(std::move(attempts), room);
    EXPECT_TRUE(executor_.started.empty());
    RunOnce();
    EXPECT_TRUE(dispatcher_->Idle());
}

TEST_F(AheadTest, WhatIsCancelledWhileItWaitsIsNotStarted) {
    const store::StartAs room = dispatcher_->Reserve();
    auto attempts = Planned(room, 1, milliseconds(80));
    const Uuid id = attempts[0]->run.id;
    dispatcher_->Begin(std::move(attempts), room);
    model::Event cancel;
    cancel.kind = EventKind::kCancel;
    ASSERT_TRUE(store_->runs().Apply({{.run_id = id, .event = cancel}}));
    RunOnce();
    RunOnce();
    EXPECT_EQ(StateOf(id), RunState::kCancelled);
    clock_.Advance(milliseconds(80));
    dispatcher_->StartDue();
    EXPECT_TRUE(executor_.started.empty());
    EXPECT_TRUE(dispatcher_->Idle());
}

TEST_F(AheadTest, ItsLeaseIsKept) {
    const store::StartAs room = dispatcher_->Reserve();
    dispatcher_->Begin(Planned(room, 1, minutes(2)), room);
    for (int n = 0; n < 11; ++n) {
        clock_.Advance(seconds(10));
        RunOnce();
        ASSERT_TRUE(store_->runs().Reap({})->runs.empty()) << n;
    }
}

TEST_F(AheadTest, WithLittleToDoNothingIsClaimedThatCannotStart) {
    Submit(10);
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 4U);
    EXPECT_EQ(dispatcher_->UnderWay(), 4U);
}

TEST_F(AheadTest, WithManyASecondSomeWaitForAFreeSlot) {
    MakeBusy();
    Submit(1000);
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 40U) << "never more than the slots";
    EXPECT_GT(dispatcher_->UnderWay(), 40U);
    EXPECT_LE(dispatcher_->UnderWay(), 40U + 4100 / 20) << "what lands in 50 ms";
    const int before = starter_wakes_;
    executor_.End(executor_.started[0], EventKind::kSuccess);
    EXPECT_EQ(starter_wakes_, before + 1);
    dispatcher_->StartDue();
    EXPECT_EQ(executor_.started.size(), 41U) << "without a commit in between";
}

TEST_F(AheadTest, WhatIsReadyComesBeforeWhatIsNot) {
    MakeBusy();
    EXPECT_GT(dispatcher_->Reserve().limit, 40U) << "the planner may start ahead";
    dispatcher_->Begin({}, {.limit = 1000});
    Submit(1000);
    RunOnce();
    RunOnce();
    EXPECT_EQ(dispatcher_->Reserve().limit, 0U) << "some that are ready wait for a slot";
}

TEST_F(AheadTest, WithManyASecondReportsWaitForEachOther) {
    MakeBusy();
    const auto ids = Submit(4);
    RunOnce();
    const int before = wakes_;
    executor_.End(executor_.started[0], EventKind::kSuccess);
    EXPECT_EQ(wakes_, before + 1);
    const Step step = RunOnce();
    EXPECT_EQ(StateOf(ids[0]), RunState::kRunning);
    ASSERT_TRUE(step.within);
    EXPECT_LE(*step.within, milliseconds(10));
    executor_.End(executor_.started[1], EventKind::kSuccess);
    EXPECT_EQ(wakes_, before + 1) << "it comes by itself";
    clock_.Advance(*step.within);
    RunOnce();
    EXPECT_EQ(StateOf(ids[0]), RunState::kSucceeded);
    EXPECT_EQ(StateOf(ids[1]), RunState::kSucceeded);
}

TEST(PaceTest, ForgetsWhatWasBeforeASilence) {
    RateMeter pace;
    SteadyPoint now{};
    for (int n = 0; n < 20; ++n) pace.Count(100, now += milliseconds(50));
    EXPECT_NEAR(pace.per_second(), 2000, 1);
    pace.Count(1, now += seconds(10));
    EXPECT_EQ(pace.per_second(), 0);
}

TEST(PaceTest, BelievesABurstAtOnceAndItsEndLater) {
    RateMeter pace;
    SteadyPoint now{seconds(100)};
    pace.Count(50, now);
    EXPECT_EQ(pace.per_second(), 0) << "since when is not known";
    pace.Count(40, now += milliseconds(4));
    EXPECT_NEAR(pace.per_second(), 10'000, 1);
    pace.Count(1000, now += milliseconds(20));
    EXPECT_NEAR(pace.per_second(), 50'000, 1);
    pace.Count(0, now += milliseconds(20));
    EXPECT_NEAR(pace.per_second(), 25'000, 1);
}

// A caller that also counts zero events has an open window when the burst begins.
TEST(PaceTest, BelievesABurstAtOnceAlsoAfterIdleLooks) {
    RateMeter pace;
    SteadyPoint now{seconds(100)};
    for (int n = 0; n < 10; ++n) pace.Count(0, now += milliseconds(100));
    pace.Count(50, now += milliseconds(100));
    EXPECT_EQ(pace.per_second(), 0) << "since when is not known";
    pace.Count(1, now += milliseconds(2));
    pace.Count(1, now += milliseconds(2));
    EXPECT_NEAR(pace.per_second(), 500, 1) << "the first two of the next hundred";
    pace.Count(40, now += milliseconds(4));
    EXPECT_NEAR(pace.per_second(), 10'000, 1);
}

TEST(TurnoverTest, NoMoreThanTheSlotsCanTake) {
    SlotThroughput turnover(64);
    SteadyPoint now{seconds(100)};
    EXPECT_EQ(turnover.Within(milliseconds(200), now), 0U) << "nothing is known";
    turnover.Count(64, 64 * seconds(10), now);
    EXPECT_EQ(turnover.Within(milliseconds(200), now), 1U) << "slow ones that end together";
    for (int n = 0; n < 20; ++n) turnover.Count(64, 64 * milliseconds(40), now);
    EXPECT_EQ(turnover.Within(milliseconds(200), now), 319U);
    EXPECT_EQ(turnover.Within(milliseconds(50), now), 79U);
}

TEST(TurnoverTest, NoMoreThanHaveEndedLately) {
    SlotThroughput turnover(64);
    SteadyPoint now{seconds(100)};
    turnover.Count(10, 10 * milliseconds(1), now);
    EXPECT_EQ(turnover.Within(milliseconds(200), now), 40U) << "the first are quick";
    EXPECT_EQ(turnover.Within(milliseconds(50), now), 10U);
    turnover.Count(20, 20 * milliseconds(1), now += milliseconds(10));
    EXPECT_EQ(turnover.Within(milliseconds(200), now), 120U);
    turnover.Count(0, {}, now += milliseconds(199));
    EXPECT_EQ(turnover.Within(milliseconds(200), now), 120U);
    EXPECT_EQ(turnover.Within(milliseconds(200), now + milliseconds(400)), 0U) << "long ago";
}

TEST(StoreOffsetTest, IsAsNearAsTheAnswersTellAndNeverMore) {
    StoreOffset offset;
    const TimePoint start{};
    const Duration ahead = seconds(5);
    offset.Note(start, start + milliseconds(100), start + milliseconds(50) + ahead);
    EXPECT_EQ(offset.Least(), ahead - milliseconds(50));
    offset.Note(start, start + milliseconds(10), start + milliseconds(9) + ahead);
    EXPECT_EQ(offset.Least(), ahead - milliseconds(1));
    offset.Note(start, start + milliseconds(50), start + milliseconds(20) + ahead);
    EXPECT_EQ(offset.Least(), ahead - milliseconds(1)) << "the best of all";
    offset.Note(start, start + milliseconds(10), start + milliseconds(5));
    EXPECT_EQ(offset.Least(), -milliseconds(5)) << "one of them was set";
    offset.Note(start, start - milliseconds(10), start);
    EXPECT_EQ(offset.Least(), -milliseconds(5)) << "set in the middle: nothing is learned";
}

}  // namespace
}  // namespace ksana::engine
