#include "ksana/model/run/decide.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/time/fake_clock.hpp"

namespace ksana::model {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class DecideTest : public ::testing::Test {
  protected:
    using Run = ::ksana::model::Run;  // hides testing::Test::Run

    // Returns a run in the given state with a plausible history: attempt 1 under exec_id "e1".
    Run In(RunState state) const {
        Run run;
        run.id = *Uuid::Parse("019a8c3e-7b2d-7f00-8abc-0123456789ef");
        run.status.state = state;
        run.status.ready_at = now_ - seconds(1);
        run.status.attempt = 1;
        run.status.fence = 1;
        run.status.exec_id = "e1";
        if (state == RunState::kRunning) {
            run.status.owner = "w1";
            run.status.started_at = now_ - seconds(3);
            run.status.lease_until = now_ + seconds(30);
            run.status.deadline = now_ + seconds(60);
        } else {
            run.status.last_report = EventKind::kRetryableFailure;
        }
        return run;
    }

    struct Made : Transition {
        RunStatus after;
        std::optional<Attempt> attempt;  // the attempt that the event ended
    };

    Made On(const Run& run, const Event& event) const {
        Run after = run;
        after.policy = policy_;
        Made made{Decide(after, event, now_), {}, {}};
        made.after = after.status;
        const bool was_open = run.status.state == RunState::kRunning && !run.status.outcome;
        if (was_open && after.status.outcome) made.attempt = LastAttempt(after);
        return made;
    }
    Made On(RunState state, EventKind kind) const {
        return On(In(state), {.kind = kind, .exec_id = "e1"});
    }

    TimePoint now_ = FakeClock::DefaultStart();
    RunPolicy policy_{
        .retry = {.strategy = RetryStrategy::kFixed, .max_retries = 3, .interval = seconds(5)},
        .timeout = seconds(60)};
};

// G-03, T-02: all pairs of state and event. No event leaves a final state; a refused, stale or
// repeated event changes nothing; the new state is one that the table names.
TEST_F(DecideTest, EveryStateAndEvent) {
    for (std::size_t s = 0; s < kEnumCount<RunState>; ++s) {
        for (std::size_t e = 0; e < kEnumCount<EventKind>; ++e) {
            for (const char* exec_id : {"e1", "stale", "", "e2"}) {
                const Run run = In(static_cast<RunState>(s));
                const auto kind = static_cast<EventKind>(e);
                const Made made = On(run, {.kind = kind, .exec_id = exec_id, .error = "x"});
                const std::string what = std::string(NameOf(run.status.state)) + " on " +
                                         std::string(NameOf(kind)) + " as " + exec_id;
                if (made.verdict != EventVerdict::kApplied) {
                    EXPECT_EQ(made.after, run.status) << what;
                    EXPECT_FALSE(made.attempt) << what;
                    EXPECT_EQ(made.callback, CallbackWanted::kNone) << what;
                    continue;
                }
                EXPECT_FALSE(IsFinal(run.status.state)) << what;
                const std::string targets(TargetsOf(EffectOf(run.status.state, kind)));
                EXPECT_NE(targets.find(NameOf(made.after.state)), std::string::npos) << what;
                EXPECT_EQ(made.after.finished_at.has_value(), IsFinal(made.after.state)) << what;
                EXPECT_EQ(made.after.lease_until.has_value(),
                          made.after.state == RunState::kRunning)
                    << what;
                // An attempt ends exactly when the run leaves `running`.
                EXPECT_EQ(made.attempt.has_value(), run.status.state == RunState::kRunning &&
                                                        made.after.state != RunState::kRunning)
                    << what;
                if (IsFenced(kind)) {
                    EXPECT_STREQ(exec_id, "e1") << what << ": a stale exec_id got in";
                }
            }
        }
    }
}

TEST_F(DecideTest, StartMakesAFreshFencedAttempt) {
    Run run = In(RunState::kQueued);
    const Made made =
        On(run, {.kind = EventKind::kStart, .exec_id = "e2", .owner = "w2", .lease = seconds(30)});
    ASSERT_EQ(made.verdict, EventVerdict::kApplied);
    EXPECT_EQ(made.after.state, RunState::kRunning);
    EXPECT_EQ(made.after.attempt, 2);
    EXPECT_EQ(made.after.fence, 2);
    EXPECT_EQ(made.after.exec_id, "e2");
    EXPECT_EQ(made.after.owner, "w2");
    EXPECT_EQ(made.after.lease_until, now_ + seconds(30));
    EXPECT_EQ(made.after.deadline, now_ + seconds(60));
    EXPECT_FALSE(made.after.last_report);
    EXPECT_EQ(On(run, {.kind = EventKind::kStart, .exec_id = "e1"}).verdict, EventVerdict::kRefused)
        << "an exec_id is never used twice";
    EXPECT_EQ(On(run, {.kind = EventKind::kStart}).verdict, EventVerdict::kRefused);
    run.status.ready_at = now_ + seconds(1);
    EXPECT_EQ(On(run, {.kind = EventKind::kStart, .exec_id = "e2"}).verdict, EventVerdict::kApplied)
        << "its time had come before the clock was set back";
    run.status.state = RunState::kScheduled;
    EXPECT_EQ(On(run, {.kind = EventKind::kStart, .exec_id = "e2"}).verdict, EventVerdict::kRefused)
        << "not before its time";
}

TEST_F(DecideTest, DueWaitsForItsTime) {
    Run run = In(RunState::kScheduled);
    EXPECT_EQ(On(run, {.kind = EventKind::kDue}).after.state, RunState::kQueued);
    run.status.ready_at = now_ + Duration(1);
    EXPECT_EQ(On(run, {.kind = EventKind::kDue}).verdict, EventVerdict::kRefused);
}

TEST_F(DecideTest, ProgressRenewsTheLeaseAndNeverShortensIt) {
    const Run run = In(RunState::kRunning);
    const Made made = On(run, {.kind = EventKind::kProgress,
                               .exec_id = "e1",
                               .lease = seconds(90),
                               .progress = 140,
                               .note = "half"});
    EXPECT_EQ(made.after.lease_until, now_ + seconds(90));
    EXPECT_EQ(made.after.progress, 100) << "kept within 0 and 100";
    EXPECT_EQ(made.after.progress_note, "half");
    EXPECT_EQ(On(run, {.kind = EventKind::kProgress, .exec_id = "e1", .lease = seconds(1)})
                  .after.lease_until,
              run.status.lease_until);
}

// K-09, T-07: retries until they are used up, then failed.
TEST_F(DecideTest, RetryableFailureIsTriedAgainUntilTheRetriesAreUsedUp) {
    Run run = In(RunState::kRunning);
    for (int failure = 1; failure <= 3; ++failure) {
        const Made made = On(
            run,
            {.kind = EventKind::kRetryableFailure, .exec_id = run.status.exec_id, .error = "503"});
        ASSERT_EQ(made.after.state, RunState::kScheduled);
        EXPECT_EQ(made.after.failures, failure);
        EXPECT_EQ(made.after.ready_at, now_ + seconds(5));
        EXPECT_EQ(made.attempt->outcome, AttemptOutcome::kFailed);
        EXPECT_EQ(made.attempt->error, "503");
        run.status = made.after;
        now_ += seconds(5);
        run.status =
            On(run, {.kind = EventKind::kStart, .exec_id = "f" + std::to_string(failure)}).after;
    }
    const Made made = On(
        run, {.kind = EventKind::kRetryableFailure, .exec_id = run.status.exec_id, .error = "503"});
    EXPECT_EQ(made.after.state, RunState::kFailed);
    EXPECT_EQ(made.after.failures, 4);
    EXPECT_EQ(made.after.attempt, 4);
    EXPECT_EQ(made.after.last_error, "503");
}

TEST_F(DecideTest, RetryAfterIsObeyed) {
    const Made made =
        On(In(RunState::kRunning),
           {.kind = EventKind::kRetryableFailure, .exec_id = "e1", .after = minutes(2)});
    EXPECT_EQ(made.after.ready_at, now_ + minutes(2));
}

TEST_F(DecideTest, PermanentFailureIsNotTriedAgain) {
    EXPECT_EQ(On(RunState::kRunning, EventKind::kPermanentFailure).after.state, RunState::kFailed);
}

// K-09: a run whose retries end with a timeout is timed_out. G-08: not_stopping is recorded.
TEST_F(DecideTest, TimeoutIsRetriedThenTimedOut) {
    EXPECT_EQ(On(RunState::kRunning, EventKind::kTimeout).after.state, RunState::kScheduled);
    policy_.retry.strategy = RetryStrategy::kNone;
    const Made made = On(In(RunState::kRunning),
                         {.kind = EventKind::kTimeout, .exec_id = "e1", .not_stopping = true});
    EXPECT_EQ(made.after.state, RunState::kTimedOut);
    EXPECT_TRUE(made.after.not_stopping);
    EXPECT_EQ(made.attempt->outcome, AttemptOutcome::kTimedOut);
    EXPECT_TRUE(made.attempt->not_stopping);
}

// D-10: a lost owner uses up a retry, without its back-off; shutdown and snooze use up none.
TEST_F(DecideTest, WhatCountsAgainstTheRetries) {
    const Made lost = On(RunState::kRunning, EventKind::kLostOwner);
    EXPECT_EQ(lost.after.failures, 1);
    EXPECT_EQ(lost.attempt->outcome, AttemptOutcome::kLost);
    EXPECT_EQ(lost.after.state, RunState::kQueued);
    EXPECT_EQ(lost.after.ready_at, now_);
    Run last = In(RunState::kRunning);
    last.status.failures = last.policy.retry.max_retries;
    EXPECT_EQ(On(last, {.kind = EventKind::kLostOwner, .exec_id = "e1"}).after.state,
              RunState::kFailed);
    const Made released = On(RunState::kRunning, EventKind::kShutdown);
    EXPECT_EQ(released.after.state, RunState::kQueued);
    EXPECT_EQ(released.after.failures, 0);
    const Made snoozed = On(In(RunState::kRunning),
                            {.kind = EventKind::kSnooze, .exec_id = "e1", .after = minutes(1)});
    EXPECT_EQ(snoozed.after.state, RunState::kScheduled);
    EXPECT_EQ(snoozed.after.ready_at, now_ + minutes(1));
    EXPECT_EQ(snoozed.after.failures, 0);
}

// Whatever durations a worker asks for, time arithmetic does not overflow.
TEST_F(DecideTest, LeasesAndSnoozesAreBounded) {
    const Run run = In(RunState::kRunning);
    EXPECT_EQ(On(run, {.kind = EventKind::kSnooze, .exec_id = "e1", .after = Duration::max()})
                  .after.ready_at,
              now_ + kMaxSnooze);
    EXPECT_EQ(On(run, {.kind = EventKind::kSnooze, .exec_id = "e1", .after = Duration::min()})
                  .after.ready_at,
              now_);
    EXPECT_EQ(On(run, {.kind = EventKind::kProgress, .exec_id = "e1", .lease = Duration::max()})
                  .after.lease_until,
              now_ + kMaxLease);
}

// T-08
TEST_F(DecideTest, ExhaustedRunsWaitForAPersonWhereTheTypeSaysSo) {
    policy_.retry.max_retries = 0;
    policy_.need_manual = true;
    policy_.error_callback = true;
    for (const EventKind kind : {EventKind::kRetryableFailure, EventKind::kPermanentFailure,
                                 EventKind::kTimeout, EventKind::kLostOwner}) {
        const Made made = On(RunState::kRunning, kind);
        EXPECT_EQ(made.after.state, RunState::kHeld);
        EXPECT_FALSE(made.after.finished_at);
        EXPECT_EQ(made.callback, CallbackWanted::kNone);
    }
    Run held = In(RunState::kHeld);
    held.status.failures = 4;
    const Made closed = On(held, {.kind = EventKind::kResolve, .remark = "done by hand"});
    EXPECT_EQ(closed.after.state, RunState::kResolved);
    EXPECT_EQ(closed.after.remark, "done by hand");
    const Made back = On(held, {.kind = EventKind::kSendBack});
    EXPECT_EQ(back.after.state, RunState::kQueued);
    EXPECT_EQ(back.after.failures, 0) << "with its retries anew";
    held.status.ready_at = now_ + minutes(5);
    EXPECT_EQ(On(held, {.kind = EventKind::kSendBack}).after.state, RunState::kScheduled)
        << "held before its time: it still waits for it";
}

TEST_F(DecideTest, CallbacksKeepARunCompletingUntilDelivered) {
    policy_.success_callback = true;
    const Made done = On(In(RunState::kRunning),
                         {.kind = EventKind::kSuccess, .exec_id = "e1", .result = "{\"n\":1}"});
    EXPECT_EQ(done.after.state, RunState::kCompleting);
    EXPECT_EQ(done.callback, CallbackWanted::kSuccess);
    EXPECT_EQ(done.after.result, "{\"n\":1}");
    Run run = In(RunState::kCompleting);
    EXPECT_EQ(On(run, {.kind = EventKind::kCallbackFailed, .error = "refused"}).after.state,
              RunState::kCompleting);
    EXPECT_EQ(On(run, {.kind = EventKind::kCallbackDelivered}).after.state, RunState::kSucceeded);
    EXPECT_EQ(On(run, {.kind = EventKind::kCancel}).verdict, EventVerdict::kRefused);
    // The agent asks for no callback.
    EXPECT_EQ(On(In(RunState::kRunning),
                 {.kind = EventKind::kSuccess, .exec_id = "e1", .without_callback = true})
                  .after.state,
              RunState::kSucceeded);
    policy_.error_callback = true;
    EXPECT_EQ(On(RunState::kRunning, EventKind::kPermanentFailure).callback,
              CallbackWanted::kError);
}

TEST_F(DecideTest, CancellingARunningRunAsksItsOwnerFirst) {
    Run run = In(RunState::kRunning);
    const Made asked = On(run, {.kind = EventKind::kCancel});
    EXPECT_EQ(asked.after.state, RunState::kRunning);
    EXPECT_TRUE(asked.after.cancel_requested);
    run.status = asked.after;
    EXPECT_EQ(On(run, {.kind = EventKind::kCancel}).verdict, EventVerdict::kDuplicate);
    EXPECT_EQ(On(run, {.kind = EventKind::kCancelled, .exec_id = "e1"}).after.state,
              RunState::kCancelled);
    for (const EventKind kind :
         {EventKind::kRetryableFailure, EventKind::kPermanentFailure, EventKind::kTimeout,
          EventKind::kLostOwner, EventKind::kShutdown, EventKind::kSnooze}) {
        const Made ended = On(run, {.kind = kind, .exec_id = "e1"});
        EXPECT_EQ(ended.after.state, RunState::kCancelled) << NameOf(kind);
        EXPECT_EQ(ended.attempt->outcome, AttemptOutcome::kCancelled);
    }
    EXPECT_EQ(On(run, {.kind = EventKind::kSuccess, .exec_id = "e1"}).after.state,
              RunState::kSucceeded)
        << "what was done is done";
}

// Promise 4: a repeated report gets the same answer; a different report of an attempt that is over
// is refused.
TEST_F(DecideTest, RepeatedReportsAreKnownAgainAndLateOnesRefused) {
    Run run = In(RunState::kRunning);
    run.status = On(run, {.kind = EventKind::kSuccess, .exec_id = "e1"}).after;
    EXPECT_EQ(On(run, {.kind = EventKind::kSuccess, .exec_id = "e1"}).verdict,
              EventVerdict::kDuplicate);
    EXPECT_EQ(On(run, {.kind = EventKind::kRetryableFailure, .exec_id = "e1"}).verdict,
              EventVerdict::kRefused)
        << "it contradicts the first";

    run = In(RunState::kRunning);
    run.status = On(run, {.kind = EventKind::kLostOwner, .exec_id = "e1"}).after;
    const Made late = On(run, {.kind = EventKind::kSuccess, .exec_id = "e1"});
    EXPECT_EQ(late.verdict, EventVerdict::kStale) << "the reaper was first";
    EXPECT_FALSE(late.reason.empty());
}

TEST_F(DecideTest, SkippedAndMissedRunsSayWhy) {
    const Made skipped =
        On(In(RunState::kRunning),
           {.kind = EventKind::kSkip, .exec_id = "e1", .reason = SkipReason::kLock});
    EXPECT_EQ(skipped.after.state, RunState::kSkipped);
    EXPECT_EQ(skipped.after.skip_reason, SkipReason::kLock);
    EXPECT_EQ(skipped.attempt->outcome, AttemptOutcome::kSkipped);
    EXPECT_EQ(On(In(RunState::kRunning), {.kind = EventKind::kSkip, .exec_id = "e9"}).verdict,
              EventVerdict::kStale);
    EXPECT_EQ(On(RunState::kQueued, EventKind::kMiss).after.state, RunState::kMissed);
}

// Random sequences of events keep the invariants.
TEST_F(DecideTest, RandomLivesKeepTheInvariants) {
    SeededRandom random(5);
    for (int life = 0; life < 3'000; ++life) {
        policy_.need_manual = random.Below(2) == 0;
        policy_.success_callback = random.Below(2) == 0;
        policy_.retry.max_retries = static_cast<int>(random.Below(3));
        Run run = In(RunState::kScheduled);
        run.status = {};
        int ended = 0;
        int starts = 0;
        for (int step = 0; step < 60; ++step) {
            now_ += seconds(random.Below(10));
            Event event{.kind = static_cast<EventKind>(random.Below(kEnumCount<EventKind>)),
                        .exec_id = run.status.exec_id};
            if (event.kind == EventKind::kStart) event.exec_id = "e" + std::to_string(starts + 1);
            const RunStatus before = run.status;
            const Made made = On(run, event);
            ended += made.attempt.has_value() ? 1 : 0;
            starts +=
                made.verdict == EventVerdict::kApplied && event.kind == EventKind::kStart ? 1 : 0;
            run.status = made.after;
            ASSERT_GE(run.status.fence, before.fence);
            ASSERT_EQ(run.status.attempt, starts);
            ASSERT_EQ(ended, starts - (run.status.state == RunState::kRunning ? 1 : 0));
            ASSERT_LE(run.status.failures, policy_.retry.max_retries + 1);
            if (IsFinal(before.state)) {
                ASSERT_EQ(run.status, before);
            }
        }
    }
}

// Overlap: a blocked run is queued but not claimable; any transition clears the flag.
TEST_F(DecideTest, BlockedRunsWait) {
    Run run = In(RunState::kScheduled);
    Made made = On(run, {.kind = EventKind::kBlock});
    ASSERT_EQ(made.verdict, EventVerdict::kApplied);
    EXPECT_EQ(made.after.state, RunState::kQueued);
    EXPECT_TRUE(made.after.blocked);
    run.status = made.after;
    EXPECT_EQ(On(run, {.kind = EventKind::kBlock}).verdict, EventVerdict::kDuplicate);
    EXPECT_EQ(On(run, {.kind = EventKind::kStart, .exec_id = "e2"}).verdict,
              EventVerdict::kRefused);
    EXPECT_FALSE(On(run, {.kind = EventKind::kCancel}).after.blocked);
    made = On(run, {.kind = EventKind::kUnblock});
    EXPECT_FALSE(made.after.blocked);
    run.status = made.after;
    EXPECT_EQ(On(run, {.kind = EventKind::kUnblock}).verdict, EventVerdict::kDuplicate);
    EXPECT_EQ(On(run, {.kind = EventKind::kStart, .exec_id = "e2"}).verdict,
              EventVerdict::kApplied);
}

// D-12: LastAttempt returns the same values as a stored attempt.
TEST_F(DecideTest, TheRunRowHoldsItsLastAttempt) {
    Run run = In(RunState::kRunning);
    EXPECT_EQ(LastAttempt(run)->owner, "w1");
    EXPECT_FALSE(LastAttempt(run)->ended_at);
    for (const EventKind kind : {EventKind::kRetryableFailure, EventKind::kPermanentFailure,
                                 EventKind::kSuccess, EventKind::kTimeout, EventKind::kSnooze}) {
        const Made made = On(run, {.kind = kind,
                                   .exec_id = "e1",
                                   .error = kind == EventKind::kSuccess ? "" : "boom",
                                   .detail = "{}"});
        ASSERT_TRUE(made.attempt);
        EXPECT_EQ(made.attempt->number, 1);
        EXPECT_EQ(made.attempt->exec_id, "e1");
        EXPECT_EQ(made.attempt->owner, "w1");
        EXPECT_EQ(made.attempt->error, made.after.last_error) << NameOf(kind);
        EXPECT_EQ(made.attempt->ended_at, now_);
        EXPECT_EQ(made.attempt->detail, "{}");
    }
    run.status.attempt = 0;
    EXPECT_FALSE(LastAttempt(run));
}

// T-05, D-06: an expired lease means a lost owner; an expired deadline means a timeout, after the
// stop grace.
TEST_F(DecideTest, WhatTheReaperDoes) {
    Run run = In(RunState::kRunning);
    run.status.lease_until = now_ + seconds(30);
    run.status.deadline = now_ + seconds(10);
    run.policy.stop_grace = seconds(5);
    EXPECT_EQ(ExpiresAt(run), now_ + seconds(15));
    EXPECT_FALSE(OverdueEvent(run, now_ + seconds(14)));
    auto event = OverdueEvent(run, now_ + seconds(15));
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, EventKind::kTimeout);
    EXPECT_EQ(event->exec_id, "e1");
    EXPECT_TRUE(event->not_stopping);
    run.status.lease_until = now_;
    event = OverdueEvent(run, now_);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, EventKind::kLostOwner);
    EXPECT_FALSE(OverdueEvent(In(RunState::kQueued), now_ + minutes(1)));
}

TEST_F(DecideTest, AUniqueKeyIsHeldByStateAndTime) {
    Run run = In(RunState::kRunning);
    EXPECT_FALSE(HoldsKey(run, now_)) << "there is none";
    run.unique.key = "k";
    EXPECT_TRUE(HoldsKey(run, now_));
    run.status.state = RunState::kSucceeded;
    EXPECT_FALSE(HoldsKey(run, now_));
    run.unique.states = kAllStates;
    EXPECT_TRUE(HoldsKey(run, now_));
    run.unique.until = now_;
    EXPECT_FALSE(HoldsKey(run, now_));
}

// A deferred attempt does not count: the next attempt takes its number, with a new fence.
TEST_F(DecideTest, AnAttemptThatWasDeferredGivesItsNumberToTheNext) {
    Run run = In(RunState::kRunning);
    const Made away = On(run, {.kind = EventKind::kSnooze,
                               .exec_id = "e1",
                               .detail = "{\"waits\":1}",
                               .after = minutes(1),
                               .not_begun = true});
    ASSERT_EQ(away.verdict, EventVerdict::kApplied);
    EXPECT_EQ(away.after.state, RunState::kScheduled);
    EXPECT_EQ(away.after.outcome, AttemptOutcome::kDeferred);
    EXPECT_EQ(away.after.detail, "{\"waits\":1}");
    EXPECT_EQ(away.after.ready_at, now_ + minutes(1));
    EXPECT_EQ(away.after.failures, 0);
    run.status = away.after;
    now_ += minutes(1);
    const Made again = On(run, {.kind = EventKind::kStart, .exec_id = "e2"});
    ASSERT_EQ(again.verdict, EventVerdict::kApplied);
    EXPECT_EQ(again.after.attempt, 1);
    EXPECT_EQ(again.after.fence, 2);
    EXPECT_EQ(again.after.detail, "");
    EXPECT_FALSE(again.after.outcome);
}

// An attempt that the message broker has, noted as handed out.
class BrokerAttemptTest : public DecideTest {
  protected:
    Run AtBroker() const {
        Run run = In(RunState::kRunning);
        run.status.owner = kBrokerOwner;
        run.status.detail = R"({"waits":{"reason":"broker","for":"ksana.tasks"}})";
        run.policy = policy_;
        return run;
    }
    Event Says(EventKind kind, std::string owner) const {
        return {.kind = kind, .exec_id = "e1", .owner = std::move(owner), .lease = minutes(1)};
    }
};

// D-02
TEST_F(BrokerAttemptTest, AConsumerBeginsItOnce) {
    const Run run = AtBroker();
    const Made taken = On(run, Says(EventKind::kTake, "c1"));
    EXPECT_EQ(taken.verdict, EventVerdict::kApplied);
    EXPECT_EQ(taken.after.state, RunState::kRunning);
    EXPECT_EQ(taken.after.owner, "c1");
    EXPECT_EQ(taken.after.started_at, now_);
    EXPECT_EQ(taken.after.deadline, now_ + policy_.timeout);
    EXPECT_EQ(taken.after.lease_until, now_ + minutes(1));
    EXPECT_EQ(taken.after.detail, "") << "it waits for nothing any more";

    Run with_c1 = run;
    with_c1.status = taken.after;
    EXPECT_EQ(On(with_c1, Says(EventKind::kTake, "c1")).verdict, EventVerdict::kDuplicate);
    // The broker delivered the message twice: one exec_id, two consumers.
    for (const EventKind kind : {EventKind::kTake, EventKind::kProgress, EventKind::kSuccess}) {
        EXPECT_EQ(On(with_c1, Says(kind, "c2")).verdict, EventVerdict::kStale) << NameOf(kind);
    }
    EXPECT_EQ(On(with_c1, Says(EventKind::kSuccess, "c1")).verdict, EventVerdict::kApplied);
    // The note that it was handed out comes last.
    Event late = Says(EventKind::kProgress, std::string(kBrokerOwner));
    late.not_begun = true;
    EXPECT_EQ(On(with_c1, late).verdict, EventVerdict::kStale);
}

TEST_F(BrokerAttemptTest, WithoutALeaseItsTimeoutEndsIt) {
    Event take = Says(EventKind::kTake, "c1");
    take.lease = {};
    const Made taken = On(AtBroker(), take);
    EXPECT_FALSE(taken.after.lease_until);
    EXPECT_EQ(taken.after.deadline, now_ + policy_.timeout);
}

TEST_F(BrokerAttemptTest, TheEndMayComeBeforeTheBeginning) {
    const Run run = AtBroker();
    const Made done = On(run, Says(EventKind::kSuccess, "c1"));
    EXPECT_EQ(done.verdict, EventVerdict::kApplied);
    EXPECT_EQ(done.after.state, RunState::kSucceeded);
    EXPECT_EQ(done.after.owner, "c1");
    Run over = run;
    over.status = done.after;
    EXPECT_EQ(On(over, Says(EventKind::kTake, "c1")).verdict, EventVerdict::kStale);
    EXPECT_EQ(On(over, Says(EventKind::kSuccess, "c1")).verdict, EventVerdict::kDuplicate);
}

TEST_F(BrokerAttemptTest, ALostMessageUsesUpNothing) {
    Run run = AtBroker();
    const auto overdue = OverdueEvent(run, now_ + minutes(5));
    ASSERT_TRUE(overdue);
    const Made back = On(run, *overdue);
    EXPECT_EQ(back.after.state, RunState::kQueued);
    EXPECT_EQ(back.after.ready_at, now_);
    EXPECT_EQ(back.after.failures, 0) << "no retry is used up";
    EXPECT_EQ(back.after.outcome, AttemptOutcome::kReleased);
    run.status = back.after;
    const Made again = On(run, {.kind = EventKind::kStart, .exec_id = "e2"});
    EXPECT_EQ(again.after.attempt, 2) << "somebody may have begun the first one";
}

// G-04
TEST_F(BrokerAttemptTest, ACancelNeedsNobodysConsent) {
    const Made cancelled = On(AtBroker(), {.kind = EventKind::kCancel});
    EXPECT_EQ(cancelled.after.state, RunState::kCancelled);
    EXPECT_EQ(cancelled.after.finished_at, now_);
}

TEST_F(DecideTest, WhoWaitsAtItsOwnerIsJudgedByItsLeaseAlone) {
    Run run = In(RunState::kRunning);
    policy_.timeout = seconds(1);
    Event waits{.kind = EventKind::kProgress, .exec_id = "e1", .lease = seconds(30)};
    waits.not_begun = true;
    waits.detail = "{}";
    run.status = On(run, waits).after;
    EXPECT_GT(*run.status.deadline, *run.status.lease_until);
    EXPECT_EQ(run.status.detail, "{}");
    now_ += seconds(20);
    waits.detail.clear();
    run.status = On(run, waits).after;
    EXPECT_EQ(run.status.started_at, now_) << "now it begins";
    EXPECT_EQ(run.status.deadline, now_ + seconds(1));
    EXPECT_EQ(run.status.detail, "");
}

}  // namespace
}  // namespace ksana::model
