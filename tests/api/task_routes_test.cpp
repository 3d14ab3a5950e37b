#include "ksana/api/tasks/task_routes.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/call_router.hpp"
#include "engine/service_fixture.hpp"
#include "ksana/engine/services/type_cache.hpp"
#include "ksana/store/faulty_store.hpp"

namespace ksana::api {
namespace {

using http_server::Response;
using model::EventKind;

constexpr std::string_view kId = "0192f0c1-2345-7abc-8def-0123456789ab";

class TaskRoutesTest : public engine::ServiceFixture {
  protected:
    TaskRoutesTest() {
        AddTaskRoutes(router_, {.tasks = tasks_,
                                .agents = agents_,
                                .runs = runs_,
                                .types = types_,
                                .jobs = service_,
                                .store = *counted_,
                                .defaults = {}});
        router_.SetAuthorize([](const auto&, auto) -> Result<http_server::Caller> {
            return http_server::Caller{.name = "me"};
        });
    }

    Response Call(HttpMethod method, const std::string& target, const std::string& body = "") {
        return CallRouter(router_, MakeRequest(method, target, body));
    }
    static std::size_t TasksIn(const Response& response) {
        constexpr std::string_view kKey = "\"exec_time\"";
        std::size_t count = 0;
        for (std::size_t at = response.body.find(kKey); at != std::string::npos;
             at = response.body.find(kKey, at + 1)) {
            ++count;
        }
        return count;
    }
    void Submit(std::size_t count, const std::string& payload = "1", TimePoint ready_at = {}) {
        std::vector<model::Run> runs(count);
        for (model::Run& run : runs) {
            run.type = "t";
            run.payload = payload;
            run.status.ready_at = ready_at;
            run.policy.retry.max_retries = 5;
            run.policy.retry.interval = std::chrono::hours(1);
        }
        ASSERT_TRUE(
            store_->runs().Submit({.now = {}, .runs = std::move(runs), .start = {}, .audit = {}}));
    }
    // Lets `count` waiting runs fail once.
    void FailAll(std::size_t count) {
        const auto claimed = store_->runs().Claim({.filter = {}, .owner = "o", .limit = count});
        std::vector<model::RunEvent> events;
        for (const model::Run& run : claimed->runs) {
            model::Event event;
            event.kind = EventKind::kRetryableFailure;
            event.exec_id = run.status.exec_id;
            events.push_back({.run_id = run.id, .event = std::move(event)});
        }
        ASSERT_EQ(events.size(), count);
        ASSERT_TRUE(store_->runs().Apply(std::move(events)));
    }

    engine::RunService runs_{*store_, ids_};
    engine::TypeCache type_book_{*store_};
    engine::TypeService types_{*store_, type_book_};
    engine::TaskService tasks_{
        *store_, [this](const std::string& code) { return type_book_.Find(code); }, {}};
    engine::AgentService agents_{*store_, {}};
    store::FaultPlan plan_;
    std::unique_ptr<store::Store> counted_ = store::MakeFaultyStore(*store_, plan_);
    http_server::Router router_;
};

// The last matching task is behind two thousand others.
TEST_F(TaskRoutesTest, APageTakesAFewQuestions) {
    Submit(1, "1", clock_.Now() + std::chrono::hours(1));
    Submit(2'000);
    FailAll(2'000);
    Submit(59);
    const Response page = Call(HttpMethod::kGet, "/task?status=New&limit=60");
    ASSERT_EQ(page.status, 200) << page.body;
    EXPECT_EQ(TasksIn(page), 60U);
    EXPECT_LE(plan_.Calls("runs.List"), 25);
}

// A page that ends within a read continues there: no task is missing or repeated.
TEST_F(TaskRoutesTest, PagesOfNewAndErrorAddUp) {
    for (int i = 0; i < 20; ++i) {
        Submit(7);
        FailAll(7);
        Submit(3, "1", clock_.Now() + std::chrono::hours(1));
    }
    for (const auto& [status, expected] : {std::pair("New", 60U), std::pair("Error", 140U)}) {
        const std::string first = fmt::format("/task?status={}&limit=9", status);
        std::string target = first;
        std::size_t found = 0;
        for (int pages = 0; pages < 30; ++pages) {
            const Response page = Call(HttpMethod::kGet, target);
            EXPECT_LE(TasksIn(page), 9U);
            found += TasksIn(page);
            const std::string cursor = HeaderOf(page, "X-Next-Cursor");
            if (cursor.empty()) break;
            target = first + "&cursor=" + cursor;
        }
        EXPECT_EQ(found, expected) << status;
    }
}

TEST_F(TaskRoutesTest, AnIdOfAnotherRunIsRefused) {
    const std::string task = R"({"id":")" + std::string(kId) + R"(","type":"t","ext":1})";
    const std::string other = R"({"id":")" + std::string(kId) + R"(","type":"t","ext":2})";
    EXPECT_EQ(Call(HttpMethod::kPost, "/task", task).status, 201);
    EXPECT_EQ(Call(HttpMethod::kPost, "/task", task).status, 200) << "sent twice";
    EXPECT_EQ(Call(HttpMethod::kPost, "/task", other).status, 409);
    EXPECT_EQ(Call(HttpMethod::kPost, "/task", "[" + task + "]").status, 201);
    EXPECT_EQ(Call(HttpMethod::kPost, "/task", "[" + other + "]").status, 409);
}

TEST_F(TaskRoutesTest, ARunThatIsNoTaskIsNotAnsweredAsOne) {
    model::Run call;
    call.id = *Uuid::Parse(kId);
    call.type = "t";
    call.kind = model::ActionKind::kHttp;
    call.trigger = model::RunTrigger::kCallback;
    ASSERT_TRUE(store_->runs().Submit({.now = {}, .runs = {call}, .start = {}, .audit = {}}));
    const std::string task = R"({"id":")" + std::string(kId) + R"(","type":"t"})";
    const Response answer = Call(HttpMethod::kPost, "/task", task);
    EXPECT_EQ(answer.status, 409) << answer.body;
}

TEST_F(TaskRoutesTest, APageEndsWhenItIsLarge) {
    Submit(12, "\"" + std::string(1'000'000, 'x') + "\"");
    const Response page = Call(HttpMethod::kGet, "/task?limit=500");
    EXPECT_EQ(TasksIn(page), 9U);
    const std::string cursor = HeaderOf(page, "X-Next-Cursor");
    ASSERT_FALSE(cursor.empty());
    const Response rest = Call(HttpMethod::kGet, "/task?limit=500&cursor=" + cursor);
    EXPECT_EQ(TasksIn(rest), 3U);
    EXPECT_EQ(HeaderOf(rest, "X-Next-Cursor"), "");
}

}  // namespace
}  // namespace ksana::api
