#include "ksana/codec/dialects/periodic_task.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

using model::Job;
using model::QueueAction;
using model::RunLog;

constexpr const char* kText = R"({"tenant_id": 7, "type": "report", "creator": "9",
    "cron_expressions": "0 3 * * *", "log": "trigger_log", "category": "night",
    "ext": {"day": "monday"}})";

// T-13, T-14, T-15
TEST(PeriodicTask, IsAJobThatPushesATask) {
    const auto job = PeriodicTaskFromJson(kText);
    ASSERT_TRUE(job) << job.error().Describe();
    EXPECT_EQ(job->tenant, "7");
    EXPECT_EQ(job->owner, "9");
    EXPECT_EQ(job->schedule.cron, "0 3 * * *");
    EXPECT_EQ(job->run_log, RunLog::kTrigger);
    EXPECT_FALSE(job->enabled) << "it is new";
    EXPECT_EQ(job->overlap, model::OverlapPolicy::kAllow) << "every fire makes a task";
    EXPECT_FALSE(job->retry) << "those of its type";
    EXPECT_EQ(
        std::get<QueueAction>(job->action),
        (QueueAction{.type = "report", .category = "night", .payload = R"({"day":"monday"})"}));
    const std::string text = PeriodicTaskToJson(*job);
    EXPECT_NE(text.find(R"("tenant_id":7,"type":"report","creator":9,)"
                        R"("cron_expressions":"0 3 * * *","status":"new","log":"trigger_log",)"
                        R"("category":"night","ext":{"day":"monday"})"),
              std::string::npos)
        << text;
}

TEST(PeriodicTask, StatusTellsNewFromOffline) {
    Job job = *PeriodicTaskFromJson(kText);
    EXPECT_EQ(PeriodicStatusOf(job), PeriodicStatus::kNew);
    job.enabled = true;
    job.paused_reason.clear();
    EXPECT_EQ(PeriodicStatusOf(job), PeriodicStatus::kOnline);
    job.enabled = false;
    EXPECT_EQ(PeriodicStatusOf(job), PeriodicStatus::kOffline);
}

TEST(PeriodicTask, AReplacementKeepsWhatItDoesNotSay) {
    Job job = *PeriodicTaskFromJson(kText);
    job.id = "p";
    job.state.version = 3;
    job.schedule.zone = "Asia/Shanghai";
    job.enabled = true;
    job.paused_reason.clear();
    ASSERT_TRUE(ReplacePeriodicTask(job, R"({"type": "x", "cron_expressions": "5 * * * *"})"));
    EXPECT_EQ(job.id, "p");
    EXPECT_EQ(job.state.version, 3);
    EXPECT_TRUE(job.enabled);
    EXPECT_EQ(job.schedule.zone, "Asia/Shanghai") << "document T has no word for it";
    EXPECT_EQ(job.schedule.cron, "5 * * * *");
    EXPECT_EQ(job.tenant, "default");
    EXPECT_EQ(job.owner, "");
    EXPECT_EQ(job.run_log, RunLog::kFull);
    const Job before = job;
    EXPECT_FALSE(ReplacePeriodicTask(job, R"({"type": "x"})"));
    EXPECT_EQ(job, before) << "a fault changes nothing";
}

TEST(PeriodicTask, EveryFaultIsNamed) {
    const auto job = PeriodicTaskFromJson(R"({"tenant_id": 1.5, "status": "on", "log": "all",
                                              "crons": "* * * * *"})");
    ASSERT_FALSE(job);
    std::vector<std::string> paths;
    for (const Problem& problem : job.error().problems) paths.push_back(problem.path);
    EXPECT_EQ(paths, (std::vector<std::string>{"/tenant_id", "/type", "/cron_expressions",
                                               "/status", "/log", "/crons"}));
}

}  // namespace
}  // namespace ksana::codec
