// Fires that come while an earlier run of the job is under way.
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::OverlapPolicy;
using model::RunState;
using std::chrono::minutes;

TEST_P(StoreTest, AllowStartsAll) {
    Fires(OverlapPolicy::kAllow, 3);
    EXPECT_EQ(ClaimHttp().size(), 3U);
}

// Also behind a run that has not started yet, so that the number of waiting runs stays bounded.
TEST_P(StoreTest, SkipEndsTheLaterOnes) {
    const auto ids = Fires(OverlapPolicy::kSkip, 3);
    EXPECT_EQ(StateOf(ids[0]), RunState::kQueued);
    EXPECT_EQ(StateOf(ids[1]), RunState::kSkipped);
    EXPECT_EQ(StateOf(ids[2]), RunState::kSkipped);
    EXPECT_EQ(Read(ids[1]).run.status.skip_reason, model::SkipReason::kOverlap);
    auto claimed = runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "w", .limit = 10}, now_);
    ASSERT_TRUE(claimed);
    ASSERT_EQ(claimed->runs.size(), 1U);
    EXPECT_EQ(claimed->runs[0].id, ids[0]);
    EXPECT_EQ(claimed->skipped, 0U);
}

// A manual run is not checked; a fire that comes while it waits is skipped.
TEST_P(StoreTest, AFireIsSkippedBehindAWaitingRunOfAPerson) {
    Create(MakeJob("j1"));
    model::Run manual = MakeFire(*jobs().Get("j1"), now_);
    manual.nominal_at.reset();
    manual.trigger = model::RunTrigger::kManual;
    manual.policy.ignores_overlap = true;
    SubmitOne(manual);
    model::Run fire = MakeFire(*jobs().Get("j1"), now_);
    fire.policy.overlap = OverlapPolicy::kSkip;
    EXPECT_EQ(StateOf(SubmitOne(fire)), RunState::kSkipped);
    EXPECT_EQ(ClaimHttp().size(), 1U);
}

// A run between two attempts is under way too; its retry does not skip itself.
TEST_P(StoreTest, ARetryIsUnderWay) {
    const auto ids = Fires(OverlapPolicy::kSkip, 1);
    const auto first = ClaimHttp();
    ASSERT_EQ(first.size(), 1U);
    Report(first[0], EventKind::kRetryableFailure, "x");
    model::Job job = *jobs().Get("j1");
    const Uuid second = SubmitOne(MakeFire(job, now_ + Duration(1)));
    now_ += Duration(1);
    EXPECT_TRUE(ClaimHttp().empty());
    EXPECT_EQ(StateOf(second), RunState::kSkipped);
    now_ += minutes(1);
    ASSERT_EQ(ClaimHttp().size(), 1U) << "the retry";
}

TEST_P(StoreTest, QueueOneKeepsOneWaiting) {
    const auto ids = Fires(OverlapPolicy::kQueueOne, 4);
    const auto first = ClaimHttp();
    ASSERT_EQ(first.size(), 1U);
    EXPECT_TRUE(Read(ids[1]).run.status.blocked);
    EXPECT_EQ(StateOf(ids[1]), RunState::kQueued);
    EXPECT_EQ(StateOf(ids[2]), RunState::kSkipped);
    EXPECT_EQ(StateOf(ids[3]), RunState::kSkipped);
    EXPECT_TRUE(ClaimHttp().empty());
    Report(first[0], EventKind::kSuccess);
    const auto next = ClaimHttp();
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0].id, ids[1]);
}

TEST_P(StoreTest, QueueAllRunsOneAfterTheOther) {
    const auto ids = Fires(OverlapPolicy::kQueueAll, 4);
    for (const Uuid& id : ids) {
        const auto claimed = ClaimHttp();
        ASSERT_EQ(claimed.size(), 1U);
        EXPECT_EQ(claimed[0].id, id);
        EXPECT_TRUE(ClaimHttp().empty());
        Report(claimed[0], EventKind::kPermanentFailure, "x");
    }
    EXPECT_TRUE(ClaimHttp().empty());
}

// Blocked runs continue whatever ends the run they wait for.
TEST_P(StoreTest, TheNextGoesOnHoweverTheFirstEnds) {
    const auto ids = Fires(OverlapPolicy::kQueueAll, 4);
    const auto first = ClaimHttp();
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(Report(first[0], EventKind::kRetryableFailure).state, RunState::kScheduled);
    EXPECT_TRUE(ClaimHttp().empty()) << "it waits for its retry";
    EXPECT_EQ(Apply(ids[0], {.kind = EventKind::kCancel}).state, RunState::kCancelled);
    // A run is unblocked and then cancelled before any claim: the next blocked run continues.
    EXPECT_FALSE(Read(ids[1]).run.status.blocked);
    EXPECT_EQ(Apply(ids[1], {.kind = EventKind::kCancel}).state, RunState::kCancelled);
    const auto third = ClaimHttp();
    ASSERT_EQ(third.size(), 1U);
    EXPECT_EQ(third[0].id, ids[2]);
}

TEST_P(StoreTest, CancelOtherWaitsForTheEnd) {
    const auto ids = Fires(OverlapPolicy::kCancelOther, 3);
    auto first = runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "w", .limit = 1}, now_);
    ASSERT_TRUE(first);
    ASSERT_EQ(first->runs.size(), 1U);
    EXPECT_TRUE(ClaimHttp().empty());
    EXPECT_TRUE(Read(ids[0]).run.status.cancel_requested);
    EXPECT_EQ(StateOf(ids[1]), RunState::kCancelled) << "the newest takes its place";
    EXPECT_TRUE(Read(ids[2]).run.status.blocked);
    EXPECT_EQ(Report(first->runs[0], EventKind::kCancelled).state, RunState::kCancelled);
    const auto next = ClaimHttp();
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0].id, ids[2]);
}

// A claim does not start a ready run that a new fire in the same claim has cancelled.
TEST_P(StoreTest, CancelOtherTakesThePlaceOfARunThatWasGivenBack) {
    for (const auto log : {model::RunLog::kFull, model::RunLog::kNone}) {
        model::Job job = MakeJob(log == model::RunLog::kFull ? "full" : "none");
        job.overlap = OverlapPolicy::kCancelOther;
        job.run_log = log;
        Create(job);
        const Uuid old = SubmitOne(MakeFire(job, now_));
        const auto first = ClaimHttp();
        ASSERT_EQ(first.size(), 1U);
        const Uuid fresh = SubmitOne(MakeFire(job, now_ + Duration(1)));
        now_ += minutes(1);
        Report(first[0], EventKind::kShutdown);  // ready at once, ranked after the new fire
        const auto next = ClaimHttp();
        ASSERT_EQ(next.size(), 1U);
        EXPECT_EQ(next[0].id, fresh) << "nothing is under way any more, so it starts";
        if (log == model::RunLog::kFull) {
            EXPECT_EQ(StateOf(old), RunState::kCancelled);
            EXPECT_EQ(jobs().Get(job.id)->state.last_state, RunState::kCancelled);
        }
        EXPECT_EQ(Report(next[0], EventKind::kSuccess).verdict, model::EventVerdict::kApplied);
        EXPECT_TRUE(ClaimHttp().empty());
    }
}

// A run is started, and then cancelled by the next run of the same claim: the claim returns it with
// the cancel request.
TEST_P(StoreTest, AClaimTellsWhatItHasCancelled) {
    const auto ids = Fires(OverlapPolicy::kCancelOther, 2);
    const auto claimed = ClaimHttp();
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(claimed[0].id, ids[0]);
    EXPECT_TRUE(claimed[0].status.cancel_requested);
    EXPECT_EQ(claimed[0], Read(ids[0]).run);
    EXPECT_TRUE(Read(ids[1]).run.status.blocked);
}

// A fire that already has a run cancels nothing, least of all that run.
TEST_P(StoreTest, ARepeatedFireCancelsNothing) {
    model::Job job = MakeJob("j1");
    job.overlap = OverlapPolicy::kCancelOther;
    Create(job);
    const Uuid id = SubmitOne(MakeFire(job, now_));
    ASSERT_EQ(ClaimHttp().size(), 1U);
    const auto again =
        runs().Submit({.now = now_,
                       .runs = {MakeFire(job, now_)},
                       .start = store::StartAs{.owner = "w", .kind = model::ActionKind::kHttp}});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->at(0).verdict, store::SubmitVerdict::kSameFire);
    EXPECT_EQ(again->at(0).id, id);
    EXPECT_FALSE(Read(id).run.status.cancel_requested);
}

// Of two fires in one batch only one starts.
TEST_P(StoreTest, OfABatchThatCancelsOthersOneStarts) {
    model::Job job = MakeJob("j1");
    job.overlap = OverlapPolicy::kCancelOther;
    Create(job);
    const auto outcomes =
        runs().Submit({.now = now_,
                       .runs = {MakeFire(job, now_ - minutes(1)), MakeFire(job, now_)},
                       .start = store::StartAs{.owner = "w", .kind = model::ActionKind::kHttp}});
    ASSERT_TRUE(outcomes);
    EXPECT_EQ(outcomes->at(0).verdict, store::SubmitVerdict::kStarted);
    EXPECT_EQ(outcomes->at(1).verdict, store::SubmitVerdict::kStored);
    EXPECT_TRUE(Read(outcomes->at(1).id).run.status.blocked);
}

// K-06: a manual run starts whatever is under way, and other runs wait for it.
TEST_P(StoreTest, AManualRunIgnoresIt) {
    const auto ids = Fires(OverlapPolicy::kQueueAll, 1);
    const auto first = ClaimHttp();
    ASSERT_EQ(first.size(), 1U);
    Run manual = MakeFire(*jobs().Get("j1"), now_);
    manual.nominal_at.reset();
    manual.trigger = model::RunTrigger::kManual;
    manual.policy.ignores_overlap = true;
    SubmitOne(manual);
    const auto forced = ClaimHttp();
    ASSERT_EQ(forced.size(), 1U);
    Report(first[0], EventKind::kSuccess);
    now_ += minutes(1);
    const Uuid fire = SubmitOne(MakeFire(*jobs().Get("j1"), now_));
    EXPECT_TRUE(ClaimHttp().empty());
    Report(forced[0], EventKind::kSuccess);
    const auto next = ClaimHttp();
    ASSERT_EQ(next.size(), 1U);
    EXPECT_EQ(next[0].id, fire);
}

// The safety net: the reaper unblocks a run that waits for no other run.
TEST_P(StoreTest, AStrayIsLetGo) {
    Run stray = MakeRun();
    stray.job_id = "gone";
    stray.status.state = RunState::kQueued;
    stray.status.blocked = true;
    stray.created_at = now_;
    stray.updated_at = now_;
    ASSERT_TRUE(store().records().Add({stray}));
    EXPECT_TRUE(Claim(1).empty());
    ASSERT_TRUE(runs().Reap({.now = now_}));
    EXPECT_EQ(Claim(1).size(), 1U);
}

}  // namespace
}  // namespace ksana::conformance
