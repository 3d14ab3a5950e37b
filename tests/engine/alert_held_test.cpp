#include "engine/alert_fixture.hpp"

namespace ksana::engine {
namespace {

using model::EventKind;
using model::IncidentState;
using model::RunState;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Runs that end held: they never finish by themselves.
class AlertHeldTest : public AlerterTest {
  protected:
    void SetUp() override {
        AlerterTest::SetUp();
        need_manual_ = true;
    }
    RunState StateOf(const Uuid& id) { return store_->runs().Get(id)->run.status.state; }
    void Do(const Uuid& id, EventKind kind) {
        const auto done = store_->runs().Apply({{id, {.kind = kind}}});
        ASSERT_TRUE(done);
    }
};

TEST_F(AlertHeldTest, ARunThatNeedsAPersonIsAFailure) {
    Put(Rule());
    const Uuid id = Run(EventKind::kPermanentFailure);
    ASSERT_EQ(StateOf(id), RunState::kHeld);
    Look();
    EXPECT_EQ(Events(), Strings{"opened"});
    EXPECT_EQ(Incident()->message, "held: no");
    EXPECT_EQ(Incident()->run_id, id);
    Look();
    EXPECT_EQ(Incident()->count, 1) << "it is seen once, however long it is held";
    Run(EventKind::kSuccess);
    Look();
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
    clock_.Advance(minutes(30));
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kClosed) << "though it is still held";
}

TEST_F(AlertHeldTest, SentBackAndDoneItIsOver) {
    Put(Rule());
    const Uuid id = Run(EventKind::kPermanentFailure);
    Look();
    Do(id, EventKind::kSendBack);
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kOpen);
    const auto claimed =
        store_->runs().Claim({.filter = {}, .owner = "w", .lease = hours(1), .limit = 1});
    ASSERT_EQ(claimed->runs.size(), 1U);
    End(claimed->runs[0], EventKind::kSuccess);
    Look();
    EXPECT_EQ(Events(), (Strings{"opened", "recovered"}));
}

TEST_F(AlertHeldTest, ItIsOverWhenTheLastOfThemIsResolved) {
    Put(Rule());
    const Uuid one = Run(EventKind::kPermanentFailure);
    const Uuid two = Run(EventKind::kPermanentFailure);
    CreateJob("other");
    Run(EventKind::kPermanentFailure, seconds(1), "other");
    Look();
    EXPECT_EQ(Incident()->count, 2);
    Do(two, EventKind::kResolve);
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kOpen) << "there is another one";
    Do(one, EventKind::kResolve);
    Look();
    EXPECT_EQ(Incident()->state, IncidentState::kClosed);
    EXPECT_EQ(Incident("job:other")->state, IncidentState::kOpen);
}

TEST_F(AlertHeldTest, WhatAPersonSetsAsideIsNoFailure) {
    Put(Rule());
    model::Run run;
    run.job_id = "j";
    run.kind = model::ActionKind::kQueue;
    run.status.ready_at = clock_.Now();
    run.id = ids_.Next();
    ASSERT_TRUE(store_->runs().Submit({.now = {}, .runs = {run}}));
    Do(run.id, EventKind::kHold);
    ASSERT_EQ(StateOf(run.id), RunState::kHeld);
    Look();
    EXPECT_TRUE(Events().empty());
}

// Thousands of runs may be held, and the relevant one is neither the first nor the last.
TEST_F(AlertHeldTest, NoneIsHiddenBehindTheOthers) {
    CreateJob("old");
    for (int n = 0; n < 600; ++n) Run(EventKind::kPermanentFailure, seconds(0));
    const model::Run old = Start("old");
    clock_.Advance(seconds(1));
    for (int n = 0; n < 600; ++n) Run(EventKind::kPermanentFailure, seconds(0));
    clock_.Advance(hours(1));
    Put(Rule());
    End(old, EventKind::kPermanentFailure);
    for (int n = 0; n < 10; ++n) Look();
    EXPECT_TRUE(Incident("job:old"));
    EXPECT_FALSE(Incident("job:j")) << "that was before the rule";
}

}  // namespace
}  // namespace ksana::engine
