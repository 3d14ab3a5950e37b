#include "ksana/api/admin/admin_routes.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "api/call_router.hpp"
#include "engine/service_fixture.hpp"
#include "ksana/api/admin/job_log.hpp"
#include "ksana/api/admin/stored_admin_jobs.hpp"
#include "ksana/engine/services/run_service.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::api {
namespace {

using http_server::Permission;
using http_server::Response;
using model::EventKind;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

bool Has(const Response& response, std::string_view part) {
    return response.body.find(part) != std::string::npos;
}

// Returns the numbers, flags and texts of one member in an answer, in order.
std::vector<std::string> MembersOf(const Response& response, const std::string& name) {
    const std::string key = fmt::format("\"{}\":", name);
    std::vector<std::string> values;
    std::size_t at = 0;
    while ((at = response.body.find(key, at)) != std::string::npos) {
        at += key.size();
        const std::size_t end = response.body.find_first_of(",}", at);
        values.push_back(response.body.substr(at, end - at));
    }
    return values;
}

class AdminRoutesTest : public engine::ServiceFixture {
  protected:
    AdminRoutesTest() {
        router_.SetAuthorize([this](const auto&, Permission asked) -> Result<http_server::Caller> {
            if (asked == refused_) return Error(Code::kPermissionDenied, "not you");
            return http_server::Caller{.name = "me"};
        });
        AddAdminRoutes(router_, {.jobs = jobs_, .store = *counted_, .runs = runs_});
    }

    Response Do(HttpMethod method, const std::string& target, const std::string& body = "") {
        return CallRouter(router_, MakeRequest(method, target, body));
    }
    Response Get(const std::string& target) { return Do(HttpMethod::kGet, target); }
    Response Trigger(const std::string& id, const std::string& body = "") {
        return Do(HttpMethod::kPost, "/admin/job/trigger?id=" + id, body);
    }
    Response Clean(const std::string& query = "") {
        return Do(HttpMethod::kDelete, "/admin/job-log/clean" + query);
    }

    // Makes a job that queues runs, every five minutes.
    void Make(const std::string& id, const std::function<void(model::Job&)>& edit = {}) {
        model::Job job;
        job.id = id;
        job.name = id;
        job.action = model::QueueAction{.type = "t", .category = "", .payload = ""};
        job.schedule.kind = schedule::ScheduleKind::kEvery;
        job.schedule.every = minutes(5);
        job.retry = model::RetryPolicy{.max_retries = 0};
        if (edit) edit(job);
        const auto made = service_.Create(job.definition(), {});
        ASSERT_TRUE(made) << made.error().Describe();
    }

    model::Run Claim() {
        auto claimed = store_->runs().Claim({.filter = {}, .owner = "o"});
        EXPECT_EQ(claimed->runs.size(), 1U);
        return claimed->runs.empty() ? model::Run{} : claimed->runs.front();
    }
    // Triggers the job, lets its run take a second, and returns the run's id.
    std::string RunJob(const std::string& id, EventKind end = EventKind::kSuccess) {
        EXPECT_EQ(Trigger(id).status, 200);
        const model::Run run = Claim();
        clock_.Advance(seconds(1));
        End(run, end);
        return run.id.ToString();
    }
    void End(const model::Run& run, EventKind kind) {
        model::Event event;
        event.kind = kind;
        event.exec_id = run.status.exec_id;
        if (kind == EventKind::kSuccess) {
            event.result = R"({"rows":3})";
            event.log = R"("line 1","line 2")";
        } else {
            event.error = "no disk";
        }
        ASSERT_TRUE(store_->runs().Apply({{.run_id = run.id, .event = std::move(event)}}));
    }
    // Submits a task that belongs to no job, and lets it succeed.
    std::string RunTask() {
        model::Run task;
        task.type = "t";
        const auto submitted = store_->runs().Submit({.now = {}, .runs = {task}, .start = {}});
        End(Claim(), EventKind::kSuccess);
        return submitted->front().id.ToString();
    }
    std::int64_t NowMs() const {
        return std::chrono::floor<milliseconds>(clock_.Now()).time_since_epoch().count();
    }
    std::int64_t AuditEvents(const std::string& action) {
        std::int64_t count = 0;
        const auto page = store_->events().List({.limit = 1'000});
        for (const auto& event : page->items) {
            if (event.action == action) ++count;
        }
        return count;
    }

    store::FaultPlan plan_;
    std::unique_ptr<store::Store> counted_ = store::MakeFaultyStore(*store_, plan_);
    engine::RunService runs_{*store_, ids_};
    StoredAdminJobs jobs_{service_, *counted_};
    std::optional<Permission> refused_;
    http_server::Router router_;
};

TEST_F(AdminRoutesTest, EveryRouteSaysWhatItNeeds) {  // N-19
    const std::map<std::string, Permission> expected = {
        {"GET /admin/job/list", Permission::kRead},
        {"GET /admin/job/get", Permission::kRead},
        {"POST /admin/job/trigger", Permission::kOperate},
        {"PUT /admin/job/update-status", Permission::kOperate},
        {"GET /admin/job-log/page", Permission::kRead},
        {"GET /admin/job-log/get", Permission::kRead},
        {"DELETE /admin/job-log/clean", Permission::kWrite},
    };
    std::map<std::string, Permission> found;
    for (const auto& route : router_.routes()) {
        found.emplace(fmt::format("{} {}", NameOf(route->method()), route->pattern()),
                      route->permission());
        EXPECT_FALSE(route->description().empty()) << route->pattern();
        EXPECT_EQ(route->where(), http_server::Where::kPool) << "the store may wait";
    }
    EXPECT_EQ(found, expected);
}

TEST_F(AdminRoutesTest, WithoutThePermissionNothingHappens) {
    Make("j");
    RunJob("j");
    refused_ = Permission::kOperate;
    EXPECT_EQ(Trigger("j").status, 403);
    EXPECT_EQ(Do(HttpMethod::kPut, "/admin/job/update-status?id=j&enabled=false").status, 403);
    refused_ = Permission::kWrite;
    EXPECT_EQ(Clean().status, 403);
    refused_ = Permission::kRead;
    for (const char* const path : {"job/list", "job/get?id=j", "job-log/page", "job-log/get"}) {
        EXPECT_EQ(Get(fmt::format("/admin/{}", path)).status, 403) << path;
    }
    refused_.reset();
    EXPECT_EQ(Runs("j"), 1U);
    EXPECT_TRUE(store_->jobs().Get("j")->enabled);
}

TEST_F(AdminRoutesTest, AJobIsShownAsTheDocumentSays) {  // N-15, N-19
    EXPECT_EQ(Get("/admin/job/list").body, "[]");
    const std::int64_t start = NowMs();
    Make("b");
    EXPECT_EQ(Get("/admin/job/get?id=b").body,
              fmt::format(R"({{"id":"b","enabled":true,)"
                          R"("schedule":{{"fixedRate":300000,"initialDelay":0}},)"
                          R"("mode":"SINGLE_NODE","lastFireTime":null,"lastDuration":null,)"
                          R"("lastResult":null,"nextFireTime":{},"runCount":0,"failCount":0}})",
                          start + 300'000));
    Make("a", [](model::Job& job) {
        job.schedule = {.kind = schedule::ScheduleKind::kCron, .cron = "0 3 * * *"};
    });
    Make("c", [this](model::Job& job) { job.schedule.start_at = clock_.Now() + seconds(10); });
    Make("d", [this](model::Job& job) {
        job.schedule = {.kind = schedule::ScheduleKind::kOnce, .run_at = clock_.Now() + minutes(1)};
    });
    const Response list = Get("/admin/job/list");
    EXPECT_EQ(list.status, 200);
    EXPECT_EQ(MembersOf(list, "id"), (std::vector<std::string>{"\"a\"", "\"b\"", "\"c\"", "\"d\""}))
        << "in the order of their ids";
    EXPECT_TRUE(Has(list, R"("schedule":{"cron":"0 3 * * *"})")) << list.body;
    EXPECT_TRUE(Has(list, R"("schedule":{"fixedRate":300000,"initialDelay":10000})")) << list.body;
    EXPECT_TRUE(Has(list, fmt::format(R"("schedule":{{"runAt":{}}})", start + 60'000)));
}

TEST_F(AdminRoutesTest, AJobShowsItsRuns) {  // N-15, N-19
    Make("j");
    RunJob("j");
    const std::int64_t second = NowMs();
    RunJob("j", EventKind::kPermanentFailure);
    const Response job = Get("/admin/job/get?id=j");
    EXPECT_TRUE(Has(job, fmt::format(R"("lastFireTime":{},"lastDuration":1000,)"
                                     R"("lastResult":"FAILED")",
                                     second)))
        << job.body;
    EXPECT_TRUE(Has(job, R"("runCount":2,"failCount":1)")) << job.body;
    EXPECT_EQ(Get("/admin/job/list").body, "[" + job.body + "]");
    ASSERT_EQ(Clean().status, 200);
    const Response later = Get("/admin/job/get?id=j");
    EXPECT_TRUE(Has(later, R"("lastDuration":null,"lastResult":"FAILED")")) << later.body;
    EXPECT_TRUE(Has(later, R"("runCount":2,"failCount":0)")) << "counts stored runs" << later.body;
}

// The answer does not take a query for each of many jobs.
TEST_F(AdminRoutesTest, ManyJobsTakeFewQueries) {
    for (int i = 0; i < 150; ++i) Make(fmt::format("j{:03}", i));
    RunJob("j007", EventKind::kPermanentFailure);
    RunTask();
    const auto before = plan_.Calls("runs.List") + plan_.Calls("runs.Count");
    const Response list = Get("/admin/job/list");
    EXPECT_LE(plan_.Calls("runs.List") + plan_.Calls("runs.Count") - before, 3);
    EXPECT_EQ(MembersOf(list, "id").size(), 150U);
    EXPECT_TRUE(Has(list, Get("/admin/job/get?id=j007").body)) << "says the same";
    EXPECT_TRUE(Has(list, Get("/admin/job/get?id=j008").body));
}

TEST_F(AdminRoutesTest, WhatIsNotThereIsNotFound) {
    for (const Response& response :
         {Get("/admin/job/get?id=none"), Trigger("none"),
          Do(HttpMethod::kPut, "/admin/job/update-status", R"({"id":"none","enabled":true})"),
          Get("/admin/job-log/get?id=none"),
          Get("/admin/job-log/get?id=0192f0c1-2345-7abc-8def-0123456789ab")}) {
        EXPECT_EQ(response.status, 404) << response.body;
        EXPECT_EQ(response.content_type, "application/problem+json");
        EXPECT_TRUE(Has(response, R"("code":"not_found")")) << response.body;
        EXPECT_TRUE(Has(response, R"("request_id":"r1")")) << response.body;
    }
    EXPECT_EQ(Get("/admin/job/explode").status, 404);
    EXPECT_EQ(Get("/admin/job/trigger?id=j").status, 405) << "no GET with effects";
}

TEST_F(AdminRoutesTest, QueriesAreChecked) {
    Make("j");
    const std::map<std::string, std::string> bad = {
        {"GET /admin/job/list?page=1", "page"},
        {"GET /admin/job/get", "id"},
        {"GET /admin/job/get?id=", "id"},
        {"GET /admin/job/get?id=j&id=k", "id"},
        {"GET /admin/job/get?id=j&ID=j", "ID"},
        {"POST /admin/job/trigger", "id"},
        {"POST /admin/job/trigger?id=j&force=true", "force"},
        {"PUT /admin/job/update-status", "id"},
        {"PUT /admin/job/update-status?id=j", "enabled"},
        {"PUT /admin/job/update-status?id=j&enabled=1", "enabled"},
        {"GET /admin/job-log/page?page=0", "page"},
        {"GET /admin/job-log/page?page=x", "page"},
        {"GET /admin/job-log/page?page=99999999999999999999", "page"},
        {"GET /admin/job-log/page?page=101&size=100", "page"},
        {"GET /admin/job-log/page?size=0", "size"},
        {"GET /admin/job-log/page?size=101", "size"},
        {"GET /admin/job-log/page?status=3", "status"},
        {"GET /admin/job-log/page?status=ok", "status"},
        {"GET /admin/job-log/page?startTime=-1", "startTime"},
        {"GET /admin/job-log/page?endTime=2026-01-01T00:00:00Z", "endTime"},
        {"GET /admin/job-log/page?endTime=9223372036854775807", "endTime"},
        {"GET /admin/job-log/page?jobID=j", "jobID"},
        {"GET /admin/job-log/get", "id"},
        {"DELETE /admin/job-log/clean?before=now", "before"},
        {"DELETE /admin/job-log/clean?status=0", "status"},
    };
    for (const auto& [request, name] : bad) {
        const std::size_t blank = request.find(' ');
        HttpMethod method = HttpMethod::kGet;
        if (request.starts_with("POST")) method = HttpMethod::kPost;
        if (request.starts_with("PUT")) method = HttpMethod::kPut;
        if (request.starts_with("DELETE")) method = HttpMethod::kDelete;
        const Response response = Do(method, request.substr(blank + 1));
        EXPECT_EQ(response.status, 400) << request << response.body;
        EXPECT_EQ(response.content_type, "application/problem+json");
        EXPECT_TRUE(Has(response, fmt::format(R"("pointer":"/query/{}")", name))) << response.body;
    }
    EXPECT_EQ(Runs("j"), 0U);
    EXPECT_TRUE(store_->jobs().Get("j")->enabled);
}

TEST_F(AdminRoutesTest, ATriggerRunsAJobOnce) {  // N-14, N-19
    Make("j", [](model::Job& job) { job.enabled = false; });
    const Response triggered = Trigger("j", R"({"day":"monday"})");
    EXPECT_EQ(triggered.status, 200) << "although it is disabled";
    EXPECT_EQ(triggered.body, R"({"id":"j","triggered":true})");
    EXPECT_EQ(AuditEvents("run_now"), 1);
    const model::Run run = Claim();
    EXPECT_EQ(run.payload, R"({"day":"monday"})");
    EXPECT_EQ(run.trigger, model::RunTrigger::kManual);
    for (const char* const bad : {"[]", "{", R"({"day":1})", R"("x")"}) {
        EXPECT_EQ(Trigger("j", bad).status, 400) << bad;
    }
    EXPECT_TRUE(Has(Trigger("j", R"({"day":1})"), R"("pointer":"/day")"));
    EXPECT_EQ(Runs("j"), 1U);
}

TEST_F(AdminRoutesTest, ATriggerIsSkippedWhileTheJobRuns) {  // N-14
    Make("j");
    ASSERT_EQ(Trigger("j").status, 200);
    const model::Run run = Claim();
    EXPECT_EQ(Trigger("j").status, 200) << "a skip is no error";
    EXPECT_EQ(store_->runs().Claim({.filter = {}, .owner = "o"})->skipped, 1U);
    const Response log = Get("/admin/job-log/page?jobId=j");
    EXPECT_EQ(MembersOf(log, "status"), std::vector<std::string>{"2"}) << log.body;
    EXPECT_TRUE(Has(log, R"("message":"skipped: overlap")")) << log.body;
    EXPECT_TRUE(Has(Get("/admin/job/get?id=j"), R"("lastResult":"SKIPPED")"));
    End(run, EventKind::kSuccess);
}

TEST_F(AdminRoutesTest, AJobIsDisabledAndEnabled) {  // N-19
    Make("j");
    const auto update = [this](const std::string& body) {
        return Do(HttpMethod::kPut, "/admin/job/update-status", body);
    };
    const Response off = update(R"({"id":"j","enabled":false})");
    EXPECT_EQ(off.status, 200) << off.body;
    EXPECT_TRUE(Has(off, R"("enabled":false)")) << off.body;
    EXPECT_TRUE(Has(off, R"("nextFireTime":null)")) << off.body;
    EXPECT_EQ(update(R"({"id":"j","enabled":false})").status, 200) << "again";
    EXPECT_EQ(store_->jobs().Get("j")->state.version, 2) << "which changes nothing";
    EXPECT_EQ(AuditEvents("paused"), 1);
    const Response on = Do(HttpMethod::kPut, "/admin/job/update-status?id=j&enabled=true");
    EXPECT_EQ(on.body, Get("/admin/job/get?id=j").body) << "by the query";
    EXPECT_TRUE(Has(on, R"("enabled":true)")) << on.body;
    EXPECT_EQ(AuditEvents("resumed"), 1);
    for (const auto& [body, pointer] : std::map<std::string, std::string>{
             {"{}", "/id"},
             {R"({"id":"j"})", "/enabled"},
             {R"({"id":"j","enabled":0})", "/enabled"},
             {R"({"id":7,"enabled":true})", "/id"},
             {R"({"id":"j","enabled":true,"reason":"x"})", "/reason"},
             {"[]", ""}}) {
        const Response response = update(body);
        EXPECT_EQ(response.status, 400) << body;
        EXPECT_TRUE(Has(response, fmt::format(R"("pointer":"{}")", pointer))) << response.body;
    }
    const Response both =
        Do(HttpMethod::kPut, "/admin/job/update-status?id=j", R"({"id":"j","enabled":false})");
    EXPECT_TRUE(Has(both, R"("pointer":"/query/id")")) << "a body or a query" << both.body;
}

TEST_F(AdminRoutesTest, TheLogShowsEndedRunsOfJobs) {  // N-19
    Make("j");
    Make("k");
    const std::string first = RunJob("j");
    const std::int64_t middle = NowMs();
    const std::string task = RunTask();
    const std::string second = RunJob("k", EventKind::kPermanentFailure);
    ASSERT_EQ(Trigger("k").status, 200);
    const std::string running = Claim().id.ToString();
    const auto ids = [this](const std::string& query) {
        std::vector<std::string> found;
        for (const std::string& id : MembersOf(Get("/admin/job-log/page" + query), "id")) {
            found.push_back(id.substr(1, id.size() - 2));
        }
        return found;
    };
    using Ids = std::vector<std::string>;
    EXPECT_EQ(ids(""), (Ids{second, first})) << "the newest first";
    EXPECT_EQ(ids("?status=0"), Ids{first});
    EXPECT_EQ(ids("?status=1"), Ids{second});
    EXPECT_EQ(ids("?status=2"), Ids{});
    EXPECT_EQ(ids("?jobId=k"), Ids{second});
    EXPECT_EQ(ids("?jobId=none"), Ids{});
    EXPECT_EQ(ids(fmt::format("?startTime={}", middle + 1)), Ids{second});
    EXPECT_EQ(ids(fmt::format("?startTime={}", middle)), (Ids{second, first})) << "inclusive";
    EXPECT_EQ(ids(fmt::format("?endTime={}", middle + 1)), Ids{first});
    EXPECT_EQ(ids(fmt::format("?endTime={}", middle)), Ids{}) << "exclusive";
    const Response page = Get("/admin/job-log/page");
    EXPECT_TRUE(page.body.ends_with(R"("total":2,"relation":"exact","page":1,"size":20})"));
    const Response entry = Get("/admin/job-log/get?id=" + first);
    EXPECT_EQ(entry.status, 200);
    EXPECT_TRUE(Has(entry, fmt::format(R"("jobId":"j","status":0,"outcome":"SUCCESS",)"
                                       R"("startTime":{},"endTime":{},"duration":1000,)"
                                       R"("message":null,"attempts":1,"trigger":"manual",)"
                                       R"("result":{{"rows":3}},"log":"line 1\nline 2\n"}})",
                                       middle - 1'000, middle)))
        << entry.body;
    EXPECT_TRUE(Has(Get("/admin/job-log/get?id=" + second), R"("message":"no disk")"));
    EXPECT_EQ(Get("/admin/job-log/get?id=" + task).status, 404) << "belongs to no job";
    EXPECT_EQ(Get("/admin/job-log/get?id=" + running).status, 404) << "has not ended";
}

// Fires and runs by hand, which come from different lists, in one order.
TEST_F(AdminRoutesTest, PagesAddUp) {
    Make("j", [](model::Job& job) { job.overlap = model::OverlapPolicy::kAllow; });
    std::vector<std::string> all;
    const auto add = [&](std::size_t count, model::RunTrigger trigger, bool task) {
        std::vector<model::Run> runs(count);
        for (model::Run& run : runs) {
            run.id = ids_.Next();
            run.type = "t";
            run.job_id = task ? "" : "j";
            run.trigger = trigger;
        }
        ASSERT_TRUE(store_->runs().Submit({.now = {}, .runs = std::move(runs), .start = {}}));
        const auto claimed =
            store_->runs().Claim({.filter = {}, .owner = "o", .limit = store::kMaxBatch});
        ASSERT_EQ(claimed->runs.size(), count);
        for (const model::Run& run : claimed->runs) {
            if (!task) all.push_back(run.id.ToString());
            clock_.Advance(milliseconds(1));
            End(run, EventKind::kSuccess);
        }
    };
    for (int round = 0; round < 3; ++round) {
        add(130, model::RunTrigger::kFire, false);
        add(50, model::RunTrigger::kSubmitted, true);
        add(3, model::RunTrigger::kManual, false);
        add(17, model::RunTrigger::kBackfill, false);
    }
    std::ranges::reverse(all);
    std::vector<std::string> seen;
    for (int page = 1; page <= 7; ++page) {
        const Response answer = Get(fmt::format("/admin/job-log/page?page={}&size=70", page));
        EXPECT_TRUE(Has(answer, R"("total":450,"relation":"exact")")) << answer.body.size();
        for (const std::string& id : MembersOf(answer, "id")) {
            seen.push_back(id.substr(1, id.size() - 2));
        }
    }
    EXPECT_EQ(seen, all);
    const Response beyond = Get("/admin/job-log/page?page=8&size=70");
    EXPECT_TRUE(beyond.body.starts_with(R"({"list":[],"total":450)")) << beyond.body;
    EXPECT_EQ(Get("/admin/job-log/page?page=100&size=100").status, 200) << "the deepest";
}

TEST_F(AdminRoutesTest, TheLogIsCleaned) {  // N-19
    Make("j");
    Make("k");
    RunJob("j");
    const std::int64_t middle = NowMs();
    RunJob("j", EventKind::kPermanentFailure);
    RunJob("k");
    const std::string task = RunTask();
    ASSERT_EQ(Trigger("j").status, 200);
    const model::Run running = Claim();
    EXPECT_EQ(Clean("?jobId=none").body, R"({"deleted":0,"more":false})");
    EXPECT_EQ(Clean(fmt::format("?before={}", middle)).body, R"({"deleted":0,"more":false})");
    EXPECT_EQ(Clean(fmt::format("?jobId=j&before={}", middle + 1)).body,
              R"({"deleted":1,"more":false})");
    EXPECT_EQ(Clean("?jobId=j").body, R"({"deleted":1,"more":false})");
    EXPECT_EQ(AuditEvents("deleted"), 2);
    EXPECT_EQ(Runs("k"), 1U);
    EXPECT_EQ(Clean().body, R"({"deleted":1,"more":false})");
    EXPECT_TRUE(store_->runs().Get(*Uuid::Parse(task))) << "belongs to no job";
    EXPECT_TRUE(store_->runs().Get(running.id)) << "has not ended";
    End(running, EventKind::kSuccess);
    EXPECT_TRUE(Has(Get("/admin/job-log/page"), R"("total":1)"));
}

TEST_F(AdminRoutesTest, ACleanStopsAndSaysThatThereIsMore) {
    std::vector<model::Run> runs(kMostCleaned + 5);
    for (model::Run& run : runs) {
        run.job_id = "gone";
        run.trigger = model::RunTrigger::kManual;
    }
    ASSERT_TRUE(store_->runs().Submit({.now = {}, .runs = std::move(runs), .start = {}}));
    const auto claimed =
        store_->runs().Claim({.filter = {}, .owner = "o", .limit = store::kMaxBatch});
    std::vector<model::RunEvent> events;
    for (const model::Run& run : claimed->runs) {
        model::Event event;
        event.kind = EventKind::kSuccess;
        event.exec_id = run.status.exec_id;
        events.push_back({.run_id = run.id, .event = std::move(event)});
    }
    ASSERT_TRUE(store_->runs().Apply(std::move(events)));
    EXPECT_EQ(Clean().body, fmt::format(R"({{"deleted":{},"more":true}})", kMostCleaned));
    EXPECT_EQ(Clean().body, R"({"deleted":5,"more":false})");
    EXPECT_EQ(Clean().body, R"({"deleted":0,"more":false})");
}

TEST_F(AdminRoutesTest, FaultsOfTheStoreAreTold) {
    Make("j");
    const std::string id = RunJob("j");
    const store::Fault fault{.kind = store::FaultKind::kErrorBefore};
    for (const auto& [operation, target] :
         std::map<std::string, std::string>{{"jobs.List", "/admin/job/list"},
                                            {"runs.List", "/admin/job/list"},
                                            {"runs.Count", "/admin/job/get?id=j"},
                                            {"jobs.Get", "/admin/job/get?id=j"},
                                            {"runs.Get", "/admin/job-log/get?id=" + id}}) {
        plan_.Next(operation, fault);
        EXPECT_EQ(Get(target).status, 503) << operation;
        EXPECT_EQ(Get(target).status, 200) << operation;
    }
    plan_.Next("runs.List", fault);
    EXPECT_EQ(Get("/admin/job-log/page").status, 503);
    plan_.Next("runs.List", fault);
    EXPECT_EQ(Clean().status, 503);
    EXPECT_EQ(Runs("j"), 1U);
}

}  // namespace
}  // namespace ksana::api
