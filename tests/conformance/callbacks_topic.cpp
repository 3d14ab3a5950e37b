// Callbacks are runs of their own. They are stored with the report that wants them, and their end
// is told to the parent run, each in one transaction (T-10).
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::ActionKind;
using model::CallbackWanted;
using model::EventKind;
using model::EventVerdict;
using model::RunState;
using std::chrono::seconds;

model::Run WithCallbacks(model::Run run) {
    run.policy.success_callback = true;
    run.policy.error_callback = true;
    run.policy.retry.max_retries = 0;
    return run;
}

std::vector<model::Run> CallbackAbout(const model::Run& ended, CallbackWanted wanted) {
    model::Run run;
    run.kind = ActionKind::kHttp;
    run.trigger = model::RunTrigger::kCallback;
    run.type = ended.type;
    run.parent = ended.id;
    run.payload = wanted == CallbackWanted::kSuccess ? R"("success")" : R"("error")";
    run.policy.need_manual = true;
    run.policy.retry.max_retries = 1;
    run.policy.retry.interval = seconds(1);
    run.status.ready_at = ended.updated_at;
    return {run};
}

// Ends the attempt with `event`, and stores a callback if one is wanted.
void End(store::RunStore& runs, const model::Run& run, model::Event event, TimePoint now) {
    event.exec_id = run.status.exec_id;
    const auto exchanged = runs.Exchange({.now = now,
                                          .events = {{run.id, std::move(event)}},
                                          .follow_up = CallbackAbout,
                                          .claim = {},
                                          .audit = {}});
    ASSERT_TRUE(exchanged) << exchanged.error().Describe();
    ASSERT_EQ(exchanged->applied.at(0).verdict, EventVerdict::kApplied);
}

TEST_P(StoreTest, ARunHasSucceededWhenItsCallbackIsDelivered) {
    SubmitOne(WithCallbacks(MakeRun()));
    const Run run = ClaimOne();
    End(runs(), run, {.kind = EventKind::kSuccess, .result = "42"}, now_);
    EXPECT_EQ(StateOf(run.id), RunState::kCompleting);
    const auto claimed = ClaimHttp();
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(claimed[0].payload, R"("success")");
    EXPECT_EQ(claimed[0].parent, run.id);
    EXPECT_EQ(StateOf(run.id), RunState::kCompleting);
    now_ += seconds(1);
    EXPECT_EQ(Report(claimed[0], EventKind::kSuccess).state, RunState::kSucceeded);
    const Run after = Read(run.id).run;
    EXPECT_EQ(after.status.state, RunState::kSucceeded);
    EXPECT_EQ(after.status.finished_at, now_);
    EXPECT_EQ(after.status.result, "42");
    EXPECT_EQ(Report(claimed[0], EventKind::kSuccess).verdict, EventVerdict::kDuplicate);
}

TEST_P(StoreTest, ADeadLetterIsNotedAndSentAgain) {
    SubmitOne(WithCallbacks(MakeRun()));
    const Run run = ClaimOne();
    End(runs(), run, {.kind = EventKind::kSuccess, .result = "42"}, now_);
    const Run first = ClaimHttp().at(0);
    Report(first, EventKind::kRetryableFailure, "nobody there");
    EXPECT_EQ(Read(run.id).run.status.last_error, "") << "it is tried again";
    now_ += seconds(2);
    const Run second = ClaimHttp().at(0);
    EXPECT_EQ(Report(second, EventKind::kRetryableFailure, "still down").state, RunState::kHeld);
    const Run waiting = Read(run.id).run;
    EXPECT_EQ(waiting.status.state, RunState::kCompleting);
    EXPECT_NE(waiting.status.last_error.find("still down"), std::string::npos);
    if (harness_->Reopen()) {
        EXPECT_EQ(Read(run.id).run, waiting);
    }

    EXPECT_EQ(Apply(first.id, {.kind = EventKind::kSendBack}).state, RunState::kQueued);
    const Run again = ClaimHttp().at(0);
    EXPECT_EQ(again.id, first.id) << "the receiver knows it by its id";
    Report(again, EventKind::kSuccess);
    const Run after = Read(run.id).run;
    EXPECT_EQ(after.status.state, RunState::kSucceeded);
    EXPECT_EQ(after.status.last_error, "");
}

TEST_P(StoreTest, APersonMayCloseARunWhoseCallbackIsNotDelivered) {
    SubmitOne(WithCallbacks(MakeRun()));
    const Run run = ClaimOne();
    End(runs(), run, {.kind = EventKind::kSuccess}, now_);
    EXPECT_EQ(Apply(run.id, {.kind = EventKind::kResolve, .remark = "told by phone"}).state,
              RunState::kResolved);
    const Run callback = ClaimHttp().at(0);
    EXPECT_EQ(Report(callback, EventKind::kSuccess).verdict, EventVerdict::kApplied);
    EXPECT_EQ(StateOf(run.id), RunState::kResolved);
}

TEST_P(StoreTest, ACancelledCallbackIsNoted) {
    SubmitOne(WithCallbacks(MakeRun()));
    const Run run = ClaimOne();
    End(runs(), run, {.kind = EventKind::kSuccess}, now_);
    const auto callbacks = ListAll({.filter = {.parent = run.id}});
    ASSERT_EQ(callbacks.size(), 1U);
    EXPECT_EQ(Apply(callbacks[0].id, {.kind = EventKind::kCancel}).state, RunState::kCancelled);
    EXPECT_EQ(StateOf(run.id), RunState::kCompleting);
    EXPECT_NE(Read(run.id).run.status.last_error.find("cancelled"), std::string::npos);
}

TEST_P(StoreTest, AnErrorCallbackDoesNotHoldTheRun) {
    SubmitOne(WithCallbacks(MakeRun()));
    const Run run = ClaimOne();
    End(runs(), run, {.kind = EventKind::kPermanentFailure, .error = "no"}, now_);
    const Run failed = Read(run.id).run;
    EXPECT_EQ(failed.status.state, RunState::kFailed);
    const Run callback = ClaimHttp().at(0);
    EXPECT_EQ(callback.payload, R"("error")");
    Report(callback, EventKind::kPermanentFailure, "refused");
    EXPECT_EQ(StateOf(callback.id), RunState::kHeld);
    EXPECT_EQ(Read(run.id).run, failed) << "it is over";
    ASSERT_TRUE(DeleteRun(run.id));
    EXPECT_EQ(Apply(callback.id, {.kind = EventKind::kSendBack}).state, RunState::kQueued);
    EXPECT_EQ(Report(ClaimHttp().at(0), EventKind::kSuccess).state, RunState::kSucceeded)
        << "also when nobody is left to learn of it";
}

TEST_P(StoreTest, AnAgentMaySayThatNobodyIsToBeTold) {
    SubmitOne(WithCallbacks(MakeRun()));
    const Run run = ClaimOne();
    End(runs(), run, {.kind = EventKind::kSuccess, .without_callback = true}, now_);
    EXPECT_EQ(StateOf(run.id), RunState::kSucceeded);
    EXPECT_TRUE(ListAll({.filter = {.parent = run.id}}).empty());
}

// If the owner of a callback dies, neither the callback nor its parent run is lost.
TEST_P(StoreTest, ALostCallbackIsTriedAgainAndThenADeadLetter) {
    SubmitOne(WithCallbacks(MakeRun()));
    const Run run = ClaimOne();
    End(runs(), run, {.kind = EventKind::kSuccess}, now_);
    const auto lose = [this] {
        ASSERT_EQ(ClaimHttp().size(), 1U);
        now_ += seconds(31);
        const auto reaped = runs().Reap({.now = now_});
        ASSERT_TRUE(reaped) << reaped.error().Describe();
        now_ += seconds(2);
    };
    lose();
    EXPECT_EQ(Read(run.id).run.status.last_error, "");
    lose();
    EXPECT_EQ(StateOf(run.id), RunState::kCompleting);
    EXPECT_NE(Read(run.id).run.status.last_error.find("lost"), std::string::npos);
    EXPECT_EQ(ListAll({.filter = {.states = model::SetOf(RunState::kHeld)}}).size(), 1U);
}

// The parent is a run of a job, and the job's next fire waits for it.
TEST_P(StoreTest, TheCallbacksOfAJobsRunsAreToldToo) {
    model::Job job = MakeJob("j1");
    job.overlap = model::OverlapPolicy::kQueueAll;
    Create(job);
    for (int n = 0; n < 2; ++n) {
        now_ += std::chrono::minutes(1);
        SubmitOne(WithCallbacks(MakeFire(job, now_)));
    }
    const auto fires = ClaimHttp();
    ASSERT_EQ(fires.size(), 1U) << "the other waits";
    End(runs(), fires[0], {.kind = EventKind::kSuccess}, now_);
    EXPECT_EQ(StateOf(fires[0].id), RunState::kCompleting);
    int callbacks = 0;
    for (const Run& run : ClaimHttp()) {
        if (run.trigger != model::RunTrigger::kCallback) continue;
        ++callbacks;
        Report(run, EventKind::kSuccess);
    }
    EXPECT_EQ(callbacks, 1);
    EXPECT_EQ(StateOf(fires[0].id), RunState::kSucceeded);
    EXPECT_EQ(jobs().Get("j1")->state.total_runs, 1);
}

// Many callbacks in one transaction.
TEST_P(StoreTest, ABatchOfCallbacksIsToldAtOnce) {
    std::vector<Run> batch;
    for (int n = 0; n < 50; ++n) batch.push_back(WithCallbacks(MakeRun()));
    Submit(batch);
    std::vector<model::RunEvent> reports;
    for (const Run& run : Claim(50)) {
        reports.push_back({run.id, {.kind = EventKind::kSuccess, .exec_id = run.status.exec_id}});
    }
    ASSERT_TRUE(runs().Exchange({.now = now_,
                                 .events = std::move(reports),
                                 .follow_up = CallbackAbout,
                                 .claim = {},
                                 .audit = {}}));
    std::vector<model::RunEvent> delivered;
    for (const Run& run : Claim(50, {.kind = ActionKind::kHttp})) {
        delivered.push_back({run.id, {.kind = EventKind::kSuccess, .exec_id = run.status.exec_id}});
    }
    ASSERT_EQ(delivered.size(), 50U);
    ASSERT_TRUE(runs().Apply(std::move(delivered), now_));
    const auto succeeded = ListAll({.filter = {.states = model::SetOf(RunState::kSucceeded)}});
    EXPECT_EQ(succeeded.size(), 100U);
}

}  // namespace
}  // namespace ksana::conformance
