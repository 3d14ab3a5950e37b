#include "ksana/api/timer/timer_routes.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "api/call_router.hpp"
#include "engine/service_fixture.hpp"

namespace ksana::api {
namespace {

using http_server::Permission;
using http_server::Response;
using http_server::Where;
using std::chrono::minutes;
using std::chrono::seconds;

class TimerRoutesTest : public engine::ServiceFixture {
  protected:
    TimerRoutesTest() { AddRoutes(router_, false); }

    void AddRoutes(http_server::Router& router, bool quick_reads) {
        router.SetAuthorize([this](const auto&, Permission asked) -> Result<http_server::Caller> {
            if (asked == refused_) return Error(Code::kPermissionDenied, "not you");
            return http_server::Caller{.name = "me"};
        });
        AddTimerRoutes(router, {.jobs = service_,
                                .store = *store_,
                                .defaults = defaults_,
                                .quick_reads = quick_reads});
    }

    Response Do(HttpMethod method, const std::string& target, const std::string& body = "") {
        return CallRouter(router_, MakeRequest(method, target, body));
    }
    Response Get(const std::string& target) { return Do(HttpMethod::kGet, target); }
    Response Post(const std::string& target, const std::string& body = "") {
        return Do(HttpMethod::kPost, target, body);
    }
    Response Patch(const std::string& target, const std::string& body) {
        return Do(HttpMethod::kPatch, target, body);
    }

    static std::string JobText(const std::string& id, const std::string& more = "") {
        return fmt::format(R"({{"id":"{}","name":"n {}","type":"http",)"
                           R"("http":{{"method":"GET","url":"http://127.0.0.1/"}},)"
                           R"("schedule":{{"kind":"every","every":"5m"}}{}}})",
                           id, id, more);
    }
    void Make(const std::string& id, const std::string& more = "") {
        const Response made = Post("/jobs", JobText(id, more));
        ASSERT_EQ(made.status, 201) << made.body;
    }

    model::PolicyDefaults defaults_;
    std::optional<Permission> refused_;
    http_server::Router router_;
};

bool Has(const Response& response, std::string_view part) {
    return response.body.find(part) != std::string::npos;
}

// Returns the "id" of every job in an answer, in order.
std::vector<std::string> IdsOf(const Response& response) {
    constexpr std::string_view kKey = "\"id\":\"";
    std::vector<std::string> ids;
    std::size_t at = 0;
    while ((at = response.body.find(kKey, at)) != std::string::npos) {
        at += kKey.size();
        ids.push_back(response.body.substr(at, response.body.find('"', at) - at));
    }
    return ids;
}

// Returns the target of "</jobs?…>; rel="next"", or "".
std::string NextOf(const Response& response) {
    const std::string link = HeaderOf(response, "Link");
    if (link.empty()) return "";
    EXPECT_TRUE(link.starts_with("</jobs?") && link.ends_with(">; rel=\"next\"")) << link;
    return link.substr(1, link.find('>') - 1);
}

TEST_F(TimerRoutesTest, EveryRouteSaysWhatItNeeds) {  // K-14
    const std::map<std::string, Permission> expected = {
        {"POST /jobs", Permission::kWrite},
        {"GET /jobs", Permission::kRead},
        {"GET /jobs/{id}", Permission::kRead},
        {"PATCH /jobs/{id}", Permission::kWrite},
        {"DELETE /jobs/{id}", Permission::kWrite},
        {"POST /jobs/{id}/run-now", Permission::kOperate},
        {"POST /jobs/{id}/pause", Permission::kOperate},
        {"POST /jobs/{id}/resume", Permission::kOperate},
    };
    std::map<std::string, Permission> found;
    for (const auto& route : router_.routes()) {
        found.emplace(fmt::format("{} {}", NameOf(route->method()), route->pattern()),
                      route->permission());
        EXPECT_FALSE(route->description().empty()) << route->pattern();
        EXPECT_EQ(route->where(), Where::kPool) << "the store may wait";
    }
    EXPECT_EQ(found, expected);
}

TEST_F(TimerRoutesTest, OnlyReadsOfOneJobAreQuick) {
    http_server::Router router;
    AddRoutes(router, true);
    for (const auto& route : router.routes()) {
        const bool one = route->pattern() == "/jobs/{id}" && route->method() == HttpMethod::kGet;
        EXPECT_EQ(route->where(), one ? Where::kInline : Where::kPool) << route->pattern();
    }
}

TEST_F(TimerRoutesTest, WithoutThePermissionNothingHappens) {
    Make("j");
    refused_ = Permission::kWrite;
    EXPECT_EQ(Post("/jobs", JobText("other")).status, 403);
    EXPECT_EQ(Patch("/jobs/j", R"({"name":"x"})").status, 403);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/jobs/j").status, 403);
    refused_ = Permission::kOperate;
    for (const char* const verb : {"run-now", "pause", "resume"}) {
        EXPECT_EQ(Post(fmt::format("/jobs/j/{}", verb)).status, 403) << verb;
    }
    refused_ = Permission::kRead;
    EXPECT_EQ(Get("/jobs").status, 403);
    EXPECT_EQ(Get("/jobs/j").status, 403);
    refused_.reset();
    EXPECT_TRUE(Has(Get("/jobs/j"), R"("name":"n j")"));
    EXPECT_TRUE(Has(Get("/jobs/j"), R"("enabled":true)"));
    EXPECT_EQ(Runs("j"), 0U);
    EXPECT_EQ(Get("/jobs/other").status, 404);
}

TEST_F(TimerRoutesTest, AJobIsMadeShownAndDeleted) {
    const Response made = Post("/jobs", JobText("j"));
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(HeaderOf(made, "Location"), "/jobs/j");
    EXPECT_EQ(made.content_type, "application/json");
    EXPECT_EQ(Get("/jobs/j").body, made.body);
    EXPECT_TRUE(Has(made, R"("timeout":")")) << "what holds where it has none of its own (K-08)";
    EXPECT_EQ(Get("/jobs").body, "[" + made.body + "]");
    const Response gone = Do(HttpMethod::kDelete, "/jobs/j");
    EXPECT_EQ(gone.status, 204);
    EXPECT_EQ(gone.body, "");
    EXPECT_EQ(Get("/jobs/j").status, 404);
    EXPECT_EQ(Get("/jobs").body, "[]");
}

TEST_F(TimerRoutesTest, AnIdIsMadeOrTakenOnce) {
    const Response made = Post("/jobs", R"({"name":"n","type":"http",)"
                                        R"("http":{"url":"http://127.0.0.1/"},)"
                                        R"("schedule":{"kind":"every","every":"1h"}})");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_TRUE(Uuid::Parse(IdsOf(made).at(0)));
    Make("j");
    const Response again = Post("/jobs", JobText("j"));
    EXPECT_EQ(again.status, 409);
    EXPECT_TRUE(Has(again, R"("code":"already_exists")")) << again.body;
}

TEST_F(TimerRoutesTest, WhatIsNotThereIsNotFound) {
    EXPECT_EQ(Get("/jobs/none").status, 404);
    EXPECT_EQ(Patch("/jobs/none", "{}").status, 404);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/jobs/none").status, 404);
    for (const char* const verb : {"run-now", "pause", "resume"}) {
        const Response response = Post(fmt::format("/jobs/none/{}", verb));
        EXPECT_EQ(response.status, 404) << verb;
        EXPECT_EQ(response.content_type, "application/problem+json");
        EXPECT_TRUE(Has(response, R"("code":"not_found")")) << response.body;
        EXPECT_TRUE(Has(response, R"("request_id":"r1")")) << response.body;
    }
    EXPECT_EQ(Post("/jobs/none/explode").status, 404) << "no such verb";
    EXPECT_EQ(Get("/jobs/none/pause").status, 405) << "no GET with effects";
    EXPECT_EQ(Do(HttpMethod::kPut, "/jobs").status, 405);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/jobs").status, 405);
}

TEST_F(TimerRoutesTest, BadInputIsNamedAndChangesNothing) {  // K-20
    for (const std::string& body :
         {std::string(), std::string("{"), std::string("[]"), std::string("null"), JobText("a b"),
          JobText("j", R"(,"timeout":"0s")"), JobText("j", R"(,"nmae":"x")"),
          JobText("j", R"(,"type":"pigeon")"), JobText("j", R"(,"priority":10)"),
          std::string(100'000, '[')}) {
        const Response response = Post("/jobs", body);
        EXPECT_EQ(response.status, 400) << body.substr(0, 200) << response.body;
        EXPECT_EQ(response.content_type, "application/problem+json");
    }
    EXPECT_TRUE(Has(Post("/jobs", JobText("j", R"(,"nmae":"x")")), R"("pointer":"/nmae")"));
    EXPECT_EQ(Get("/jobs").body, "[]");
}

TEST_F(TimerRoutesTest, APatchChangesWhatItNames) {
    Make("j", R"(,"timeout":"7s")");
    const Response changed =
        Patch("/jobs/j", R"({"name":"other","timeout":null,"schedule":{"every":"2h"}})");
    ASSERT_EQ(changed.status, 200) << changed.body;
    EXPECT_TRUE(Has(changed, R"("name":"other")"));
    EXPECT_TRUE(Has(changed, R"("every":"2h")"));
    EXPECT_FALSE(Has(changed, R"("timeout":"7s")"));
    EXPECT_EQ(Get("/jobs/j").body, changed.body);
    for (const char* const bad : {R"({"id":"k"})", R"({"schedule":{"every":"soon"}})",
                                  R"({"http":{"url":"x"}})", R"({"nmae":"x"})", "[]", "{", ""}) {
        EXPECT_EQ(Patch("/jobs/j", bad).status, 400) << bad;
    }
    EXPECT_EQ(Get("/jobs/j").body, changed.body) << "a bad patch changes nothing";
}

TEST_F(TimerRoutesTest, PatchesOfTwoClientsBothCount) {
    Make("j");
    EXPECT_EQ(Patch("/jobs/j", R"({"name":"by one"})").status, 200);
    const Response both = Patch("/jobs/j", R"({"timeout":"3s"})");
    EXPECT_TRUE(Has(both, R"("name":"by one")")) << both.body;
    EXPECT_TRUE(Has(both, R"("timeout":"3s")")) << both.body;
}

// Concurrent patches do not overwrite each other: on a conflict the edit is repeated.
TEST_F(TimerRoutesTest, PatchesAtTheSameTimeBothCount) {
    Make("j");
    constexpr int kPatches = 50;
    {
        const std::jthread other([this] {
            for (int i = 1; i <= kPatches; ++i) {
                const auto answer = Patch("/jobs/j", fmt::format(R"({{"timeout":"{}s"}})", i));
                EXPECT_EQ(answer.status, 200) << answer.body;
            }
        });
        for (int i = 1; i <= kPatches; ++i) {
            const auto answer = Patch("/jobs/j", fmt::format(R"({{"name":"name {}"}})", i));
            EXPECT_EQ(answer.status, 200) << answer.body;
        }
    }
    const Response both = Get("/jobs/j");
    EXPECT_TRUE(Has(both, fmt::format(R"("name":"name {}")", kPatches))) << both.body;
    EXPECT_TRUE(Has(both, fmt::format(R"("timeout":"{}s")", kPatches))) << both.body;
    EXPECT_EQ(store_->jobs().Get("j")->state.version, 1 + 2 * kPatches);
}

TEST_F(TimerRoutesTest, PauseAndResume) {  // K-07
    Make("j");
    const Response paused = Post("/jobs/j/pause");
    EXPECT_EQ(paused.status, 200);
    EXPECT_TRUE(Has(paused, R"("enabled":false)")) << paused.body;
    EXPECT_TRUE(Has(paused, R"("next_run_at":"")")) << paused.body;
    EXPECT_EQ(Post("/jobs/j/pause").status, 200) << "again";
    const Response resumed = Post("/jobs/j/resume");
    EXPECT_TRUE(Has(resumed, R"("enabled":true)")) << resumed.body;
    EXPECT_FALSE(Has(resumed, R"("next_run_at":"")")) << resumed.body;
    EXPECT_EQ(Post("/jobs/j/resume").status, 200) << "again";
}

TEST_F(TimerRoutesTest, RunNowStoresARun) {  // K-06
    Make("j");
    const Response accepted = Post("/jobs/j/run-now");
    EXPECT_EQ(accepted.status, 202) << accepted.body;
    EXPECT_TRUE(Has(accepted, R"("job_id":"j","run_id":")")) << accepted.body;
    EXPECT_EQ(Post("/jobs/j/run-now", R"({"who":"me"})").status, 202) << "beside the other";
    EXPECT_EQ(Post("/jobs/j/pause").status, 200);
    EXPECT_EQ(Post("/jobs/j/run-now").status, 202) << "while it is paused";
    EXPECT_EQ(Runs("j"), 3U);
    for (const char* const bad : {"[]", "1", "{", "\"x\""}) {
        EXPECT_EQ(Post("/jobs/j/run-now", bad).status, 400) << bad;
    }
    EXPECT_EQ(Runs("j"), 3U);
}

TEST_F(TimerRoutesTest, PagesLeadOn) {
    std::vector<std::string> all;
    for (int i = 0; i < 7; ++i) {
        all.push_back(fmt::format("j{}", i));
        Make(all.back());
    }
    std::vector<std::string> seen;
    std::string target = "/jobs?limit=3";
    int pages = 0;
    while (!target.empty()) {
        const Response page = Get(target);
        ASSERT_EQ(page.status, 200) << target << page.body;
        const auto ids = IdsOf(page);
        EXPECT_LE(ids.size(), 3U);
        seen.insert(seen.end(), ids.begin(), ids.end());
        target = NextOf(page);
        EXPECT_EQ(HeaderOf(page, "X-Next-Cursor").empty(), target.empty());
        ++pages;
    }
    EXPECT_EQ(pages, 3);
    EXPECT_EQ(std::set(seen.begin(), seen.end()), std::set(all.begin(), all.end()));
    EXPECT_EQ(seen.size(), all.size()) << "each once";
    EXPECT_EQ(HeaderOf(Get("/jobs"), "Link"), "") << "all fit";
}

// The link to the next page keeps all filters, with any characters.
TEST_F(TimerRoutesTest, TheNextPageKeepsTheFilters) {
    for (int i = 0; i < 4; ++i) {
        Make(fmt::format("{}yes", i));
        ASSERT_EQ(Patch(fmt::format("/jobs/{}yes", i), R"({"name":"a&b=c #1+%ä"})").status, 200);
        Make(fmt::format("{}zno", i));
    }
    Make("paused", R"(,"enabled":false)");
    ASSERT_EQ(Patch("/jobs/paused", R"({"name":"a&b=c #1+%ä"})").status, 200);
    std::vector<std::string> seen;
    std::string target = "/jobs?limit=2&enabled=true&q=a%26b%3Dc%20%231%2B%25%C3%A4";
    while (!target.empty()) {
        const Response page = Get(target);
        ASSERT_EQ(page.status, 200) << target << page.body;
        const auto ids = IdsOf(page);
        EXPECT_LE(ids.size(), 2U);
        seen.insert(seen.end(), ids.begin(), ids.end());
        target = NextOf(page);
    }
    EXPECT_EQ(std::set(seen.begin(), seen.end()),
              (std::set<std::string>{"0yes", "1yes", "2yes", "3yes"}));
}

TEST_F(TimerRoutesTest, QueriesAreChecked) {
    Make("on");
    Make("off", R"(,"enabled":false)");
    EXPECT_EQ(IdsOf(Get("/jobs?enabled=true")), std::vector<std::string>{"on"});
    EXPECT_EQ(IdsOf(Get("/jobs?enabled=false")), std::vector<std::string>{"off"});
    EXPECT_EQ(IdsOf(Get("/jobs?q=off")), std::vector<std::string>{"off"});
    EXPECT_EQ(IdsOf(Get("/jobs?limit=1000")).size(), 2U);
    for (const auto& [query, name] :
         std::map<std::string, std::string>{{"limit=0", "limit"},
                                            {"limit=1001", "limit"},
                                            {"limit=-1", "limit"},
                                            {"limit=1x", "limit"},
                                            {"limit=", "limit"},
                                            {"limit=99999999999999999999", "limit"},
                                            {"enabled=yes", "enabled"},
                                            {"enabled=", "enabled"},
                                            {"lmiit=1", "lmiit"}}) {
        const Response response = Get("/jobs?" + query);
        EXPECT_EQ(response.status, 400) << query;
        EXPECT_TRUE(Has(response, fmt::format(R"("pointer":"/query/{}")", name))) << response.body;
    }
    EXPECT_EQ(Get("/jobs?cursor=nonsense").status, 400);
}

}  // namespace
}  // namespace ksana::api
