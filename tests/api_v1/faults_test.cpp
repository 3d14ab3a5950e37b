#include <gtest/gtest.h>

#include <set>

#include "api_v1/v1_fixture.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::api {
namespace {

// A store that fails at any moment, and a client that repeats every request until it has an answer.
class V1FaultsTest : public V1Fixture {
  protected:
    V1FaultsTest() {
        Make("j");
        http_server::Router router;
        router.SetAuthorize([](const auto&, auto) -> Result<http_server::Caller> {
            return http_server::Caller{.name = "me"};
        });
        AddRoutes(router, {.jobs = faulty_service_,
                           .runs = faulty_runs_,
                           .backfills = faulty_backfills_,
                           .tasks = tasks_,
                           .agents = agents_,
                           .agent_polls = agent_polls_,
                           .workers = workers_,
                           .events = events_,
                           .store = *faulty_,
                           .random = random_,
                           .ids = ids_,
                           .schedules = book_,
                           .zones = zones_,
                           .calendars = faulty_calendars_,
                           .alerts = alerts_,
                           .types = faulty_types_,
                           .node_view = {},
                           .version = "1",
                           .quick_reads = false});
        router_ = std::move(router);
    }

    Response Insist(const std::string& target, const std::string& body, const std::string& key) {
        for (int tries = 0; tries < 200; ++tries) {
            Response answer = Post(target, body, {{"Idempotency-Key", key}});
            EXPECT_TRUE(answer.status < 400 || answer.status == 503 || answer.status == 409)
                << answer.status << answer.body;
            if (answer.status < 400) return answer;
            const bool busy = answer.status == 409;
            EXPECT_TRUE(!busy || Has(answer, "request_in_progress")) << answer.body;
            clock_.Advance(std::chrono::seconds(busy ? 30 : 1));
        }
        ADD_FAILURE() << "no answer";
        return {};
    }

    store::FaultPlan faults_{7};
    std::unique_ptr<store::Store> faulty_ = store::MakeFaultyStore(*store_, faults_);
    engine::JobService faulty_service_{*faulty_, plans_, zones_, find_calendar_, ids_};
    engine::RunService faulty_runs_{*faulty_, ids_};
    engine::BackfillService faulty_backfills_{*faulty_, book_, ids_};
    engine::TypeService faulty_types_{*faulty_, type_book_};
    engine::CalendarService faulty_calendars_{*faulty_, calendars_, calendar_watch_, plans_};
};

TEST_F(V1FaultsTest, ACommitWhoseAnswerIsLostIsFoundAgain) {
    const store::Fault after{.kind = store::FaultKind::kErrorAfter, .delay = {}};
    faults_.Next("runs.Submit", after);
    EXPECT_EQ(Post("/jobs/j/run", "", {{"Idempotency-Key", "a"}}).status, 503);
    EXPECT_EQ(Runs("j"), 1U) << "it was done";
    EXPECT_EQ(Post("/jobs/j/run", "", {{"Idempotency-Key", "a"}}).status, 202);
    EXPECT_EQ(Runs("j"), 1U) << "and not again";
    faults_.Next("jobs.Write", after);
    const std::string job = R"({"name":"n","http":{"url":"http://127.0.0.1/"},)"
                            R"("schedule":{"kind":"every","every":"1h"}})";
    EXPECT_EQ(Post("/jobs", job, {{"Idempotency-Key", "b"}}).status, 503);
    EXPECT_EQ(Post("/jobs", job, {{"Idempotency-Key", "b"}}).status, 201);
    EXPECT_EQ(store_->jobs().Count({}, 10).value(), 2);
}

TEST_F(V1FaultsTest, WhateverFailsAKeyMakesOneRun) {
    faults_.Randomly("", {.error_before = 60'000, .error_after = 60'000});
    std::set<std::string> ids;
    constexpr int kRequests = 90;  // one page of Runs()
    for (int i = 0; i < kRequests; ++i) {
        ids.insert(TextOf(Insist("/jobs/j/run", "", fmt::format("k{}", i)), "id"));
    }
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(kRequests));
    EXPECT_GT(faults_.Injected(store::FaultKind::kErrorAfter, "runs.Submit"), 0);
    faults_.Clear();
    EXPECT_EQ(Runs("j"), static_cast<std::size_t>(kRequests));
}

TEST_F(V1FaultsTest, AStoreThatIsAwayIsA503) {
    faults_.Randomly("", {.error_before = 1'000'000});
    for (const std::string target : {"/jobs", "/jobs/j", "/jobs/j/fires", "/runs"}) {
        const Response answer = Get(target);
        EXPECT_EQ(answer.status, 503) << target;
        EXPECT_EQ(api::HeaderOf(answer, "Retry-After"), "1");
        EXPECT_EQ(answer.content_type, "application/problem+json");
    }
}

// The calendar is stored or not; the jobs that use it follow in either case.
TEST_F(V1FaultsTest, AChangeOfACalendarCanBeSentAgain) {
    const std::string path = "/calendars/c";
    ASSERT_EQ(Do(HttpMethod::kPut, path, "{}").status, 201);
    ASSERT_TRUE(calendar_watch_.RunOnce());
    Make("k");
    const std::string patch = R"({"schedule":{"calendar":"c"}})";
    ASSERT_EQ(Do(HttpMethod::kPatch, "/jobs/k", patch).status, 200);
    for (const char* call : {"jobs.List", "jobs.PlanJobs", "settings.Put"}) {
        for (const auto kind : {store::FaultKind::kErrorBefore, store::FaultKind::kErrorAfter}) {
            faults_.Next(call, {.kind = kind, .delay = {}});
            const std::string body = R"({"exclude":[{"dates":"2026-01-01/2026-01-05"}]})";
            EXPECT_EQ(Do(HttpMethod::kPut, path, body).status, 503) << call;
            EXPECT_EQ(Do(HttpMethod::kPut, path, body).status, 200) << call;
            ASSERT_TRUE(calendar_watch_.RunOnce());
            EXPECT_TRUE(Has(Get("/jobs/k"), R"("next_run_at":"2026-01-06T00:00:00Z")")) << call;
            EXPECT_EQ(Do(HttpMethod::kPut, path, "{}").status, 200);
            ASSERT_TRUE(calendar_watch_.RunOnce());
            EXPECT_TRUE(Has(Get("/jobs/k"), R"("next_run_at":"2026-01-01T00:05:00Z")")) << call;
        }
    }
}

}  // namespace
}  // namespace ksana::api
