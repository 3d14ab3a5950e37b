#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"

namespace ksana::api {
namespace {

class LimitRoutesTest : public V1Fixture {
  protected:
    Response Put(const std::string& target, const std::string& body,
                 const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kPut, target, body, headers);
    }
    Response Delete(const std::string& target, const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kDelete, target, "", headers);
    }
};

TEST_F(LimitRoutesTest, AGroupIsThereWhenAJobNamesItOrItIsLimited) {
    EXPECT_EQ(Get("/groups/g").status, 404);
    Make("a", R"(,"group":"g")");
    const Response plain = Get("/groups/g");
    EXPECT_EQ(plain.status, 200);
    EXPECT_EQ(plain.body,
              R"({"name":"g","max_concurrency":null,"rate":null,"jobs":1,"paused_jobs":0,)"
              R"("running":0,"waiting":0,"version":0})");
    const Response made = Put("/groups/g", R"({"max_concurrency":2,"description":"d"})");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(api::HeaderOf(made, "Location"), "/api/v1/groups/g");
    EXPECT_TRUE(Has(made, R"("description":"d","max_concurrency":2,"rate":null)")) << made.body;
    EXPECT_EQ(Put("/groups/h", R"({"rate":{"count":5,"per":"1m"}})").status, 201);
    EXPECT_TRUE(Has(Get("/groups/h"), R"("rate":{"count":5,"per":"1m","burst":1})"));
    EXPECT_EQ(Delete("/groups/h").status, 204);
    EXPECT_EQ(Get("/groups/h").status, 404);
    EXPECT_EQ(Delete("/groups/h").status, 404);
}

TEST_F(LimitRoutesTest, ConditionsLookAtTheVersion) {
    EXPECT_EQ(Put("/groups/g", "{}", {{"If-Match", "*"}}).status, 412);
    const std::string tag = api::HeaderOf(Put("/groups/g", R"({"max_concurrency":2})"), "ETag");
    EXPECT_EQ(Put("/groups/g", "{}", {{"If-None-Match", "*"}}).status, 412);
    Make("a", R"(,"group":"g")");  // changes the answer but not the limits
    EXPECT_EQ(Put("/groups/g", "{}", {{"If-Match", "W/" + tag}}).status, 412) << "a weak tag";
    EXPECT_EQ(Put("/groups/g", "{}", {{"If-Match", "\"other\""}}).status, 412);
    const Response changed = Put("/groups/g", R"({"max_concurrency":3})", {{"If-Match", tag}});
    EXPECT_EQ(changed.status, 200) << changed.body;
    EXPECT_EQ(Put("/groups/g", "{}", {{"If-Match", tag}}).status, 412);
    EXPECT_EQ(Delete("/groups/g", {{"If-Match", tag}}).status, 412);
    EXPECT_EQ(Delete("/groups/g", {{"If-Match", api::HeaderOf(changed, "ETag")}}).status, 204);
    const std::string now = api::HeaderOf(Get("/groups/g"), "ETag");
    EXPECT_EQ(Get("/groups/g", {{"If-None-Match", now}}).status, 304);
}

TEST_F(LimitRoutesTest, OneThatCannotBeReadCanBeReplacedAndDeleted) {
    for (const char* key : {"group/bad", "group/worse"}) {
        ASSERT_TRUE(store_->settings().Put({.key = key, .value = "[]", .expected = 0}));
    }
    EXPECT_EQ(Put("/groups/bad", R"({"max_concurrency":2})").status, 200);
    EXPECT_TRUE(Has(Get("/groups/bad"), R"("version":2)"));
    EXPECT_EQ(Delete("/groups/worse").status, 204);
    EXPECT_EQ(Get("/groups/worse").status, 404);
}

TEST_F(LimitRoutesTest, EveryFaultIsNamedAndNothingChanges) {
    const Response bad = Put("/groups/g", R"({"max_concurrency":0,"rate":{"count":0,"per":"1s"}})");
    EXPECT_EQ(bad.status, 400);
    EXPECT_TRUE(Has(bad, "/max_concurrency") && Has(bad, "/rate/count")) << bad.body;
    EXPECT_EQ(Put("/groups/a%20b", "{}").status, 400);
    EXPECT_EQ(Put("/limits/host/a%20b", R"({"max_concurrency":1})").status, 400);
    EXPECT_EQ(Put("/limits/type/mail", "{}").status, 400);
    EXPECT_EQ(Get("/limits").body, R"({"items":[]})");
}

TEST_F(LimitRoutesTest, LimitsAreListedAsTheyAreStored) {
    EXPECT_EQ(Put("/limits/host/Example.com:8080", R"({"max_concurrency":1})").status, 201);
    EXPECT_EQ(Put("/limits/type/mail", R"({"rate":{"count":1,"per":"1s"}})").status, 201);
    EXPECT_EQ(Put("/groups/described", R"({"description":"only"})").status, 201);
    EXPECT_EQ(Get("/limits").body,
              R"({"items":[{"kind":"host","name":"example.com:8080","max_concurrency":1,)"
              R"("rate":null,"in_use":0,"waiting":0,)"
              R"("breaker":{"state":"closed","failures":0,"retry_at":null},"cluster":null},)"
              R"({"kind":"type","name":"mail","max_concurrency":null,)"
              R"("rate":{"count":1,"per":"1s","burst":1},"in_use":0,"waiting":0,)"
              R"("breaker":null,"cluster":null}]})");
    EXPECT_EQ(Delete("/limits/host/example.com:8080").status, 204);
    EXPECT_EQ(Delete("/limits/type/mail").status, 204);
    EXPECT_EQ(Get("/limits").body, R"({"items":[]})");
}

TEST_F(LimitRoutesTest, GroupsArePaged) {
    for (const char* group : {"c", "a", "e"}) {
        Make(std::string("j-") + group, std::string(R"(,"group":")") + group + "\"");
    }
    for (const char* group : {"b", "c", "f"}) {
        EXPECT_EQ(Put(std::string("/groups/") + group, "{}").status, 201);
    }
    std::string names;
    std::string cursor;
    do {
        const Response page = Get("/groups?limit=2" + (cursor.empty() ? "" : "&cursor=" + cursor));
        ASSERT_EQ(page.status, 200) << page.body;
        for (std::size_t at = 0; (at = page.body.find("\"name\":\"", at)) != std::string::npos;) {
            names += page.body[at += 8];
        }
        const std::size_t next = page.body.find("\"next_cursor\":\"");
        cursor = next == std::string::npos
                     ? ""
                     : page.body.substr(next + 15, page.body.find('"', next + 15) - next - 15);
    } while (!cursor.empty());
    EXPECT_EQ(names, "abcef");
}

TEST_F(LimitRoutesTest, TheJobsOfAGroupArePausedAndResumed) {
    Make("a", R"(,"group":"g")");
    Make("b", R"(,"group":"g")");
    Make("c");
    const Response paused = Post("/groups/g/pause", R"({"reason":"month end"})");
    EXPECT_EQ(paused.status, 200) << paused.body;
    EXPECT_TRUE(Has(paused, R"("changed_count":2)")) << paused.body;
    EXPECT_TRUE(Has(Get("/groups/g"), R"("paused_jobs":2)"));
    EXPECT_TRUE(Has(Get("/jobs/c"), R"("enabled":true)"));
    EXPECT_TRUE(Has(Post("/groups/g/resume"), R"("changed_count":2)"));
    EXPECT_EQ(Post("/groups/none/pause").status, 404);
    EXPECT_EQ(Post("/groups/g/pause", R"({"raeson":"x"})").status, 400);
}

}  // namespace
}  // namespace ksana::api
