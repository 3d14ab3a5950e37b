#include <gtest/gtest.h>

#include "api_v1/v1_fixture.hpp"

namespace ksana::api {
namespace {

using api::HeaderOf;

class CalendarRoutesTest : public V1Fixture {
  protected:
    Response Put(const std::string& name, const std::string& body,
                 const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kPut, "/calendars/" + name, body, headers);
    }
    Response Delete(const std::string& name, const std::vector<Header>& headers = {}) {
        return Do(HttpMethod::kDelete, "/calendars/" + name, "", headers);
    }
    // Creates a job that fires every day at noon.
    Response MakeDaily(const std::string& id, const std::string& calendar) {
        return Post("/jobs", fmt::format(R"({{"id":"{}","name":"n","type":"http",)"
                                         R"("http":{{"url":"http://127.0.0.1/"}},"schedule":)"
                                         R"({{"kind":"cron","cron":"0 12 * * *","calendar":"{}"}})"
                                         R"(}})",
                                         id, calendar));
    }
    Response Import(const std::string& more) {
        return Post("/calendars/c/import",
                    R"({"format":"csv","text":"date\n2026-01-01\n2026-01-02\nx\n")" + more + "}");
    }

    const std::string first_ = R"({"exclude":[{"dates":"2026-01-01"}]})";
};

TEST_F(CalendarRoutesTest, IsMadeShownReplacedAndDeleted) {
    const Response made = Put("c", first_);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(HeaderOf(made, "Location"), "/api/v1/calendars/c");
    EXPECT_EQ(made.body, R"({"name":"c","description":"","exclude":[{"dates":"2026-01-01"}],)"
                         R"("include":[],"swaps":[],"version":1,)"
                         R"("updated_at":"2026-01-01T00:00:00Z"})");
    const Response shown = Get("/calendars/c");
    EXPECT_EQ(shown.body, made.body);
    const std::string tag = HeaderOf(shown, "ETag");
    EXPECT_EQ(tag, HeaderOf(made, "ETag"));
    EXPECT_EQ(Get("/calendars/c", {{"If-None-Match", tag}}).status, 304);
    EXPECT_EQ(Put("c", made.body, {{"If-Match", tag}}).status, 200) << "a copy of an answer";
    EXPECT_EQ(Put("c", first_, {{"If-Match", tag}}).status, 412);
    EXPECT_EQ(Put("c", first_, {{"If-Match", "\"2\""}}).status, 200);
    EXPECT_EQ(Put("c", first_, {{"If-None-Match", "*"}}).status, 412);
    EXPECT_EQ(Put("d", first_, {{"If-Match", "*"}}).status, 412);
    EXPECT_EQ(Put("d", first_, {{"If-None-Match", "*"}}).status, 201);
    EXPECT_EQ(Delete("c", {{"If-Match", tag}}).status, 412);
    EXPECT_EQ(Delete("c").status, 204);
    EXPECT_EQ(Delete("c").status, 404);
    EXPECT_EQ(Get("/calendars/c").status, 404);
}

TEST_F(CalendarRoutesTest, AreListedByName) {
    for (const char* name : {"de", "cn-2", "cn-1", "cn-3"}) ASSERT_EQ(Put(name, "{}").status, 201);
    const Response page = Get("/calendars?prefix=cn-&limit=2");
    EXPECT_TRUE(Has(page, R"("name":"cn-1")") && Has(page, R"("name":"cn-2")")) << page.body;
    EXPECT_FALSE(Has(page, "cn-3"));
    const Response rest = Get("/calendars?prefix=cn-&cursor=" + TextOf(page, "next_cursor"));
    EXPECT_TRUE(Has(rest, R"("name":"cn-3")") && Has(rest, R"("next_cursor":null)")) << rest.body;
    EXPECT_FALSE(Has(rest, "\"de\""));
    EXPECT_EQ(Get("/calendars?perfix=a").status, 400);
}

TEST_F(CalendarRoutesTest, OneThatCannotBeReadCanBeReplacedAndDeleted) {
    for (const char* key : {"calendar/bad", "calendar/worse"}) {
        ASSERT_TRUE(store_->settings().Put({.key = key, .value = "{}", .expected = 0}));
    }
    EXPECT_EQ(Put("good", "{}").status, 201);
    EXPECT_EQ(Get("/calendars/bad").status, 500);
    EXPECT_TRUE(Has(Get("/calendars"), R"("items":[{"name":"good")")) << Get("/calendars").body;
    EXPECT_EQ(Post("/calendars/bad/import", R"({"format":"csv","text":"2026-12-25"})").status, 500);
    EXPECT_EQ(Put("bad", "{}", {{"If-None-Match", "*"}}).status, 412);
    EXPECT_EQ(Put("bad", R"({"exclude":[{"yearly":"12-25"}]})").status, 200);
    EXPECT_TRUE(Has(Get("/calendars/bad"), R"("version":2)"));
    EXPECT_EQ(Delete("worse").status, 204);
    EXPECT_EQ(Get("/calendars/worse").status, 404);
}

TEST_F(CalendarRoutesTest, FaultsAreNamed) {
    const auto fault = [this](const std::string& body, const std::string& pointer) {
        const Response answer = Put("c", body);
        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_TRUE(Has(answer, "\"pointer\":\"" + pointer + "\"")) << answer.body;
    };
    fault(R"({"exclude":[{"dates":"2026-02-30"}]})", "/exclude/0/dates");
    fault(R"({"exclude":[{}]})", "/exclude/0");
    fault(R"({"swaps":[{"date":"2026-10-10","counts_as":"WEN"}]})", "/swaps/0/counts_as");
    fault(R"({"excludes":[]})", "/excludes");
    fault(R"({"name":"d"})", "/name");
    EXPECT_EQ(Put("a%20b", "{}").status, 400);
    EXPECT_EQ(Get("/calendars/c").status, 404) << "nothing was stored";
}

TEST_F(CalendarRoutesTest, JobsNameOneThatIsThere) {
    const Response refused = MakeDaily("j", "c");
    EXPECT_EQ(refused.status, 400);
    EXPECT_TRUE(Has(refused, R"("pointer":"/schedule/calendar")")) << refused.body;
    ASSERT_EQ(Put("c", first_).status, 201);
    const Response made = MakeDaily("j", "c");
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(TextOf(made, "next_run_at"), "2026-01-02T12:00:00Z");
    const Response used = Delete("c");
    EXPECT_EQ(used.status, 409);
    EXPECT_TRUE(Has(used, "is used by 1 job: j")) << used.body;
    const Response explained = Get("/jobs/j/explain?at=2026-01-01T12:00:00Z");
    EXPECT_TRUE(Has(explained, R"("calendar":{"name":"c","rule":"2026-01-01"})")) << explained.body;
}

TEST_F(CalendarRoutesTest, ImportMergesAndReplaces) {
    ASSERT_EQ(Put("c", R"({"exclude":[{"dates":"2026-01-01"},{"yearly":"12-25"}]})").status, 201);
    const Response asked = Import(R"(,"dry_run":true)");
    ASSERT_EQ(asked.status, 200) << asked.body;
    EXPECT_TRUE(Has(asked, R"("added":1,"removed":0,"skipped":[{"line":4,"reason":"is no date )"
                           R"(such as 2026-10-01"}],"stored":false)"))
        << asked.body;
    EXPECT_FALSE(Has(Get("/calendars/c"), "2026-01-02"));
    const Response merged = Import("");
    EXPECT_TRUE(Has(merged, R"("added":1,"removed":0)") && Has(merged, R"("stored":true)"));
    EXPECT_TRUE(Has(Get("/calendars/c"), R"([{"dates":"2026-01-01"},{"yearly":"12-25"},)"
                                         R"({"dates":"2026-01-02"}])"));
    EXPECT_TRUE(Has(Import(""), R"("added":0)")) << "what is there does not come twice";
    const Response replaced = Import(R"(,"mode":"replace")");
    EXPECT_TRUE(Has(replaced, R"("added":0,"removed":1)")) << replaced.body;
    EXPECT_TRUE(Has(Import(R"(,"list":"include")"), R"("include":[{"dates":"2026-01-01"})"));
}

TEST_F(CalendarRoutesTest, ImportMakesACalendarAndRefusesNonsense) {
    const Response made = Post("/calendars/new/import",
                               R"({"format":"ics","text":"BEGIN:VCALENDAR\nBEGIN:VEVENT\n)"
                               R"(DTSTART;VALUE=DATE:20261225\nEND:VEVENT\nEND:VCALENDAR"})");
    ASSERT_EQ(made.status, 200) << made.body;
    EXPECT_TRUE(Has(Get("/calendars/new"), R"([{"dates":"2026-12-25"}])"));
    const Response none = Post("/calendars/c/import", R"({"format":"ics","text":"x"})");
    EXPECT_EQ(none.status, 400);
    EXPECT_TRUE(Has(none, R"("pointer":"/text")")) << none.body;
    EXPECT_EQ(Post("/calendars/c/import", R"({"format":"xls","text":"x"})").status, 400);
    EXPECT_EQ(Post("/calendars/c/import", "{}").status, 400);
    std::string many;
    for (int n = 0; n < 5000; ++n) many += fmt::format("{:04}-01-01\\n", 1970 + n);
    EXPECT_TRUE(Has(Post("/calendars/c/import", R"({"format":"csv","text":")" + many + "\"}"),
                    "has 5000 rules; 4096 are allowed"));
    EXPECT_EQ(Get("/calendars/c").status, 404) << "nothing was stored";
}

TEST_F(CalendarRoutesTest, PreviewTellsTheEffect) {
    ASSERT_EQ(Put("c", first_).status, 201);
    ASSERT_EQ(MakeDaily("j", "c").status, 201);
    ASSERT_EQ(MakeDaily("plain", "").status, 201);
    const std::string calendar = R"({"name":"c","exclude":[{"dates":"2026-01-02/2026-01-03"},)"
                                 R"({"dates":"2026-01-04","from":"00:00","to":"06:00"}]})";
    const Response users =
        Post("/calendars/preview",
             R"({"calendar":)" + calendar + R"(,"from":"2026-01-01T00:00:00Z","days":5})");
    ASSERT_EQ(users.status, 200) << users.body;
    EXPECT_EQ(users.body,
              R"({"from":"2026-01-01T00:00:00Z","to":"2026-01-06T00:00:00Z","jobs":[{"id":"j",)"
              R"("fires":3,"taken_away":2,"added":1,"first_taken_away":["2026-01-02T12:00:00Z",)"
              R"("2026-01-03T12:00:00Z"],"complete":true}],"complete":true,)"
              R"("days_off":["2026-01-02","2026-01-03"]})");
    const Response named =
        Post("/calendars/preview", R"({"calendar":{"exclude":[{"weekdays":["FRI"]}]},)"
                                   R"("from":"2026-01-01T00:00:00Z","days":5,"jobs":["plain"]})");
    EXPECT_TRUE(Has(named, R"("id":"plain","fires":4,"taken_away":1,"added":0)")) << named.body;
    const Response absent = Post("/calendars/preview", R"({"calendar":{},"jobs":["none"]})");
    EXPECT_TRUE(Has(absent, R"("pointer":"/jobs/0")")) << absent.body;
    const Response bad = Post("/calendars/preview", R"({"calendar":{"exclude":[{}]}})");
    EXPECT_TRUE(Has(bad, R"("pointer":"/calendar/exclude/0")")) << bad.body;
    EXPECT_TRUE(Has(Get("/calendars/c"), first_.substr(1, first_.size() - 2))) << "as it was";
}

}  // namespace
}  // namespace ksana::api
