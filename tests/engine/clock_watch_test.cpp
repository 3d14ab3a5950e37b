#include "ksana/engine/plan/clock_watch.hpp"

#include <gtest/gtest.h>

#include "engine/scripted_executor.hpp"
#include "engine/service_fixture.hpp"
#include "ksana/engine/node.hpp"
#include "ksana/engine/plan/planner.hpp"
#include "ksana/engine/retention/retention.hpp"

namespace ksana::engine {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kTenYears = hours(24 * 3652);

class ClockWatchTest : public ServiceFixture {
  protected:
    void SetUp() override {
        model::Job job;
        job.id = "job";
        job.name = "every minute";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = minutes(1);
        ASSERT_TRUE(service_.Create(job));
    }

    std::size_t Watch(ClockWatch& watch) {
        std::size_t jobs = 0;
        for (int n = 0; n < 3; ++n) {
            const auto answer = watch.RunOnce();
            EXPECT_TRUE(answer);
            jobs += answer->brought_back;
        }
        return jobs;
    }

    // Advances the clock by a minute and plans due fires.
    void Minute() {
        clock_.Advance(minutes(1));
        ASSERT_TRUE(planner_.RunOnce({}));
    }

    Planner planner_{*store_, plans_, clock_, {.batch = 10}};
};

TEST_F(ClockWatchTest, AClockThatWasAheadLeavesNobodySilent) {
    ClockWatch watch(*store_, plans_, clock_, {});
    Minute();
    EXPECT_EQ(Watch(watch), 0U);
    clock_.JumpWall(kTenYears);
    Minute();
    EXPECT_GT(*store_->jobs().Get("job")->state.planned_until, clock_.Now() - minutes(2));
    EXPECT_EQ(Watch(watch), 0U);
    clock_.JumpWall(-kTenYears);
    EXPECT_EQ(Watch(watch), 1U);
    const auto job = store_->jobs().Get("job");
    EXPECT_LE(*job->state.next_run_at, clock_.Now() + minutes(1));
    EXPECT_EQ(Watch(watch), 0U) << "once";
}

TEST_F(ClockWatchTest, AlsoWhenTheClockWasWrongForAMoment) {
    ClockWatch watch(*store_, plans_, clock_, {});
    EXPECT_EQ(Watch(watch), 0U);
    clock_.JumpWall(kTenYears);
    Minute();
    watch.Planned(clock_.Now());
    clock_.JumpWall(-kTenYears);  // before the first check of the clock
    EXPECT_EQ(Watch(watch), 1U);
    EXPECT_EQ(Watch(watch), 0U) << "once";
}

TEST_F(ClockWatchTest, AlsoWhenNobodyWasThereToSeeIt) {
    clock_.JumpWall(kTenYears);
    {
        ClockWatch watch(*store_, plans_, clock_, {});
        EXPECT_EQ(Watch(watch), 0U);
        Minute();
    }
    clock_.JumpWall(-kTenYears);
    ClockWatch watch(*store_, plans_, clock_, {});
    EXPECT_EQ(Watch(watch), 1U);
    ClockWatch again(*store_, plans_, clock_, {});
    EXPECT_EQ(Watch(again), 0U);
}

TEST_F(ClockWatchTest, ASmallStepBackIsWaitedFor) {
    ClockWatch watch(*store_, plans_, clock_, {});
    Minute();
    EXPECT_EQ(Watch(watch), 0U);
    const auto before = store_->jobs().Get("job")->state.next_run_at;
    clock_.JumpWall(-hours(1));
    EXPECT_EQ(Watch(watch), 0U);
    EXPECT_EQ(store_->jobs().Get("job")->state.next_run_at, before) << "nothing fires twice";
}

TEST_F(ClockWatchTest, RetentionDoesNotTrustAClockThatWasSet) {
    Retention retention(*store_, locks_, clock_, {.keep = hours(24 * 30)});
    ASSERT_TRUE(retention.RunOnce());
    Minute();
    const auto claimed = store_->runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "o", .limit = 1});
    ASSERT_EQ(claimed->runs.size(), 1U);
    model::Event success;
    success.kind = model::EventKind::kSuccess;
    success.exec_id = claimed->runs[0].status.exec_id;
    ASSERT_TRUE(store_->runs().Apply({{.run_id = claimed->runs[0].id, .event = success}}));
    ASSERT_TRUE(retention.RunOnce());
    clock_.JumpWall(kTenYears);
    EXPECT_EQ(retention.RunOnce()->runs, 0U);
    clock_.Advance(hours(23));
    EXPECT_EQ(retention.RunOnce()->runs, 0U);
    clock_.Advance(hours(2));
    EXPECT_EQ(retention.RunOnce()->runs, 1U) << "it seems to be right";
}

TEST_F(ClockWatchTest, ALeaseDoesNotEndBecauseTheClockWasSet) {
    ScriptedExecutor executor;
    Node node(*store_, {&executor}, zones_, clock_, {.lease = seconds(30)}, nullptr);
    const auto step = [&](std::string_view name) {
        for (const Loop& loop : node.loops()) {
            if (loop.name != name) continue;
            EXPECT_TRUE(loop.run_once());
        }
    };
    step("reaper");
    ASSERT_TRUE(service_.Change("job", {}, [](model::Job& job) -> Result<void> {
        job.timeout = hours(2);  // longer than the jump on the wall clock
        return {};
    }));
    ASSERT_TRUE(service_.RunNow({.id = "job", .parameters = {}}));
    step("dispatcher");
    ASSERT_EQ(executor.started.size(), 1U);
    clock_.JumpWall(hours(1));
    step("reaper");
    clock_.Advance(seconds(10));
    step("dispatcher");  // renews the lease
    clock_.Advance(seconds(21));
    step("reaper");
    store::RunQuery query;
    query.filter.states = model::SetOf(model::RunState::kRunning);
    EXPECT_EQ(store_->runs().List(query)->items.size(), 1U) << "it is still ours";
    executor.End(executor.started[0], model::EventKind::kSuccess);
}

}  // namespace
}  // namespace ksana::engine
