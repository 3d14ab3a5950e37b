#include "ksana/engine/services/job_service.hpp"

#include <gtest/gtest.h>

#include "engine/service_fixture.hpp"
#include "ksana/engine/plan/planner.hpp"

namespace ksana::engine {
namespace {

using model::FireFate;
using model::RunState;
using schedule::ScheduleKind;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class JobServiceTest : public ServiceFixture {
  protected:
    static model::Job Every(Duration every) {
        model::Job job;
        job.name = "a job";
        job.action = model::HttpAction{.url = "http://127.0.0.1/"};
        job.schedule.kind = ScheduleKind::kEvery;
        job.schedule.every = every;
        return job;
    }

    model::Job Once(TimePoint run_at) const {
        model::Job job = Every({});
        job.schedule = {};
        job.schedule.run_at = run_at;
        return job;
    }

    std::vector<model::LedgerEntry> Ledger(const std::string& id) {
        return store_->jobs().Ledger({.job_id = id, .from = {}, .until = {}, .limit = 100})->items;
    }

    Planner planner_{*store_, plans_, clock_, {.batch = 10}};
    TimePoint start_ = clock_.Now();
};

TEST_F(JobServiceTest, ANewJobHasAnIdAndANextFire) {  // K-03
    const auto job = service_.Create(Every(minutes(5)));
    ASSERT_TRUE(job);
    EXPECT_TRUE(Uuid::Parse(job->id));
    EXPECT_EQ(job->state.version, 1);
    EXPECT_EQ(job->state.next_run_at, start_ + minutes(5)) << "the grid starts when it was made";
    model::Job same = Every(minutes(1));
    same.id = job->id;
    EXPECT_EQ(service_.Create(same).error().code, Code::kAlreadyExists);
}

TEST_F(JobServiceTest, ABadJobIsNotStored) {  // K-20
    model::Job job = Every(minutes(5));
    job.id = "bad";
    job.action = model::HttpAction{.url = "ftp://x/"};
    job.priority = 99;
    const auto refused = service_.Create(job);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
    EXPECT_EQ(refused.error().problems.size(), 2U) << refused.error().Describe();
    EXPECT_EQ(store_->jobs().Get("bad").error().code, Code::kNotFound);
}

// Whether this server carries out an action or a worker does, is not known when it is stored.
TEST_F(JobServiceTest, EveryKindOfActionIsAccepted) {
    model::Job job = Every(minutes(5));
    job.id = "command";
    job.action = model::CommandAction{.argv = {"/bin/true"}};
    EXPECT_TRUE(service_.Create(job));
    job.id = "handler";
    job.action = model::HandlerAction{.handler = "h", .input = "{}"};
    EXPECT_TRUE(service_.Create(job));
    EXPECT_TRUE(service_.RunNow({.id = "handler"}));
}

TEST_F(JobServiceTest, AnExpiredOnceIsMissedAndNeverRuns) {  // K-02
    const auto job = service_.Create(Once(start_ - hours(1)));
    ASSERT_TRUE(job);
    EXPECT_EQ(job->state.last_state, RunState::kMissed);
    EXPECT_FALSE(job->state.next_run_at);
    const auto entries = Ledger(job->id);
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].range.fate, FireFate::kMissed);
    EXPECT_EQ(Runs(job->id), 0U);
}

TEST_F(JobServiceTest, AOnceWithinItsGraceRunsAtOnce) {
    const auto job = service_.Create(Once(start_ - seconds(2)));
    ASSERT_TRUE(job);
    EXPECT_EQ(Runs(job->id), 1U);
}

TEST_F(JobServiceTest, WhatIsPausedDoesNotAccumulate) {  // K-07
    const auto job = service_.Create(Every(minutes(1)));
    const auto paused = service_.Pause(job->id, "holidays");
    ASSERT_TRUE(paused);
    EXPECT_FALSE(paused->enabled);
    EXPECT_FALSE(paused->state.next_run_at);
    EXPECT_EQ(paused->paused_reason, "holidays");
    clock_.Advance(minutes(10) + seconds(30));
    EXPECT_EQ(planner_.RunOnce({})->runs, 0U);
    const auto resumed = service_.Resume(job->id);
    ASSERT_TRUE(resumed);
    EXPECT_EQ(resumed->state.next_run_at, start_ + minutes(11));
    EXPECT_EQ(Runs(job->id), 0U);
    const auto entries = Ledger(job->id);
    ASSERT_EQ(entries.size(), 1U) << "one entry, however many";
    EXPECT_EQ(entries[0].range.fate, FireFate::kSkippedPaused);
    EXPECT_EQ(entries[0].range.range.count, 10);
}

TEST_F(JobServiceTest, WhatWasDueBeforeAChangeIsAccountedForAsItWas) {
    const auto job = service_.Create(Every(minutes(1)));
    clock_.Advance(minutes(1) + seconds(1));  // the planner was slow
    const auto changed =
        service_.Change(job->id, job->state.version, [](model::Job& edited) -> Result<void> {
            edited.schedule.every = hours(1);
            return {};
        });
    ASSERT_TRUE(changed) << changed.error().Describe();
    EXPECT_EQ(Runs(job->id), 1U) << "the fire of the first minute";
    EXPECT_EQ(changed->state.next_run_at, start_ + hours(1));
    EXPECT_EQ(changed->state.version, 2);
}

TEST_F(JobServiceTest, AChangeOfOtherThingsLeavesTheFiresAlone) {
    const auto job = service_.Create(Every(minutes(1)));
    const auto changed = service_.Change(job->id, {}, [](model::Job& edited) -> Result<void> {
        edited.name = "renamed";
        return {};
    });
    ASSERT_TRUE(changed);
    EXPECT_EQ(changed->state.next_run_at, job->state.next_run_at);
    EXPECT_EQ(changed->state.planned_until, job->state.planned_until);
}

TEST_F(JobServiceTest, AnOldVersionIsRefused) {
    const auto job = service_.Create(Every(minutes(1)));
    ASSERT_TRUE(service_.Pause(job->id, ""));
    const auto refused =
        service_.Change(job->id, job->state.version, [](model::Job&) -> Result<void> {
            ADD_FAILURE() << "the edit is not even made";
            return {};
        });
    EXPECT_EQ(refused.error().code, Code::kConflict);
}

TEST_F(JobServiceTest, AnEditMeetsThePlannerAndIsMadeAgain) {
    const auto job = service_.Create(Every(minutes(1)));
    clock_.Advance(minutes(1));
    int edits = 0;
    const auto changed = service_.Change(job->id, {}, [&](model::Job& edited) -> Result<void> {
        if (++edits == 1) {  // between read and write
            EXPECT_EQ(planner_.RunOnce({})->runs, 1U);
        }
        edited.schedule.every = minutes(2);
        return {};
    });
    ASSERT_TRUE(changed);
    EXPECT_EQ(edits, 2);
    EXPECT_EQ(Runs(job->id), 1U) << "not twice";
    EXPECT_EQ(changed->state.next_run_at, start_ + minutes(2));
}

TEST_F(JobServiceTest, AFailedEditChangesNothing) {
    const auto job = service_.Create(Every(minutes(1)));
    const auto refused = service_.Change(job->id, {}, [](model::Job& edited) -> Result<void> {
        edited.name = "half";
        return Error(Code::kInvalidArgument, "no");
    });
    EXPECT_FALSE(refused);
    EXPECT_EQ(*store_->jobs().Get(job->id), *job);
}

TEST_F(JobServiceTest, MoreThanAChangeCanMakeUpForIsMissedAndNotForgotten) {
    model::Job often = Every(seconds(1));
    often.misfire.grace = hours(1);
    const auto job = service_.Create(often);
    clock_.Advance(minutes(50));
    ASSERT_TRUE(service_.Pause(job->id, ""));
    std::int64_t accounted = *store_->runs().Count({.job_id = job->id}, 10'000);
    EXPECT_EQ(accounted, 2'000 + 1) << "and the one of this very moment";
    for (const auto& entry : Ledger(job->id)) accounted += entry.range.range.count;
    EXPECT_EQ(accounted, 50 * 60);
}

TEST_F(JobServiceTest, AChangeAfterTheClockWasSetBackPlansNoFireAgain) {
    const auto job = service_.Create(Every(minutes(1)));
    clock_.Advance(hours(2));
    ASSERT_TRUE(planner_.RunOnce({}));  // all but the last are missed
    const auto planned = *store_->jobs().Get(job->id);
    clock_.JumpWall(-hours(1));
    ASSERT_TRUE(service_.Pause(job->id, ""));
    const auto resumed = service_.Resume(job->id);
    EXPECT_EQ(resumed->state.planned_until, planned.state.planned_until);
    EXPECT_EQ(resumed->state.next_run_at, planned.state.next_run_at);
}

TEST_F(JobServiceTest, AOnceMovedToThePastIsMissedOnce) {
    const auto job = service_.Create(Once(start_ + hours(1)));
    const auto move = [&](TimePoint to) {
        return service_.Change(job->id, {}, [to](model::Job& edited) -> Result<void> {
            edited.schedule.run_at = to;
            return {};
        });
    };
    ASSERT_EQ(move(start_ - hours(1))->state.last_state, RunState::kMissed);
    ASSERT_EQ(move(start_ + hours(2))->state.next_run_at, start_ + hours(2));
    ASSERT_TRUE(move(start_ - hours(1)));
    EXPECT_EQ(Ledger(job->id).size(), 1U) << "one entry for one nominal time";
}

TEST_F(JobServiceTest, RunNowLeavesTheCadenceAlone) {  // K-06
    const auto job = service_.Create(Every(minutes(1)));
    ASSERT_TRUE(service_.Pause(job->id, ""));
    const auto run = service_.RunNow({.id = job->id, .parameters = R"({"day":"monday"})"});
    ASSERT_TRUE(run);
    EXPECT_EQ(run->trigger, model::RunTrigger::kManual);
    EXPECT_EQ(run->payload, R"({"day":"monday"})");
    EXPECT_EQ(run->status.state, RunState::kQueued);
    EXPECT_FALSE(run->nominal_at);
    const auto claimed = store_->runs().Claim(
        {.filter = {.kind = model::ActionKind::kHttp}, .owner = "o", .limit = 10});
    ASSERT_EQ(claimed->runs.size(), 1U);
    ASSERT_TRUE(service_.RunNow({.id = job->id, .parameters = {}}));
    EXPECT_EQ(store_->runs()
                  .Claim({.filter = {.kind = model::ActionKind::kHttp}, .owner = "o", .limit = 10})
                  ->runs.size(),
              1U)
        << "although another run is under way";
    EXPECT_EQ(service_.RunNow({.id = "none", .parameters = {}}).error().code, Code::kNotFound);
}

}  // namespace
}  // namespace ksana::engine
