// Attempts that a message broker has, until a consumer begins them.
#include "conformance/store_fixture.hpp"

namespace ksana::conformance {
namespace {

using model::Event;
using model::EventKind;
using model::EventVerdict;
using model::RunState;
using std::chrono::minutes;
using std::chrono::seconds;

const std::string kBroker(model::kBrokerOwner);

// What a consumer says about the attempt.
Event Says(const model::Run& run, EventKind kind, const std::string& who) {
    return {.kind = kind, .exec_id = run.status.exec_id, .owner = who, .lease = seconds(20)};
}

// D-02: noted as handed out, begun by one consumer, ended by the same.
TEST_P(StoreTest, AConsumerOfTheBrokerBeginsAndEndsAnAttempt) {
    SubmitOne(MakeRun());
    const auto claimed = Claim(1, {}, kBroker);
    ASSERT_EQ(claimed.size(), 1U);
    const Run& run = claimed[0];
    now_ += seconds(1);
    Event noted = Says(run, EventKind::kProgress, kBroker);
    noted.lease = minutes(10);
    noted.detail = R"({"waits":{"reason":"broker","for":"q","before":0}})";
    noted.not_begun = true;
    EXPECT_EQ(Apply(run.id, noted).verdict, EventVerdict::kApplied);
    EXPECT_EQ(Read(run.id).run.status.detail, noted.detail);
    EXPECT_EQ(Read(run.id).run.status.lease_until, now_ + minutes(10));

    now_ += minutes(2);
    EXPECT_EQ(Apply(run.id, Says(run, EventKind::kTake, "c1")).verdict, EventVerdict::kApplied);
    const Run begun = Read(run.id).run;
    EXPECT_EQ(begun.status.owner, "c1");
    EXPECT_EQ(begun.status.started_at, now_);
    EXPECT_EQ(begun.status.deadline, now_ + run.policy.timeout);
    EXPECT_EQ(begun.status.lease_until, now_ + seconds(20));
    EXPECT_EQ(begun.status.detail, "");

    const store::Applied stranger = Apply(run.id, Says(run, EventKind::kTake, "c2"));
    EXPECT_EQ(stranger.verdict, EventVerdict::kStale);
    EXPECT_TRUE(stranger.goes_on);
    EXPECT_EQ(Apply(run.id, Says(run, EventKind::kSuccess, "c2")).verdict, EventVerdict::kStale);
    EXPECT_EQ(Apply(run.id, Says(run, EventKind::kTake, "c1")).verdict, EventVerdict::kDuplicate);
    EXPECT_EQ(Read(run.id).run, begun) << "none of these changes anything";

    EXPECT_EQ(Apply(run.id, Says(run, EventKind::kSuccess, "c1")).verdict, EventVerdict::kApplied);
    EXPECT_EQ(StateOf(run.id), RunState::kSucceeded);
    const store::Applied late = Apply(run.id, Says(run, EventKind::kTake, "c1"));
    EXPECT_EQ(late.verdict, EventVerdict::kStale);
    EXPECT_FALSE(late.goes_on);
}

TEST_P(StoreTest, WhatTheBrokerHasCanBeFoundByItsOwner) {
    SubmitOne(MakeRun());
    SubmitOne(MakeRun());
    const auto with_broker = Claim(1, {}, kBroker);
    ASSERT_EQ(with_broker.size(), 1U);
    Claim(1, {}, "w1");
    store::RunQuery query;
    query.filter.states = model::SetOf(RunState::kRunning);
    query.filter.owner = kBroker;
    query.descending = false;
    const auto page = runs().List(query);
    ASSERT_TRUE(page) << page.error().Describe();
    ASSERT_EQ(page->items.size(), 1U);
    EXPECT_EQ(page->items[0].id, with_broker[0].id);
}

// A message that nobody has begun in its time uses nothing up, whoever reaps it.
TEST_P(StoreTest, AMessageWhoseTimeIsOverIsPublishedAgain) {
    Run short_run = MakeRun();
    short_run.policy.timeout = seconds(5);
    SubmitOne(short_run);
    const auto claimed = Claim(1, {}, kBroker);
    ASSERT_EQ(claimed.size(), 1U);
    const Run& run = claimed[0];
    ASSERT_LT(*run.status.deadline, *run.status.lease_until);
    now_ = *run.status.deadline + run.policy.stop_grace + seconds(1);
    ASSERT_TRUE(runs().Reap({.now = now_, .limit = 10}));
    EXPECT_EQ(Read(run.id).run.status.state, RunState::kRunning) << "its time has not begun";
    now_ = *run.status.lease_until + seconds(1);
    const auto reaped = runs().Reap({.now = now_, .limit = 10});
    ASSERT_TRUE(reaped) << reaped.error().Describe();
    const model::RunStatus back = Read(run.id).run.status;
    EXPECT_EQ(back.state, RunState::kQueued);
    EXPECT_EQ(back.failures, 0);
    EXPECT_EQ(Apply(run.id, Says(run, EventKind::kTake, "c1")).verdict, EventVerdict::kStale);
    const auto again = Claim(1, {}, kBroker);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].status.attempt, 2);
    EXPECT_EQ(again[0].status.fence, 2);
    EXPECT_EQ(Read(run.id).attempts.at(0).outcome, model::AttemptOutcome::kReleased);
}

// G-04
TEST_P(StoreTest, WhatTheBrokerHasIsCancelledAtOnce) {
    SubmitOne(MakeRun());
    const auto claimed = Claim(1, {}, kBroker);
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(Apply(claimed[0].id, {.kind = EventKind::kCancel}).state, RunState::kCancelled);
    EXPECT_EQ(Apply(claimed[0].id, Says(claimed[0], EventKind::kTake, "c1")).verdict,
              EventVerdict::kStale);
    EXPECT_EQ(StateOf(claimed[0].id), RunState::kCancelled);
}

}  // namespace
}  // namespace ksana::conformance
