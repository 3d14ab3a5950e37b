#include "ksana/codec/dispatcher/dispatcher_task.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ksana::codec {
namespace {

using model::Job;
using model::QueueAction;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kText = R"({"name": "nightly report", "schedule": "0 3 * * *",
    "zone": "Europe/Berlin", "type": "report", "params": {"day": "monday"}, "timeout": 1.5,
    "max_retries": 4, "base_interval": 0.25, "priority": 8, "status": "INACTIVE",
    "depends_on": ["a", "b"], "on_dependency_failure": "delay"})";

DispatcherTask Read(std::string_view text) {
    auto task = DispatcherTaskFromJson(text, {});
    EXPECT_TRUE(task) << task.error().Describe();
    return task ? *std::move(task) : DispatcherTask{};
}

std::string Written(const Job& job, DispatcherView view = DispatcherView::kWhole) {
    JsonOutput output;
    output.BeginObject();
    WriteDispatcherTask(output, job, view);
    output.EndObject();
    return output.Take();
}

std::vector<std::string> Paths(const std::vector<Problem>& problems) {
    std::vector<std::string> paths;
    for (const Problem& one : problems) paths.push_back(one.path);
    std::ranges::sort(paths);
    return paths;
}

// D-07
TEST(DispatcherTask, IsAJobThatPutsWorkIntoTheQueue) {
    const DispatcherTask task = Read(kText);
    const Job& job = task.job;
    EXPECT_TRUE(task.problems.empty());
    EXPECT_TRUE(IsDispatcherTask(job));
    EXPECT_EQ(job.name, "nightly report");
    EXPECT_EQ(job.schedule.cron, "0 3 * * *");
    EXPECT_EQ(job.schedule.zone, "Europe/Berlin");
    EXPECT_EQ(std::get<QueueAction>(job.action),
              (QueueAction{.type = "report", .category = "", .payload = R"({"day":"monday"})"}));
    EXPECT_EQ(job.timeout, Duration(milliseconds(1500)));
    EXPECT_EQ(job.stop_grace, Duration::zero()) << "over its timeout is over";
    EXPECT_EQ(job.overlap, model::OverlapPolicy::kAllow) << "every fire makes an execution";
    EXPECT_EQ(job.priority, 8);
    EXPECT_FALSE(job.enabled);
    EXPECT_EQ(job.depends_on,
              (std::vector<model::Dependency>{{"a", model::OnDependencyFailure::kWait},
                                              {"b", model::OnDependencyFailure::kWait}}));
    EXPECT_NE(Written(job).find(R"("timeout":1.5,"max_retries":4,"base_interval":0.25,)"
                                R"("priority":8,"status":"INACTIVE","depends_on":["a","b"],)"
                                R"("on_dependency_failure":"delay")"),
              std::string::npos)
        << Written(job);
}

// D-08: base_interval × 2^n, without a cap in between and without jitter
TEST(DispatcherTask, RetriesDouble) {
    const model::RetryPolicy retry = *Read(kText).job.retry;
    EXPECT_EQ(retry.strategy, model::RetryStrategy::kExponential);
    EXPECT_EQ(retry.max_retries, 4);
    EXPECT_EQ(retry.interval, Duration(milliseconds(250)));
    EXPECT_EQ(retry.max_interval, Duration(std::chrono::hours(24 * 30)));
    EXPECT_EQ(retry.jitter, 0.0);
    model::RetryPolicy server;
    server.max_retries = 7;
    server.interval = seconds(9);
    const auto plain =
        DispatcherTaskFromJson(R"({"name":"n","schedule":"* * * * *","type":"t"})", server);
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->job.retry->strategy, model::RetryStrategy::kExponential);
    EXPECT_EQ(plain->job.retry->max_retries, 7) << "the server's";
    EXPECT_EQ(plain->job.retry->interval, Duration(seconds(9)));
    EXPECT_TRUE(plain->job.enabled) << "ACTIVE unless told otherwise";
    EXPECT_FALSE(plain->job.timeout) << "that of the type, else the server's";
    server.strategy = model::RetryStrategy::kNone;
    EXPECT_EQ(DispatcherTaskFromJson("{}", server)->job.retry->max_retries, 0);
}

TEST(DispatcherTask, EveryFaultIsTold) {
    const DispatcherTask task = Read(R"({"schedule": 5, "typ": "t", "timeout": 0,
        "max_retries": "many", "base_interval": -1, "priority": 1.5, "status": "active",
        "depends_on": "a", "on_dependency_failure": "wait"})");
    EXPECT_EQ(Paths(task.problems),
              (std::vector<std::string>{"/base_interval", "/depends_on", "/max_retries", "/name",
                                        "/on_dependency_failure", "/priority", "/schedule",
                                        "/status", "/timeout", "/typ", "/type"}));
    EXPECT_EQ(Paths(Read("[1]").problems), std::vector<std::string>{""});
    EXPECT_EQ(Paths(Read(R"({"name":"n","schedule":"s","type":"t","timeout":1e300})").problems),
              std::vector<std::string>{"/timeout"});
    EXPECT_FALSE(DispatcherTaskFromJson("{", {})) << "no JSON";
}

TEST(DispatcherTask, FaultsOfAJobHaveTheNamesOfATask) {
    std::vector<Problem> problems;
    for (const char* path :
         {"/schedule/cron", "/schedule", "/schedule/zone", "/queue/type", "/queue/payload",
          "/retry/interval", "/retry/max_retries", "/depends_on/1/job", "/depends_on", "/name"}) {
        problems.push_back({path, "is wrong"});
    }
    std::vector<std::string> renamed;
    for (const Problem& one : InDispatcherWords(problems)) renamed.push_back(one.path);
    EXPECT_EQ(renamed, (std::vector<std::string>{"/schedule", "/schedule", "/zone", "/type",
                                                 "/params", "/base_interval", "/max_retries",
                                                 "/depends_on/1", "/depends_on", "/name"}));
}

TEST(DispatcherTask, AReplacementKeepsOnlyWhatHasNoWord) {
    Job before = Read(kText).job;
    before.id = "nightly";
    before.owner = "ann";
    before.schedule.calendar = "holidays";
    std::get<QueueAction>(before.action).category = "night";
    const auto task =
        ReplacedDispatcherTask(R"({"name": "n", "schedule": "@hourly", "type": "t"})", before, {});
    ASSERT_TRUE(task);
    EXPECT_TRUE(task->problems.empty());
    const Job& after = task->job;
    EXPECT_EQ(after.id, "nightly");
    EXPECT_EQ(after.owner, "ann");
    EXPECT_EQ(after.schedule.calendar, "holidays");
    EXPECT_EQ(after.schedule.zone, "UTC");
    EXPECT_EQ(std::get<QueueAction>(after.action), (QueueAction{"t", "night", ""}));
    EXPECT_FALSE(after.enabled) << "the status stays";
    EXPECT_FALSE(after.timeout);
    EXPECT_EQ(after.retry->max_retries, 3);
    EXPECT_EQ(after.priority, model::kDefaultPriority);
    EXPECT_TRUE(after.depends_on.empty());
    const auto other = ReplacedDispatcherTask(
        R"({"id": "x", "name": "n", "schedule": "@hourly", "type": "t"})", before, {});
    EXPECT_EQ(Paths(other->problems), std::vector<std::string>{"/id"});
}

// A client may send back what it was shown.
TEST(DispatcherTask, AnAnswerIsAValidReplacement) {
    Job before = Read(kText).job;
    before.id = "nightly";
    before.state.version = 3;
    const auto again = ReplacedDispatcherTask(Written(before), before, {});
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->problems.empty());
    EXPECT_EQ(again->job, before);
    EXPECT_EQ(again->version, 3);
}

TEST(DispatcherTask, AListLeavesOutLargeParams) {
    Job job = Read(kText).job;
    std::get<QueueAction>(job.action).payload = '"' + std::string(kMaxListedJson, 'x') + '"';
    EXPECT_NE(Written(job, DispatcherView::kListed).find(R"("params":null,"params_omitted":true)"),
              std::string::npos);
    EXPECT_EQ(Written(job).find("params_omitted"), std::string::npos);
    EXPECT_GT(Written(job).size(), kMaxListedJson);
}

TEST(DispatcherTask, ATriggerMayHaveParams) {
    EXPECT_EQ(*TriggerParamsFromJson(" "), "");
    EXPECT_EQ(*TriggerParamsFromJson("{}"), "");
    EXPECT_EQ(*TriggerParamsFromJson(R"({"params": [1, 2]})"), "[1,2]");
    EXPECT_FALSE(TriggerParamsFromJson(R"({"parms": 1})"));
}

}  // namespace
}  // namespace ksana::codec
