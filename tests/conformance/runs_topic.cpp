// Submitting and reporting.
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::EventKind;
using model::EventVerdict;
using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;
using store::SubmitVerdict;

// T-01: a run is returned as it was submitted.
TEST_P(StoreTest, ARunComesBackAsItWent) {
    Run run = MakeRun();
    run.tenant = "acme";
    run.category = "bulk";
    run.creator = "ann";
    run.kind = model::ActionKind::kCommand;
    run.trigger = model::RunTrigger::kManual;
    run.priority = 9;
    run.selector = {{"gpu", "yes"}, {"zone", "a"}};
    run.unique = {.key = "k1", .states = model::kAllStates, .until = now_ + minutes(1)};
    run.parent = ids_.Next();
    run.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    run.policy.retry = {.strategy = model::RetryStrategy::kSequence,
                        .max_retries = 3,
                        .interval = seconds(1),
                        .sequence = {seconds(1), seconds(2)},
                        .max_interval = minutes(7),
                        .jitter = 0.25};
    run.policy.stop_grace = seconds(3);
    run.policy.overlap = model::OverlapPolicy::kQueueAll;
    run.policy.ignores_overlap = true;
    run.policy.run_log = model::RunLog::kTrigger;
    run.policy.need_manual = true;
    run.policy.success_callback = true;
    run.policy.error_callback = true;
    run.status.ready_at = now_ + Duration(1);
    const auto outcomes = Submit({run});
    ASSERT_EQ(outcomes.size(), 1U);
    EXPECT_EQ(outcomes[0].verdict, SubmitVerdict::kStored);
    EXPECT_EQ(outcomes[0].id, run.id);
    run.created_at = now_;
    run.updated_at = now_;
    EXPECT_EQ(Read(run.id).run, run);
    EXPECT_TRUE(Read(run.id).attempts.empty());
}

// D-13: the trace that a run belongs to stays with it; reports return the runs to who asks.
TEST_P(StoreTest, ReportsReturnTheRunsAndTheirTrace) {
    Run run = MakeRun();
    run.trace_parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    run.policy.retry = {.max_retries = 1, .interval = seconds(7)};
    SubmitOne(run);
    const Run claimed = ClaimOne();
    EXPECT_EQ(claimed.trace_parent, run.trace_parent);
    const auto report = [&](EventKind kind) {
        auto exchanged = runs().Exchange(
            {.now = now_,
             .events = {{run.id,
                         {.kind = kind, .exec_id = claimed.status.exec_id, .lease = seconds(30)}}},
             .want_runs = true});
        return exchanged->applied.at(0);
    };
    now_ += seconds(1);
    EXPECT_EQ(report(EventKind::kProgress).run, nullptr);
    const store::Applied ended = report(EventKind::kRetryableFailure);
    ASSERT_NE(ended.run, nullptr);
    EXPECT_EQ(ended.run->status, Read(run.id).run.status);
    EXPECT_EQ(ended.run->updated_at, now_);
    EXPECT_EQ(ended.run->trace_parent, run.trace_parent);
    EXPECT_EQ(ended.ready_at, claimed.status.ready_at);
    EXPECT_EQ(ended.run->status.ready_at, now_ + seconds(7));
    EXPECT_EQ(report(EventKind::kRetryableFailure).run, nullptr) << "it changed nothing";
}

TEST_P(StoreTest, TheStoreDrawsIds) {
    Run run = MakeRun();
    run.id = {};
    const auto outcomes = Submit({run, run});
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_FALSE(outcomes[0].id.IsNil());
    EXPECT_NE(outcomes[0].id, outcomes[1].id);
    EXPECT_EQ(StateOf(outcomes[1].id), RunState::kQueued);
}

// A repeated call stores the run once.
TEST_P(StoreTest, TheSameIdIsStoredOnce) {
    const Run run = MakeRun();
    const auto both = Submit({run, run});
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].verdict, SubmitVerdict::kStored);
    EXPECT_EQ(both[1].verdict, SubmitVerdict::kSameId);
    EXPECT_EQ(Submit({run})[0].verdict, SubmitVerdict::kSameId);
    EXPECT_EQ(*runs().Count({}, 100), 1);
}

// D-03: success is final and keeps its time and result.
TEST_P(StoreTest, SuccessEndsARun) {
    SubmitOne(MakeRun());
    const Run run = ClaimOne();
    now_ += seconds(2);
    const auto applied = Apply(run.id, {.kind = EventKind::kSuccess,
                                        .exec_id = run.status.exec_id,
                                        .result = R"({"ok":true})",
                                        .detail = R"({"status":200})"});
    EXPECT_EQ(applied.verdict, EventVerdict::kApplied);
    EXPECT_EQ(applied.state, RunState::kSucceeded);
    const auto history = Read(run.id);
    EXPECT_EQ(history.run.status.state, RunState::kSucceeded);
    EXPECT_EQ(history.run.status.finished_at, now_);
    EXPECT_EQ(history.run.status.result, R"({"ok":true})");
    EXPECT_EQ(history.run.payload, run.payload);
    EXPECT_EQ(history.run.updated_at, now_);
    ASSERT_EQ(history.attempts.size(), 1U);
    EXPECT_EQ(history.attempts[0].outcome, model::AttemptOutcome::kSucceeded);
    EXPECT_EQ(history.attempts[0].detail, R"({"status":200})");
}

// An attempt that a limit held back is not counted, and the next attempt replaces it.
TEST_P(StoreTest, AnAttemptThatNeverBeganLeavesNoRow) {
    const Uuid id = SubmitOne(MakeRun());
    for (int round = 0; round < 3; ++round) {
        const Run run = ClaimOne();
        EXPECT_EQ(run.status.attempt, 1);
        EXPECT_EQ(run.status.fence, round + 1);
        model::Event away{.kind = EventKind::kSnooze, .exec_id = run.status.exec_id};
        away.detail = R"({"waits":{"reason":"limited","for":"group:g","before":0}})";
        away.after = seconds(10);
        away.not_begun = true;
        EXPECT_EQ(Apply(id, away).state, RunState::kScheduled);
        const auto history = Read(id);
        ASSERT_EQ(history.attempts.size(), 1U);
        EXPECT_EQ(history.attempts[0].outcome, model::AttemptOutcome::kDeferred);
        EXPECT_EQ(history.run.status.detail, away.detail);
        EXPECT_EQ(history.run.status.failures, 0);
        now_ += seconds(10);
    }
    const Run run = ClaimOne();
    model::Event begins{.kind = EventKind::kProgress, .exec_id = run.status.exec_id};
    begins.lease = seconds(30);
    begins.not_begun = true;
    begins.detail = "{}";
    now_ += seconds(5);
    EXPECT_EQ(Apply(id, begins).verdict, EventVerdict::kApplied);
    EXPECT_EQ(Read(id).run.status.detail, "{}") << "while it waits";
    now_ += seconds(5);
    begins.detail.clear();
    EXPECT_EQ(Apply(id, begins).verdict, EventVerdict::kApplied);
    EXPECT_EQ(Read(id).run.status.started_at, now_);
    EXPECT_EQ(Apply(id, {.kind = EventKind::kSuccess, .exec_id = run.status.exec_id}).state,
              RunState::kSucceeded);
    EXPECT_EQ(Read(id).attempts.size(), 1U);
}

// D-12, T-07: every attempt is kept with its error until the retries are used up.
TEST_P(StoreTest, RetriesKeepTheirAttempts) {
    const Uuid id = SubmitOne(MakeRun());
    std::set<std::string> exec_ids;
    for (int attempt = 1; attempt <= 3; ++attempt) {
        const Run run = ClaimOne();
        ASSERT_EQ(run.id, id);
        EXPECT_EQ(run.status.attempt, attempt);
        EXPECT_EQ(run.status.fence, attempt);
        EXPECT_TRUE(exec_ids.insert(run.status.exec_id).second);
        now_ += seconds(1);
        const auto applied =
            Report(run, EventKind::kRetryableFailure, "boom " + std::to_string(attempt));
        EXPECT_EQ(applied.state, attempt < 3 ? RunState::kScheduled : RunState::kFailed);
        EXPECT_TRUE(Claim(1).empty()) << "not before the back-off";
        now_ += seconds(5);
    }
    const auto history = Read(id);
    ASSERT_EQ(history.attempts.size(), 3U);
    for (int i = 0; i < 3; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(history.attempts[at].number, i + 1);
        EXPECT_EQ(history.attempts[at].error, "boom " + std::to_string(i + 1));
        EXPECT_EQ(history.attempts[at].owner, "w1");
        EXPECT_EQ(*history.attempts[at].ended_at - history.attempts[at].started_at, seconds(1));
    }
    EXPECT_EQ(history.run.status.failures, 3);
}

// Each report has its own outcome, and a refused one does not affect the others.
TEST_P(StoreTest, ABatchOfReportsAnswersEach) {
    Submit({MakeRun(), MakeRun(), MakeRun()});
    const auto claimed = Claim(3);
    ASSERT_EQ(claimed.size(), 3U);
    const auto event = [](const Run& run, EventKind kind) {
        return model::RunEvent{run.id, {.kind = kind, .exec_id = run.status.exec_id}};
    };
    const Uuid nobody = ids_.Next();
    auto applied = runs().Apply({event(claimed[0], EventKind::kSuccess),
                                 {claimed[1].id, {.kind = EventKind::kSuccess, .exec_id = "old"}},
                                 {nobody, {.kind = EventKind::kCancel}},
                                 event(claimed[2], EventKind::kResolve),
                                 event(claimed[0], EventKind::kSuccess),
                                 event(claimed[2], EventKind::kPermanentFailure)},
                                now_);
    ASSERT_TRUE(applied);
    ASSERT_EQ(applied->size(), 6U);
    EXPECT_EQ(applied->at(0).verdict, EventVerdict::kApplied);
    EXPECT_EQ(applied->at(1).verdict, EventVerdict::kStale);
    EXPECT_FALSE(applied->at(1).reason.empty());
    EXPECT_EQ(applied->at(2).verdict, EventVerdict::kNotFound);
    EXPECT_EQ(applied->at(3).verdict, EventVerdict::kRefused);
    EXPECT_EQ(applied->at(4).verdict, EventVerdict::kDuplicate);
    EXPECT_EQ(applied->at(5).verdict, EventVerdict::kApplied);
    EXPECT_EQ(StateOf(claimed[0].id), RunState::kSucceeded);
    EXPECT_EQ(StateOf(claimed[1].id), RunState::kRunning);
    EXPECT_EQ(StateOf(claimed[2].id), RunState::kFailed);
}

// D-14: who counts learns of the run and of its attempt from the verdict.
TEST_P(StoreTest, AReportIsAnsweredWithWhatItWasAbout) {
    Run run = MakeRun();
    run.type = "mail";
    Submit({run});
    const auto claimed = Claim(1);
    ASSERT_EQ(claimed.size(), 1U);
    now_ += seconds(3);
    const auto beat = Report(claimed[0], EventKind::kProgress);
    EXPECT_EQ(beat.took, std::nullopt) << "it goes on";
    now_ += seconds(4);
    const auto applied = Report(claimed[0], EventKind::kSuccess);
    EXPECT_EQ(applied.verdict, EventVerdict::kApplied);
    EXPECT_EQ(applied.kind, model::ActionKind::kQueue);
    EXPECT_EQ(applied.type, "mail");
    EXPECT_EQ(applied.took, Duration(seconds(7)));
}

// Promise 4: after every end of an attempt, its exec_id changes nothing any more.
TEST_P(StoreTest, EveryStaleReportIsRefused) {
    const EventKind ends[] = {EventKind::kSuccess,  EventKind::kRetryableFailure,
                              EventKind::kTimeout,  EventKind::kLostOwner,
                              EventKind::kShutdown, EventKind::kSnooze};
    const EventKind reports[] = {EventKind::kSuccess,          EventKind::kRetryableFailure,
                                 EventKind::kPermanentFailure, EventKind::kProgress,
                                 EventKind::kTimeout,          EventKind::kCancelled,
                                 EventKind::kSnooze,           EventKind::kShutdown};
    for (const EventKind end : ends) {
        const Uuid id = SubmitOne(MakeRun());
        const Run run = ClaimOne();
        ASSERT_EQ(Report(run, end, "x").verdict, EventVerdict::kApplied);
        now_ += minutes(1);
        Run again = run;
        if (!model::IsFinal(StateOf(id))) again = ClaimOne();
        const Run before = Read(id).run;
        for (const EventKind report : reports) {
            const auto verdict = Report(run, report, "late").verdict;
            const bool over = model::IsFinal(before.status.state);
            const bool contradicts = over && report != EventKind::kProgress;
            EXPECT_EQ(verdict, over && report == end ? EventVerdict::kDuplicate
                               : contradicts         ? EventVerdict::kRefused
                                                     : EventVerdict::kStale)
                << model::NameOf(end) << " then " << model::NameOf(report);
            EXPECT_EQ(Read(id).run, before) << model::NameOf(report) << " changed something";
        }
        if (again.status.exec_id != run.status.exec_id) {
            EXPECT_EQ(Report(again, EventKind::kSuccess).verdict, EventVerdict::kApplied);
        }
    }
}

// T-05: an attempt past its lease or deadline ends once, and its late report is refused.
TEST_P(StoreTest, TheReaperTakesWhatIsOverdue) {
    Submit({MakeRun(), MakeRun()});
    const Run first = ClaimOne();
    now_ += seconds(10);
    const Run second = ClaimOne();
    now_ += seconds(20);
    auto reaped = runs().Reap({.now = now_});
    ASSERT_TRUE(reaped);
    ASSERT_EQ(reaped->runs.size(), 1U);
    EXPECT_EQ(reaped->runs[0].id, first.id);
    EXPECT_EQ(reaped->runs[0].status.state, RunState::kQueued);
    EXPECT_EQ(runs().Reap({.now = now_})->runs.size(), 0U);
    EXPECT_EQ(Report(first, EventKind::kSuccess).verdict, EventVerdict::kStale);
    EXPECT_EQ(Report(second, EventKind::kSuccess).verdict, EventVerdict::kApplied);
    EXPECT_EQ(Read(first.id).attempts[0].outcome, model::AttemptOutcome::kLost);
}

TEST_P(StoreTest, AHeartbeatKeepsALeaseAlive) {
    SubmitOne(MakeRun());
    const Run run = ClaimOne();
    now_ += seconds(20);
    const auto beat = Apply(run.id, {.kind = EventKind::kProgress,
                                     .exec_id = run.status.exec_id,
                                     .lease = seconds(45),
                                     .progress = 40,
                                     .note = "almost"});
    EXPECT_EQ(beat.verdict, EventVerdict::kApplied);
    EXPECT_FALSE(beat.cancel_requested);
    now_ += seconds(20);
    EXPECT_EQ(runs().Reap({.now = now_})->runs.size(), 0U);
    EXPECT_EQ(Read(run.id).run.status.progress, 40);
    EXPECT_EQ(Read(run.id).run.status.progress_note, "almost");
    now_ += seconds(20);  // the deadline of 60 s ends it in spite of its heartbeats
    auto reaped = runs().Reap({.now = now_});
    ASSERT_TRUE(reaped);
    ASSERT_EQ(reaped->runs.size(), 1U);
    EXPECT_EQ(Read(run.id).attempts[0].outcome, model::AttemptOutcome::kTimedOut);
}

// D-06, D-10: the runs of an owner that is known to be gone are released at once.
TEST_P(StoreTest, LostOwnersLoseTheirRuns) {
    Submit({MakeRun(), MakeRun(), MakeRun()});
    Claim(1, {}, "node-a:1");
    Claim(1, {}, "node-a:1");
    const auto other = Claim(1, {}, "node-b:1");
    auto reaped = runs().Reap({.now = now_, .lost_owners = {"node-a:1", "nobody"}});
    ASSERT_TRUE(reaped);
    EXPECT_EQ(reaped->runs.size(), 2U);
    EXPECT_EQ(StateOf(other[0].id), RunState::kRunning);
}

TEST_P(StoreTest, CancelReachesTheOwner) {
    const Uuid waiting = SubmitOne(MakeRun("other"));
    EXPECT_EQ(Apply(waiting, {.kind = EventKind::kCancel}).state, RunState::kCancelled);
    SubmitOne(MakeRun());
    const Run run = ClaimOne();
    EXPECT_EQ(Apply(run.id, {.kind = EventKind::kCancel}).state, RunState::kRunning);
    const auto beat =
        Apply(run.id,
              {.kind = EventKind::kProgress, .exec_id = run.status.exec_id, .lease = seconds(30)});
    EXPECT_TRUE(beat.cancel_requested);
    EXPECT_EQ(Report(run, EventKind::kRetryableFailure, "stopped").state, RunState::kCancelled);
    EXPECT_TRUE(Claim(1).empty());
}

// T-08, T-09: a run whose retries are used up waits for a person.
TEST_P(StoreTest, HeldRunsWaitForAPerson) {
    Run run = MakeRun();
    run.policy.need_manual = true;
    run.policy.retry.max_retries = 0;
    SubmitOne(run);
    EXPECT_EQ(Report(ClaimOne(), EventKind::kRetryableFailure, "x").state, RunState::kHeld);
    EXPECT_EQ(Apply(run.id, {.kind = EventKind::kSendBack}).state, RunState::kQueued);
    EXPECT_EQ(Report(ClaimOne(), EventKind::kRetryableFailure, "y").state, RunState::kHeld);
    EXPECT_EQ(Apply(run.id, {.kind = EventKind::kResolve, .remark = "by hand"}).state,
              RunState::kResolved);
    EXPECT_EQ(Read(run.id).run.status.remark, "by hand");
    EXPECT_EQ(Read(run.id).attempts.size(), 2U);
}

// T-10: the callback is stored with the report that asks for it, or not at all.
TEST_P(StoreTest, CallbacksAreStoredWithTheReport) {
    Run run = MakeRun();
    run.policy.success_callback = true;
    SubmitOne(run);
    const Run claimed = ClaimOne();
    const Uuid callback_id = ids_.Next();
    auto exchanged = runs().Exchange(
        {.now = now_,
         .events = {{claimed.id, {.kind = EventKind::kSuccess, .exec_id = claimed.status.exec_id}}},
         .follow_up = [&](const Run& after, model::CallbackWanted wanted) {
             EXPECT_EQ(wanted, model::CallbackWanted::kSuccess);
             Run callback = MakeRun("callback");
             callback.id = callback_id;
             callback.parent = after.id;
             return std::vector<Run>{callback};
         }});
    ASSERT_TRUE(exchanged);
    EXPECT_EQ(exchanged->applied[0].callback, model::CallbackWanted::kSuccess);
    EXPECT_EQ(StateOf(claimed.id), RunState::kCompleting);
    EXPECT_EQ(Read(callback_id).run.parent, claimed.id);
    EXPECT_EQ(Apply(claimed.id, {.kind = EventKind::kCallbackDelivered}).state,
              RunState::kSucceeded);
}

// One call ends a run and claims the next.
TEST_P(StoreTest, AnExchangeReportsAndClaims) {
    Submit({MakeRun(), MakeRun()});
    const Run first = ClaimOne();
    auto exchanged = runs().Exchange(
        {.now = now_,
         .events = {{first.id, {.kind = EventKind::kSuccess, .exec_id = first.status.exec_id}}},
         .claim = store::ClaimParams{.owner = "w1", .limit = 5}});
    ASSERT_TRUE(exchanged);
    EXPECT_EQ(exchanged->applied.size(), 1U);
    ASSERT_EQ(exchanged->claimed.runs.size(), 1U);
    EXPECT_NE(exchanged->claimed.runs[0].id, first.id);
}

// A run that can start at once is stored as started.
TEST_P(StoreTest, SubmitAndStart) {
    Run later = MakeRun();
    later.status.ready_at = now_ + seconds(1);
    Run other_kind = MakeRun();
    other_kind.kind = model::ActionKind::kHttp;
    auto outcomes = runs().Submit({.now = now_,
                                   .runs = {MakeRun(), later, other_kind, MakeRun()},
                                   .start = store::StartAs{.owner = "me", .limit = 1}});
    ASSERT_TRUE(outcomes);
    ASSERT_EQ(outcomes->size(), 4U);
    ASSERT_EQ(outcomes->at(0).verdict, SubmitVerdict::kStarted);
    const Run started = *outcomes->at(0).started;
    EXPECT_EQ(started.status.owner, "me");
    EXPECT_EQ(Read(started.id).run, started);
    for (const std::size_t i : {1U, 2U, 3U}) {
        EXPECT_EQ(outcomes->at(i).verdict, SubmitVerdict::kStored) << i;
    }
    EXPECT_EQ(Report(started, EventKind::kSuccess).verdict, EventVerdict::kApplied);
}

TEST_P(StoreTest, NextWakeAndDepths) {
    EXPECT_FALSE(runs().NextWake()->ready);
    Run later = MakeRun("b");
    later.status.ready_at = now_ + minutes(3);
    Submit({MakeRun("a"), MakeRun("a"), later});
    auto wake = runs().NextWake();
    ASSERT_TRUE(wake);
    EXPECT_TRUE(wake->queued);
    EXPECT_EQ(wake->ready, now_ + minutes(3));
    EXPECT_FALSE(wake->expiry);
    EXPECT_FALSE(wake->plan);
    Claim(1, {.types = {"a"}});
    EXPECT_EQ(runs().NextWake()->expiry, now_ + seconds(30));
    auto depths = runs().Depths();
    ASSERT_TRUE(depths);
    ASSERT_EQ(depths->size(), 3U);
    EXPECT_EQ(depths->at(0),
              (store::QueueDepth{model::ActionKind::kQueue, "a", RunState::kQueued, 1, now_}));
    EXPECT_EQ(depths->at(1),
              (store::QueueDepth{model::ActionKind::kQueue, "a", RunState::kRunning, 1, now_}));
    EXPECT_EQ(depths->at(2), (store::QueueDepth{model::ActionKind::kQueue, "b",
                                                RunState::kScheduled, 1, now_ + minutes(3)}));
}

// The outcomes contain what the answer to the submitter needs, without another read.
TEST_P(StoreTest, ASubmissionTellsWhatWasStored) {
    Run plain = MakeRun();
    plain.status.ready_at = {};
    Run keyed = MakeRun();
    keyed.unique.key = "k";
    Run later = MakeRun();
    later.status.ready_at = now_ + minutes(1);
    const std::vector<Run> batch = {plain, keyed, later};
    auto stored = runs().Submit({.now = now_, .runs = batch, .want_runs = true});
    ASSERT_TRUE(stored);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        ASSERT_TRUE((*stored)[i].started);
        EXPECT_EQ(*(*stored)[i].started, Read(batch[i].id).run);
    }
    EXPECT_EQ((*stored)[0].state, RunState::kQueued);
    EXPECT_EQ((*stored)[0].started->status.ready_at, now_) << "not set: at once";
    EXPECT_EQ((*stored)[2].state, RunState::kScheduled);
    Report(ClaimOne(), EventKind::kSuccess);
    Run same_key = MakeRun();
    same_key.unique.key = "k";
    stored = runs().Submit({.now = now_, .runs = {plain, same_key}, .want_runs = true});
    ASSERT_TRUE(stored);
    EXPECT_EQ((*stored)[0].verdict, SubmitVerdict::kSameId);
    EXPECT_EQ((*stored)[1].verdict, SubmitVerdict::kSameKey);
    EXPECT_EQ((*stored)[0].state, Read(plain.id).run.status.state);
    EXPECT_EQ((*stored)[1].state, Read(keyed.id).run.status.state);
    EXPECT_FALSE((*stored)[0].started);
    EXPECT_FALSE((*stored)[1].started);
}

// If the id exists, the outcome tells whether the call was repeated or the run is a different one.
TEST_P(StoreTest, TheSameIdIsComparedWithWhatIsThere) {
    Run run = MakeRun();
    run.payload = R"({"n":1})";
    run.id = SubmitOne(run);
    const auto other_with = [&](const auto& change) {
        Run again = MakeRun();
        again.id = run.id;
        again.payload = run.payload;
        change(again);
        const store::Submitted outcome = Submit({again})[0];
        EXPECT_EQ(outcome.verdict, store::SubmitVerdict::kSameId);
        return outcome.other;
    };
    EXPECT_FALSE(other_with([](Run&) {}));
    EXPECT_FALSE(other_with([](Run& again) { again.policy.timeout = minutes(7); }));
    EXPECT_TRUE(other_with([](Run& again) { again.payload = R"({"n":2})"; }));
    EXPECT_TRUE(other_with([](Run& again) { again.type = "another"; }));
    EXPECT_TRUE(other_with([](Run& again) { again.tenant = "another"; }));
    EXPECT_TRUE(other_with([](Run& again) { again.kind = model::ActionKind::kHttp; }));
    EXPECT_TRUE(other_with([](Run& again) { again.trigger = model::RunTrigger::kCallback; }));
    EXPECT_TRUE(other_with([](Run& again) { again.parent = Uuid{{1}}; }));
}

}  // namespace
}  // namespace ksana::conformance
