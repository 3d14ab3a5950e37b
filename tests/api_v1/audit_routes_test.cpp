#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"
#include "ksana/base/time/time_text.hpp"

namespace ksana::api {
namespace {

class AuditRoutesTest : public V1Fixture {};

TEST_F(AuditRoutesTest, TellsWhoDidWhat) {
    Make("j");
    EXPECT_EQ(Post("/jobs/j/pause", R"({"reason":"moved"})").status, 200);
    const Response answer = Get("/audit");
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_LT(answer.body.find("paused"), answer.body.find("created")) << "the newest first";
    EXPECT_TRUE(Has(answer, R"("user":"me")")) << answer.body;
    EXPECT_TRUE(Has(answer, R"("method":"POST /api/v1/jobs/j/pause")"));
    EXPECT_TRUE(Has(answer, R"("data":{"reason":"moved","request_id":"r1")"));
}

// Every change of a calendar, group or limit is audited once, and a refused change is not.
TEST_F(AuditRoutesTest, TellsOfCalendarsGroupsAndLimits) {
    const auto expect = [&](const std::string& path, const std::string& body,
                            const std::string& type, const std::string& id) {
        const auto put = [&] { return Do(HttpMethod::kPut, path, body, {}).status; };
        EXPECT_EQ(put(), 201) << path;
        EXPECT_EQ(put(), 200) << path;
        EXPECT_EQ(Do(HttpMethod::kPut, path, body, {{"If-None-Match", "*"}}).status, 412);
        EXPECT_EQ(Do(HttpMethod::kPut, path, R"({"nothing":1})", {}).status, 400);
        EXPECT_EQ(Do(HttpMethod::kDelete, path, "", {{"If-Match", "\"7\""}}).status, 412);
        EXPECT_EQ(Do(HttpMethod::kDelete, path).status, 204);
        EXPECT_EQ(Do(HttpMethod::kDelete, path).status, 404);
        const Response told = Get("/audit?resource_type=" + type);
        ASSERT_EQ(told.status, 200) << told.body;
        std::vector<std::string> actions;
        for (std::size_t at = 0; (at = told.body.find("\"action\":\"", at)) != std::string::npos;) {
            at += 10;
            actions.push_back(told.body.substr(at, told.body.find('"', at) - at));
        }
        EXPECT_EQ(actions, (std::vector<std::string>{"deleted", "changed", "created"}))
            << told.body;
        EXPECT_EQ(TextOf(told, "resource_id"), id);
        EXPECT_TRUE(Has(told, R"("user":"me")")) << told.body;
        EXPECT_TRUE(Has(told, R"("method":"PUT /api/v1)" + path)) << told.body;
    };
    expect("/calendars/cn", R"({"exclude":[{"yearly":"12-25"}]})", "calendar", "cn");
    expect("/groups/g", R"({"max_concurrency":2})", "group", "g");
    expect("/limits/host/a.example:80", R"({"max_concurrency":2})", "limit", "host/a.example:80");
}

TEST_F(AuditRoutesTest, TellsWhichPartsOfACalendarChanged) {
    const auto put = [&](const char* body) {
        return Do(HttpMethod::kPut, "/calendars/c", body, {});
    };
    EXPECT_EQ(put(R"({"exclude":[{"yearly":"12-25"}]})").status, 201);
    const char* other = R"({"description":"x","swaps":[{"date":"2027-01-02","counts_as":"MON"}]})";
    EXPECT_EQ(put(other).status, 200);
    const Response told = Get("/audit?action=changed");
    EXPECT_TRUE(Has(told, R"("changed":["description","exclude","swaps"])")) << told.body;
    EXPECT_EQ(Post("/calendars/c/import", R"({"format":"csv","text":"2027-02-05","dry_run":true})")
                  .status,
              200);
    EXPECT_EQ(Post("/calendars/c/import", R"({"format":"csv","text":"2027-02-05"})").status, 200);
    EXPECT_TRUE(Has(Get("/audit?action=changed&limit=1"), R"("changed":["exclude"])"));
}

TEST_F(AuditRoutesTest, HasFiltersAndPages) {
    for (const char* id : {"a", "b", "c"}) Make(id);
    EXPECT_EQ(Post("/jobs/pause", R"({"all":true})").status, 200);
    EXPECT_EQ(TextOf(Get("/audit?resource_id=b&action=created"), "resource_id"), "b");
    EXPECT_TRUE(Has(Get("/audit?user=nobody"), R"("items":[])"));
    EXPECT_TRUE(Has(Get("/audit?resource_type=run"), R"("items":[])"));
    const std::string now = FormatTime(clock_.Now());
    EXPECT_TRUE(Has(Get("/audit?until=" + now), R"("items":[])"));
    EXPECT_FALSE(Has(Get("/audit?from=" + now), R"("items":[])"));
    std::size_t count = 0;
    std::string cursor;
    do {
        const Response page = Get("/audit?limit=4" + (cursor.empty() ? "" : "&cursor=" + cursor));
        ASSERT_EQ(page.status, 200) << page.body;
        for (std::size_t at = 0; (at = page.body.find("\"seq\":", at)) != std::string::npos; ++at) {
            ++count;
        }
        cursor = TextOf(page, "next_cursor");
    } while (!cursor.empty());
    EXPECT_EQ(count, 6U);
    EXPECT_EQ(Get("/audit?actoin=created").status, 400);
    EXPECT_EQ(Get("/audit?from=yesterday").status, 400);
}

TEST_F(AuditRoutesTest, ARunThatIsOverCanBeDeleted) {
    Make("j");
    const std::string id = TextOf(Post("/jobs/j/run"), "id");
    EXPECT_EQ(Do(HttpMethod::kDelete, "/runs/" + id).status, 409);
    EXPECT_EQ(Post("/runs/" + id + "/cancel").status, 200);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/runs/" + id).status, 204);
    EXPECT_EQ(Get("/runs/" + id).status, 404);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/runs/" + id).status, 404);
    EXPECT_EQ(Do(HttpMethod::kDelete, "/runs/none").status, 404);
    EXPECT_EQ(TextOf(Get("/audit?action=deleted"), "resource_id"), id);
}

TEST_F(AuditRoutesTest, SettingsAreShown) {
    const Response answer = Get("/settings");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, R"([{"key":"port","value":"7100","source":"default"}])");
    EXPECT_EQ(Get("/settings?x=1").status, 400);
}

TEST_F(AuditRoutesTest, JobsAreFoundByTheirName) {
    Make("a");
    Make("b");
    EXPECT_EQ(IdsOf(Get("/jobs?name=n%20b")), std::vector<std::string>{"b"});
    EXPECT_TRUE(IdsOf(Get("/jobs?name=n")).empty());
}

TEST_F(AuditRoutesTest, KeysHaveABound) {
    Idempotency keys(*store_, ids_, {.keys = 3, .of_client = 3});
    const auto handler = [](const Call&) -> Result<Response> {
        return http_server::JsonResponse(202, "{}");
    };
    const auto send = [&](const std::string& key) {
        http_server::Request request = api::MakeRequest(HttpMethod::kPost, "/api/v1/x");
        request.headers.Add("Idempotency-Key", key);
        return keys.Run(request, handler);
    };
    for (const char* key : {"a", "b", "c"}) EXPECT_TRUE(send(key));
    const auto refused = send("d");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kExhausted);
    EXPECT_TRUE(send("a")) << "what is there is answered";
    clock_.Advance(std::chrono::hours(25));
    EXPECT_TRUE(send("d")) << "the others have expired";
}

TEST_F(AuditRoutesTest, NoClientTakesTheKeysOfOthers) {
    Idempotency keys(*store_, ids_, {.keys = 8, .of_client = 4});
    const auto handler = [](const Call&) -> Result<Response> {
        return http_server::JsonResponse(202, "{}");
    };
    int sent = 0;
    const auto send = [&](const std::string& peer) {
        http_server::Request request = api::MakeRequest(HttpMethod::kPost, "/api/v1/x");
        request.peer = peer;
        request.headers.Add("Idempotency-Key", std::to_string(++sent));
        return keys.Run(request, handler).has_value();
    };
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(send("10.0.0.1"));
    EXPECT_FALSE(send("10.0.0.1")) << "a client has its share";
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(send("2001:db8::" + std::to_string(i)));
    EXPECT_FALSE(send("2001:db8::ffff")) << "a /64 is one client";
    EXPECT_TRUE(send("10.0.0.3")) << "who has sent few keys may go on for a while";
    EXPECT_TRUE(send("10.0.0.4"));
    EXPECT_FALSE(send("10.0.0.5")) << "but not for ever";
    clock_.Advance(std::chrono::hours(13));
    EXPECT_FALSE(send("10.0.0.1"));
    clock_.Advance(std::chrono::hours(12));
    EXPECT_TRUE(send("10.0.0.1")) << "a day later";
}

}  // namespace
}  // namespace ksana::api
