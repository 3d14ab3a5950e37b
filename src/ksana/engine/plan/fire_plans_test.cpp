#include "ksana/engine/plan/fire_plans.hpp"

#include <gtest/gtest.h>

#include "ksana/base/log/log.hpp"
#include "ksana/base/time/fake_clock.hpp"

namespace ksana::engine {
namespace {

using schedule::ScheduleKind;
using std::chrono::minutes;
using std::chrono::seconds;

class FirePlansTest : public ::testing::Test {
  protected:
    static model::Job MinuteJob() {
        model::Job job;
        job.id = "j";
        job.state.version = 1;
        job.state.created_at = FakeClock::DefaultStart();
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = ScheduleKind::kEvery;
        job.schedule.every = minutes(1);
        job.state.planned_until = job.state.created_at;
        return job;
    }

    store::JobPlan Plan(const model::Job& job, TimePoint now) {
        return FirePlans(book_, find_type_, options_).Plan(job, now);
    }

    schedule::ZoneDatabase zones_;
    std::shared_ptr<const schedule::CalendarIndex> calendar_;
    ScheduleCache book_{zones_, [this](std::string_view) { return calendar_; }};
    FindType find_type_;
    FirePlans::Options options_;
    const TimePoint start_ = FakeClock::DefaultStart();
};

TEST_F(FirePlansTest, AFireBecomesARun) {
    model::Job job = MinuteJob();
    job.tenant = "acme";
    job.owner = "ann";
    job.priority = 7;
    job.overlap = model::OverlapPolicy::kQueueOne;
    job.timeout = seconds(3);
    job.schedule.jitter = seconds(5);
    const auto plan = Plan(job, start_ + minutes(1));
    ASSERT_EQ(plan.runs.size(), 1U);
    const model::Run& run = plan.runs[0];
    EXPECT_EQ(run.job_id, "j");
    EXPECT_EQ(run.tenant, "acme");
    EXPECT_EQ(run.creator, "ann");
    EXPECT_EQ(run.priority, 7);
    EXPECT_EQ(run.kind, model::ActionKind::kHttp);
    EXPECT_EQ(run.trigger, model::RunTrigger::kFire);
    EXPECT_EQ(run.nominal_at, start_ + minutes(1));
    EXPECT_GE(run.status.ready_at, start_ + minutes(1));
    EXPECT_LE(run.status.ready_at, start_ + minutes(1) + seconds(5)) << "K-04";
    EXPECT_EQ(run.policy.timeout, seconds(3));
    EXPECT_EQ(run.policy.overlap, model::OverlapPolicy::kQueueOne);
    EXPECT_EQ(plan.planned_until, start_ + minutes(1));
    EXPECT_EQ(plan.next_run_at, start_ + minutes(2));
}

// K-05: past fires are not made up for and are in the ledger. K-16: the job says that it missed a
// fire.
TEST_F(FirePlansTest, WhatWasMissedIsOneEntry) {
    const auto plan = Plan(MinuteJob(), start_ + minutes(10) + seconds(30));
    EXPECT_TRUE(plan.runs.empty());
    ASSERT_EQ(plan.ranges.size(), 1U);
    EXPECT_EQ(plan.ranges[0].fate, model::FireFate::kMissed);
    EXPECT_EQ(plan.ranges[0].range.count, 10);
    ASSERT_TRUE(plan.tally);
    EXPECT_EQ(plan.tally->last_state, model::RunState::kMissed);
    EXPECT_EQ(plan.next_run_at, start_ + minutes(11));
}

// Fires missed before one on time: the job's last state comes from the run.
TEST_F(FirePlansTest, AFireOnTimeAfterMissedOnesIsTheLast) {
    const auto plan = Plan(MinuteJob(), start_ + minutes(10));
    EXPECT_EQ(plan.runs.size(), 1U);
    ASSERT_EQ(plan.ranges.size(), 1U);
    EXPECT_EQ(plan.ranges[0].range.count, 9);
    EXPECT_FALSE(plan.tally);
}

// K-02
TEST_F(FirePlansTest, AnExpiredOnceIsMissed) {
    model::Job job = MinuteJob();
    job.schedule = {};
    job.schedule.run_at = start_ + seconds(1);
    const auto plan = Plan(job, start_ + minutes(5));
    EXPECT_TRUE(plan.runs.empty());
    ASSERT_EQ(plan.ranges.size(), 1U);
    EXPECT_EQ(plan.ranges[0].fate, model::FireFate::kMissed);
    EXPECT_FALSE(plan.next_run_at);
}

TEST_F(FirePlansTest, TypesGiveTheirPolicy) {
    model::Job job = MinuteJob();
    job.action = model::QueueAction{.type = "mail", .category = "slow", .payload = "{}"};
    auto type = std::make_shared<model::RunType>();
    type->code = "mail";
    type->timeout = seconds(77);
    find_type_ = [&](const std::string& code) {
        return code == "mail" ? type : std::shared_ptr<const model::RunType>();
    };
    const auto plan = Plan(job, start_ + minutes(1));
    ASSERT_EQ(plan.runs.size(), 1U);
    EXPECT_EQ(plan.runs[0].type, "mail");
    EXPECT_EQ(plan.runs[0].category, "slow");
    EXPECT_EQ(plan.runs[0].payload, "{}");
    EXPECT_EQ(plan.runs[0].policy.timeout, seconds(77));
}

// A deleted calendar costs no fire.
TEST_F(FirePlansTest, AScheduleThatCannotBeReadIsPutOff) {
    SetLogSinkForTest([](LogLevel, std::string_view) {});
    model::Job job = MinuteJob();
    job.schedule.kind = ScheduleKind::kCron;
    job.schedule.cron = "* * * * *";
    job.schedule.calendar = "gone";
    const auto plan = Plan(job, start_ + minutes(3));
    SetLogSinkForTest(nullptr);
    EXPECT_TRUE(plan.runs.empty());
    EXPECT_TRUE(plan.ranges.empty());
    EXPECT_EQ(plan.planned_until, start_);
    EXPECT_EQ(plan.next_run_at, start_ + minutes(4));
    calendar_ = std::make_shared<const schedule::CalendarIndex>(schedule::Calendar{});
    EXPECT_EQ(Plan(job, start_ + minutes(3)).runs.size(), 1U);
}

TEST_F(FirePlansTest, ANewVersionHasItsNewSchedule) {
    model::Job job = MinuteJob();
    EXPECT_EQ(Plan(job, start_).next_run_at, start_ + minutes(1));
    job.schedule.every = minutes(7);
    job.state.version = 2;
    EXPECT_EQ(Plan(job, start_).next_run_at, start_ + minutes(7));
}

}  // namespace
}  // namespace ksana::engine
