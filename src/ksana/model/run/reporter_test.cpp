#include "ksana/model/run/reporter.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ksana/base/time/fake_clock.hpp"

namespace ksana::model {
namespace {

using std::chrono::minutes;

// A run whose attempt e1 has been claimed by the worker etl-1.
class ReporterTest : public ::testing::Test {
  protected:
    ReporterTest() {
        run_.id = *Uuid::Parse("019a8c3e-7b2d-7f00-8abc-0123456789ef");
        run_.status.state = RunState::kRunning;
        run_.status.attempt = 1;
        run_.status.exec_id = "e1";
        run_.status.owner = "etl-1/019a8c3e-0000-7f00-8abc-0123456789ef";
        run_.status.lease_until = now_ + minutes(1);
        run_.policy.retry.strategy = RetryStrategy::kNone;
    }

    Transition Tell(Event event) {
        event.exec_id = "e1";
        return Decide(run_, event, now_);
    }
    // What an agent of this name says; "": it does not tell its name.
    Transition Says(const std::string& agent, EventKind kind) {
        return Tell({.kind = kind, .agent = agent, .lease = minutes(1)});
    }
    Transition Succeeds(const std::string& result) {
        return Tell({.kind = EventKind::kSuccess, .result = result});
    }

    TimePoint now_ = FakeClock::DefaultStart();
    ::ksana::model::Run run_;
};

TEST_F(ReporterTest, AnotherAgentThanTheClaimantIsRefused) {
    for (const EventKind kind : {EventKind::kProgress, EventKind::kSuccess, EventKind::kSnooze}) {
        const Transition made = Says("etl-2", kind);
        EXPECT_EQ(made.verdict, EventVerdict::kStale) << NameOf(kind);
        EXPECT_TRUE(made.goes_on);
        EXPECT_EQ(made.reason, "somebody else has the attempt this speaks for");
    }
    EXPECT_EQ(Says("etl", EventKind::kProgress).verdict, EventVerdict::kStale) << "a part of it";
    EXPECT_EQ(Says("etl-1", EventKind::kProgress).verdict, EventVerdict::kApplied);
    EXPECT_EQ(Says("", EventKind::kProgress).verdict, EventVerdict::kApplied) << "has the exec_id";
    EXPECT_EQ(Says("etl-1", EventKind::kSuccess).verdict, EventVerdict::kApplied);
    EXPECT_EQ(Says("etl-2", EventKind::kSuccess).verdict, EventVerdict::kStale) << "over";
}

TEST_F(ReporterTest, AnAgentReportsOnNoRunThatAServerCarriesOut) {
    run_.kind = ActionKind::kHttp;
    for (const EventKind kind : {EventKind::kProgress, EventKind::kSuccess, EventKind::kSnooze}) {
        const Transition made = Says("etl-1", kind);
        EXPECT_EQ(made.verdict, EventVerdict::kRefused) << NameOf(kind);
        EXPECT_EQ(made.reason, "a server carries out this run, and no agent reports on it");
    }
    run_.selector = {{"zone", "a"}};  // now it is for workers
    EXPECT_EQ(Says("etl-1", EventKind::kProgress).verdict, EventVerdict::kApplied);
}

TEST_F(ReporterTest, OnOtherKindsThanQueueTheWorkerTellsItsName) {
    for (const ActionKind kind : {ActionKind::kCommand, ActionKind::kHandler}) {
        run_.kind = kind;
        const Transition made = Says("", EventKind::kProgress);
        EXPECT_EQ(made.verdict, EventVerdict::kRefused);
        EXPECT_TRUE(made.reason.ends_with(" must name its worker")) << made.reason;
        EXPECT_EQ(Says("etl-1", EventKind::kProgress).verdict, EventVerdict::kApplied);
    }
}

TEST_F(ReporterTest, TheSameReportAgainIsTheSameAndAnotherResultAConflict) {
    EXPECT_EQ(Succeeds("[1]").verdict, EventVerdict::kApplied);
    const RunStatus done = run_.status;
    EXPECT_EQ(Succeeds("[1]").verdict, EventVerdict::kDuplicate);
    const Transition other = Succeeds("[2]");
    EXPECT_EQ(other.verdict, EventVerdict::kRefused);
    EXPECT_EQ(other.reason,
              "this attempt was reported as success ([1]) before, and now as success ([2])");
    const Transition failed = Tell({.kind = EventKind::kPermanentFailure, .error = "no"});
    EXPECT_EQ(failed.verdict, EventVerdict::kRefused);
    EXPECT_EQ(failed.reason,
              "this attempt was reported as success ([1]) before, and now as permanent_failure "
              "(no)");
    EXPECT_EQ(Tell({.kind = EventKind::kProgress}).verdict, EventVerdict::kStale) << "is over";
    EXPECT_EQ(run_.status, done) << "nothing has changed";
}

TEST_F(ReporterTest, AnotherErrorIsAConflictToo) {
    const Event failure{.kind = EventKind::kRetryableFailure, .error = "no route"};
    EXPECT_EQ(Tell(failure).verdict, EventVerdict::kApplied);
    EXPECT_EQ(Tell(failure).verdict, EventVerdict::kDuplicate);
    EXPECT_EQ(Tell({.kind = EventKind::kRetryableFailure, .error = "full"}).verdict,
              EventVerdict::kRefused);
    EXPECT_EQ(Succeeds("1").verdict, EventVerdict::kRefused);
}

TEST_F(ReporterTest, WhatAServerHasEndedIsOver) {
    Tell({.kind = EventKind::kTimeout, .error = "it took too long"});
    EXPECT_EQ(Succeeds("1").verdict, EventVerdict::kStale) << "its owner has contradicted nobody";
}

TEST_F(ReporterTest, ALogWithoutResultsCannotTellThemApart) {
    run_.policy.run_log = RunLog::kTrigger;
    EXPECT_EQ(Succeeds("[1]").verdict, EventVerdict::kApplied);
    run_.status.result.clear();  // as the store keeps it
    EXPECT_EQ(Succeeds("[1]").verdict, EventVerdict::kDuplicate);
}

}  // namespace
}  // namespace ksana::model
