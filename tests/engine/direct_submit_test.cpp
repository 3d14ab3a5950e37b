#include "ksana/engine/dispatch/direct_submit.hpp"

#include <gtest/gtest.h>

#include "engine/dispatcher_fixture.hpp"
#include "ksana/engine/node.hpp"

namespace ksana::engine {
namespace {

class DirectSubmitTest : public DispatcherTest {
  protected:
    static model::Run MakeRun() {
        model::Run run;
        run.kind = model::ActionKind::kHttp;
        run.policy.timeout = std::chrono::minutes(5);
        return run;
    }

    std::vector<store::Submitted> SubmitDirectly(std::vector<model::Run> runs) {
        auto submitted = SubmitAndStart(*store_, *dispatcher_, {.runs = std::move(runs)});
        EXPECT_TRUE(submitted);
        return submitted ? *std::move(submitted) : std::vector<store::Submitted>();
    }
};

TEST_F(DirectSubmitTest, StartsWithoutAClaim) {
    RunOnce();
    const auto submitted = SubmitDirectly({MakeRun()});
    ASSERT_EQ(executor_.started.size(), 1U);
    EXPECT_EQ(StateOf(submitted[0].id), RunState::kRunning);
    executor_.End(executor_.started[0], EventKind::kSuccess);
    RunOnce();
    EXPECT_EQ(StateOf(submitted[0].id), RunState::kSucceeded);
    EXPECT_TRUE(dispatcher_->Idle());
}

TEST_F(DirectSubmitTest, StartsNoMoreThanThereAreSlots) {
    Make({.slots = 2});
    RunOnce();
    const auto submitted = SubmitDirectly({MakeRun(), MakeRun(), MakeRun()});
    EXPECT_EQ(executor_.started.size(), 2U);
    EXPECT_EQ(StateOf(submitted[2].id), RunState::kQueued);
    executor_.End(executor_.started[0], EventKind::kSuccess);
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 3U);
}

TEST_F(DirectSubmitTest, OvertakesNobody) {
    RunOnce();
    const std::vector<Uuid> first = Submit(1);  // not claimed yet
    SubmitDirectly({MakeRun()});
    EXPECT_TRUE(executor_.started.empty());
    RunOnce();
    EXPECT_EQ(executor_.started.size(), 2U);
}

TEST_F(DirectSubmitTest, LeavesWhatNeedsItsJobToTheClaim) {
    RunOnce();
    model::Run run = MakeRun();
    run.job_id = "job";
    SubmitDirectly({run});
    EXPECT_TRUE(executor_.started.empty());
    RunOnce();
    ASSERT_EQ(executor_.started.size(), 1U);
    EXPECT_NE(executor_.attempts.at(executor_.started[0]).first->job, nullptr);
}

TEST_F(DirectSubmitTest, GivesItsRoomBackWhenNothingIsStarted) {
    Make({.slots = 1});
    RunOnce();
    model::Run later = MakeRun();
    later.status.ready_at = clock_.Now() + std::chrono::minutes(1);
    SubmitDirectly({later});
    EXPECT_TRUE(executor_.started.empty());
    EXPECT_TRUE(dispatcher_->Idle());
    dispatcher_->Close();
    SubmitDirectly({MakeRun()});
    EXPECT_TRUE(executor_.started.empty()) << "it is about to stop";
}

// One dispatcher works while the other waits for its commit; each run goes to one of them.
TEST_F(DirectSubmitTest, AnExecutorMayHaveTwoDispatchers) {
    dispatcher_.reset();
    schedule::ZoneDatabase zones;
    Node node(*store_, {&executor_, &executor_}, zones, clock_, {.slots = 3}, nullptr);
    ASSERT_EQ(node.dispatchers().size(), 2U);
    const std::vector<Uuid> ids = Submit(6);
    const auto step = [&] {
        for (int n = 0; n < 4; ++n) {
            for (const auto& one : node.dispatchers()) {
                one->Hint(store::Topics::All());
                ASSERT_TRUE(one->RunOnce());
            }
        }
    };
    step();
    EXPECT_EQ(executor_.started.size(), 6U);
    EXPECT_EQ(node.Load().slots, 6U);
    for (const std::string& exec_id : executor_.started) {
        executor_.End(exec_id, EventKind::kSuccess);
    }
    step();
    for (const Uuid& id : ids) EXPECT_EQ(StateOf(id), RunState::kSucceeded);
    EXPECT_TRUE(node.Idle());
    ASSERT_TRUE(node.Submit({.runs = {MakeRun()}}));
    step();
    EXPECT_EQ(executor_.started.size(), 7U);
    executor_.End(executor_.started[6], EventKind::kSuccess);
    step();
    EXPECT_TRUE(node.Idle());
}

}  // namespace
}  // namespace ksana::engine
