#include <gtest/gtest.h>

#include "ksana/codec/dialects/admin_job.hpp"
#include "ksana/codec/dialects/admin_log.hpp"

namespace ksana::codec {
namespace {

using model::RunState;
using std::chrono::milliseconds;
using std::chrono::seconds;

// N-15, N-19
TEST(AdminDialect, AJobHasTheMembersOfTheDocument) {
    AdminJob job{.id = "clean", .cron = "0 3 * * *", .mode = "SINGLE_NODE", .last_result = ""};
    EXPECT_EQ(AdminJobToJson(job),
              R"({"id":"clean","enabled":true,"schedule":{"cron":"0 3 * * *"},)"
              R"("mode":"SINGLE_NODE","lastFireTime":null,"lastDuration":null,"lastResult":null,)"
              R"("nextFireTime":null,"runCount":0,"failCount":0})");
    job = {.id = "sync",
           .enabled = false,
           .cron = "",
           .fixed_rate = seconds(300),
           .initial_delay = milliseconds(1'500),
           .mode = "ALL_NODES",
           .last_fire_time = 1'000,
           .last_duration = 20,
           .last_result = "FAILED",
           .next_fire_time = 301'000,
           .run_count = 7,
           .fail_count = 2};
    const std::string text = AdminJobToJson(job);
    EXPECT_EQ(text, R"({"id":"sync","enabled":false,)"
                    R"("schedule":{"fixedRate":300000,"initialDelay":1500},"mode":"ALL_NODES",)"
                    R"("lastFireTime":1000,"lastDuration":20,"lastResult":"FAILED",)"
                    R"("nextFireTime":301000,"runCount":7,"failCount":2})");
    EXPECT_EQ(AdminJobsToJson(std::vector{job, job}), "[" + text + "," + text + "]");
    EXPECT_EQ(AdminJobsToJson({}), "[]");
    job.fixed_rate = {};
    job.run_at = 5;
    EXPECT_NE(AdminJobToJson(job).find(R"("schedule":{"runAt":5})"), std::string::npos);
}

TEST(AdminDialect, ParametersAreTexts) {
    EXPECT_EQ(*AdminParametersFromJson(" \n"), AdminParameters());
    EXPECT_EQ(*AdminParametersFromJson("{}"), AdminParameters());
    const auto two = AdminParametersFromJson(R"({"b":"ä","a":""})");
    ASSERT_TRUE(two);
    EXPECT_EQ(*two, (AdminParameters{{"a", ""}, {"b", "ä"}}));
    EXPECT_EQ(AdminParametersToJson(*two), R"({"a":"","b":"ä"})");
    EXPECT_EQ(AdminParametersToJson({}), "");
    const auto number = AdminParametersFromJson(R"({"day":1,"x/y":null})");
    ASSERT_FALSE(number);
    ASSERT_EQ(number.error().problems.size(), 2U);
    EXPECT_EQ(number.error().problems[0].path, "/day");
    EXPECT_EQ(number.error().problems[1].path, "/x~1y");
    EXPECT_FALSE(AdminParametersFromJson("[]"));
    EXPECT_FALSE(AdminParametersFromJson("{"));
}

TEST(AdminDialect, AStatusChangeNeedsBothMembers) {
    const auto change = AdminStatusChangeFromJson(R"({"id":"j","enabled":true})");
    ASSERT_TRUE(change);
    EXPECT_EQ(change->id, "j");
    EXPECT_TRUE(change->enabled);
    const auto empty = AdminStatusChangeFromJson("{}");
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().problems.size(), 2U);
    EXPECT_FALSE(AdminStatusChangeFromJson(R"({"id":"j","enabled":"true"})"));
    EXPECT_FALSE(AdminStatusChangeFromJson(R"({"id":"j","enabled":true,"status":1})"));
}

TEST(AdminDialect, EveryFinalStateHasAStatus) {
    model::RunStates all = 0;
    for (const auto status :
         {AdminLogStatus::kSuccess, AdminLogStatus::kFailure, AdminLogStatus::kNotRun}) {
        EXPECT_EQ(all & StatesOf(status), 0);
        all = static_cast<model::RunStates>(all | StatesOf(status));
    }
    EXPECT_EQ(all, model::kAllStates & ~model::kUnfinishedStates);
    EXPECT_EQ(StatesOf(AdminLogStatus::kSuccess), model::SetOf(RunState::kSucceeded));
    EXPECT_EQ(StatesOf(AdminLogStatus::kNotRun),
              model::SetOf(RunState::kSkipped) | model::SetOf(RunState::kMissed));
    EXPECT_EQ(AdminResultOf(RunState::kRunning), "");
    EXPECT_EQ(AdminResultOf(RunState::kCompleting), "SUCCESS");
    EXPECT_EQ(AdminResultOf(RunState::kHeld), "FAILED");
    EXPECT_EQ(AdminResultOf(RunState::kMissed), "SKIPPED");
}

model::Run EndedRun() {
    model::Run run;
    run.id = *Uuid::Parse("0192f0c1-2345-7abc-8def-0123456789ab");
    run.job_id = "j";
    run.trigger = model::RunTrigger::kFire;
    run.nominal_at = TimePoint(seconds(10));
    run.created_at = TimePoint(seconds(11));
    run.status.state = RunState::kFailed;
    run.status.attempt = 2;
    run.status.started_at = TimePoint(milliseconds(12'000));
    run.status.ended_at = TimePoint(milliseconds(12'345));
    run.status.finished_at = run.status.ended_at;
    run.status.last_error = "no disk";
    return run;
}

// N-19
TEST(AdminDialect, AnEntryHasTheMembersOfTheDocument) {
    model::Run run = EndedRun();
    EXPECT_EQ(AdminLogPageToJson({.runs = {&run, 1}, .total = 41, .page = 3, .size = 20}),
              R"({"list":[{"id":"0192f0c1-2345-7abc-8def-0123456789ab","jobId":"j","status":1,)"
              R"("outcome":"FAILED","startTime":10000,"endTime":12345,"duration":345,)"
              R"("message":"no disk","attempts":2,"trigger":"fire"}],)"
              R"("total":41,"relation":"exact","page":3,"size":20})");
    EXPECT_EQ(
        AdminLogPageToJson({.runs = {}, .total = 10'000, .exact = false, .page = 1, .size = 1}),
        R"({"list":[],"total":10000,"relation":"at_least","page":1,"size":1})");
    run.status.last_error.clear();
    run.status.state = RunState::kTimedOut;
    EXPECT_NE(AdminLogEntryToJson(run).find(R"("message":"timed_out")"), std::string::npos);
    run.status.state = RunState::kSucceeded;
    run.status.last_error = "of the first attempt";
    run.status.result = R"({"rows":3})";
    run.status.detail = R"({"log":["one","two \"2\""],"status":200})";
    const std::string entry = AdminLogEntryToJson(run);
    EXPECT_NE(entry.find(R"("status":0,"outcome":"SUCCESS")"), std::string::npos) << entry;
    EXPECT_NE(entry.find(R"("message":null)"), std::string::npos) << entry;
    EXPECT_TRUE(entry.ends_with(R"("result":{"rows":3},"log":"one\ntwo \"2\"\n"})")) << entry;
}

TEST(AdminDialect, AnEntryOfWhatNeverRanHasNoDuration) {
    model::Run run = EndedRun();
    run.nominal_at.reset();
    run.status = {};
    run.status.state = RunState::kSkipped;
    run.status.skip_reason = model::SkipReason::kOverlap;
    for (const char* const detail : {"", "no JSON", "[]", R"({"log":1})", R"({"log":[1]})"}) {
        run.status.detail = detail;
        const std::string entry = AdminLogEntryToJson(run);
        EXPECT_NE(entry.find(R"("status":2,"outcome":"SKIPPED","startTime":11000,"endTime":null,)"
                             R"("duration":null,"message":"skipped: overlap","attempts":0)"),
                  std::string::npos)
            << entry;
        EXPECT_TRUE(entry.ends_with(R"("result":null,"log":null})")) << entry;
    }
}

}  // namespace
}  // namespace ksana::codec
