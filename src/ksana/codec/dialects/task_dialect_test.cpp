#include "ksana/codec/dialects/task_dialect.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

using model::EventKind;
using model::RunState;
using Strings = std::vector<std::string>;

template <class T>
Strings Paths(const Result<T>& result) {
    Strings paths;
    if (result) return paths;
    for (const Problem& problem : result.error().problems) paths.push_back(problem.path);
    return paths;
}

bool Has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

Result<SubmittedTasks> Tasks(std::string_view text) {
    return SubmittedTasksFromJson(text, 1 << 20, 3);
}

// T-01
TEST(TaskDialect, ATaskIsReadAsTheDocumentWritesIt) {
    const auto one = Tasks(R"({"tenant_id": 42, "type": "mail", "creator": "7", "category": "bulk",
                               "start_time": "2026-01-01T00:00:00Z", "ext": {"to": [1]}})");
    ASSERT_TRUE(one) << one.error().Describe();
    EXPECT_FALSE(one->is_list);
    const model::NewTask& task = one->tasks.at(0);
    EXPECT_EQ(task.tenant, "42");
    EXPECT_EQ(task.creator, "7");
    EXPECT_EQ(task.category, "bulk");
    EXPECT_EQ(task.payload, R"({"to":[1]})");
    EXPECT_TRUE(task.start_at);
    const auto many = Tasks(R"([{"type": "a", "creator": 0}, {"type": "b", "status": "New"}])");
    ASSERT_TRUE(many);
    EXPECT_TRUE(many->is_list);
    EXPECT_EQ(many->tasks.size(), 2U);
    EXPECT_EQ(many->tasks.at(0).creator, "") << "0 is nobody";
    EXPECT_EQ(many->tasks.at(0).tenant, "default");
}

TEST(TaskDialect, EveryFaultOfATaskIsNamed) {
    EXPECT_EQ(Paths(Tasks(R"([{"type": "a"}, {"tenant_id": 18446744073709551615, "typ": "b"}])")),
              (Strings{"/1/tenant_id", "/1/type", "/1/typ"}));
    EXPECT_EQ(Paths(Tasks(R"({"type": "a", "id": 5, "creator": true})")),
              (Strings{"/id", "/creator"}));
    EXPECT_EQ(Paths(Tasks(R"([{},{},{},{}])")), Strings{""}) << "more than are taken at once";
    EXPECT_EQ(Paths(Tasks("7")).size(), 1U);
}

// T-01, T-02
TEST(TaskDialect, ATaskIsShownWithAllItsMembers) {
    model::Run run;
    run.tenant = "42";
    run.type = "mail";
    run.creator = "ann";
    run.payload = R"({"a":1})";
    run.status.state = RunState::kRunning;
    run.status.exec_id = "e1";
    run.status.failures = 2;
    run.status.last_error = "no";
    run.status.deadline = TimePoint{} + std::chrono::minutes(1);
    EXPECT_TRUE(Has(TaskToJson(run),
                    R"("tenant_id":42,"type":"mail","creator":"ann","start_time":)"
                    R"("1970-01-01T00:00:00Z","status":"Executing","executing_deadline":)"
                    R"("1970-01-01T00:01:00Z","exec_id":null,"error_count":2,"error_info":"no",)"
                    R"("category":"","remark":"","ext":{"a":1},"result":null,"exec_time":0)"))
        << TaskToJson(run);
    EXPECT_FALSE(Has(TasksToJson({&run, 1}), "e1")) << "it is a secret of the attempt";
    EXPECT_TRUE(Has(FetchedTasksToJson({&run, 1}), R"("exec_id":"e1")"));
    run.status.state = RunState::kSucceeded;
    run.status.result = "[1]";
    run.status.started_at = TimePoint{};
    run.status.ended_at = TimePoint{} + std::chrono::milliseconds(2'900);
    EXPECT_TRUE(Has(TaskToJson(run), R"("executing_deadline":null)"));
    EXPECT_TRUE(Has(TaskToJson(run), R"("result":[1],"exec_time":2)"));
    EXPECT_TRUE(Has(TaskToJson(model::Run{}), R"("creator":0)"));
    EXPECT_TRUE(Has(TaskToJson(model::Run{}), R"("ext":{})"));
    run.tenant = "007";
    EXPECT_TRUE(Has(TaskToJson(run), R"("tenant_id":"007")")) << "no number is written so";
}

// T-03
TEST(TaskDialect, AnAgentAsksByNameOrNames) {
    EXPECT_EQ(TaskFetchFromJson("")->limit, 1);
    const auto fetch = TaskFetchFromJson(
        R"({"type": "a", "category": ["x", "y"], "tenant_id": 1, "creator": 2, "limit": 9})");
    ASSERT_TRUE(fetch);
    EXPECT_EQ(fetch->types, Strings{"a"});
    EXPECT_EQ(fetch->categories, (Strings{"x", "y"}));
    EXPECT_EQ(fetch->tenant, "1");
    EXPECT_EQ(fetch->creator, "2");
    EXPECT_EQ(fetch->limit, 9);
    EXPECT_EQ(Paths(TaskFetchFromJson(R"({"limit": 501, "type": {}, "size": 1})")),
              (Strings{"/type", "/limit", "/size"}));
}

// T-02, T-10
TEST(TaskDialect, AReportIsTheEventItMeans) {
    const auto report = [](const std::string& rest) {
        return TaskReportFromJson(R"({"exec_id": "e", "status": )" + rest + "}");
    };
    const auto success = report(R"("Success", "result": {"n": 1})");
    ASSERT_TRUE(success);
    EXPECT_EQ(success->kind, EventKind::kSuccess);
    EXPECT_TRUE(success->without_callback);
    EXPECT_EQ(success->result, R"({"n":1})");
    EXPECT_FALSE(report(R"("Completed")")->without_callback);
    EXPECT_EQ(report(R"("Error", "error_info": "no")")->kind, EventKind::kRetryableFailure);
    EXPECT_EQ(report(R"("Error", "error_info": "no")")->error, "no");
    EXPECT_EQ(report(R"("Failure")")->kind, EventKind::kPermanentFailure);
    EXPECT_TRUE(report(R"("Failure")")->without_person);
    EXPECT_EQ(Paths(report(R"("Done")")), Strings{"/status"});
    EXPECT_EQ(Paths(report(R"("Success", "error_info": "x")")), Strings{"/error_info"});
    EXPECT_EQ(Paths(report(R"("Error", "result": 1)")), Strings{"/result"});
    EXPECT_TRUE(report(R"("Error", "result": null)"));
    EXPECT_EQ(Paths(TaskReportFromJson("{}")), (Strings{"/exec_id", "/status"}));
}

// T-14
TEST(TaskDialect, ALogLineSaysAsMuchAsItIsAskedTo) {
    model::Run run;
    run.job_id = "p";
    run.status.last_error = "no";
    const auto result = [&run](RunState state) {
        run.status.state = state;
        const std::string text = PeriodicLogToJson(std::span(&run, 1));
        const std::size_t at = text.find("\"result\":");
        return text.substr(at, text.find(",\"create") - at);
    };
    EXPECT_EQ(result(RunState::kRunning), R"("result":"executing","error_info":"")");
    EXPECT_EQ(result(RunState::kScheduled), R"("result":"executing","error_info":"")");
    EXPECT_EQ(result(RunState::kSucceeded), R"("result":"success","error_info":"")");
    EXPECT_EQ(result(RunState::kFailed), R"("result":"failure","error_info":"no")");
    EXPECT_EQ(result(RunState::kHeld), R"("result":"failure","error_info":"no")");
    run.policy.run_log = model::RunLog::kTrigger;
    EXPECT_EQ(result(RunState::kFailed), R"("result":"success","error_info":"")");
}

}  // namespace
}  // namespace ksana::codec
