#include "ksana/codec/v1/definitions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ksana::codec {
namespace {

constexpr const char* kToml = R"(
[[jobs]]
name = "nightly report"
type = "http"
schedule = { kind = "cron", cron = "0 3 * * MON-FRI", zone = "Europe/Paris", calendar = "holidays" }

[jobs.http]
method = "POST"
url = "https://example.com/report"

[[calendars]]
name = "holidays"
exclude = [{ yearly = "12-25" }, { dates = "2026-10-01/2026-10-07" }, { weekdays = ["SAT", "SUN"] },
           { from = "22:00", to = "06:00" }]
swaps = [{ date = "2026-10-10", counts_as = "WED" }]
)";

TEST(Definitions, TomlAndJsonAreTheSame) {
    const auto from_toml = DefinitionsFromToml(kToml);
    ASSERT_TRUE(from_toml) << from_toml.error().Describe();
    ASSERT_EQ(from_toml->jobs.size(), 1U);
    ASSERT_EQ(from_toml->calendars.size(), 1U);
    EXPECT_EQ(from_toml->jobs[0].schedule.cron, "0 3 * * MON-FRI");
    const schedule::Calendar& calendar = from_toml->calendars[0];
    EXPECT_EQ(calendar.exclude.at(1).dates->last, (schedule::Date{2026, 10, 7}));
    EXPECT_EQ(calendar.exclude.at(2).weekdays, 0b1000001);
    EXPECT_EQ(calendar.exclude.at(3).times->from, 22 * 3600);
    EXPECT_EQ(calendar.swaps.at(0).counts_as, 3);
    const auto from_json = DefinitionsFromJson(DefinitionsToJson(*from_toml));
    ASSERT_TRUE(from_json) << from_json.error().Describe();
    EXPECT_EQ(*from_json, *from_toml);
    EXPECT_EQ(*CalendarFromJson(CalendarToJson(calendar)), calendar);
}

TEST(Definitions, AFaultInTomlNamesItsLine) {
    const auto parsed = DefinitionsFromToml(
        "[[jobs]]\nname = \"x\"\nprioritty = 3\n[jobs.http]\nurl = 7\n[jobs.schedule]\nkind = "
        "\"weekly\"\n");
    ASSERT_FALSE(parsed);
    const std::string text = parsed.error().Describe();
    EXPECT_NE(
        text.find("/jobs/0/prioritty: is not known here; did you mean \"priority\"? (line 3)"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("/jobs/0/http/url: must be a string, not a number (line 5)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("(line 7)"), std::string::npos) << text;
}

TEST(Definitions, GroupsAreReadAndWritten) {
    const auto parsed = DefinitionsFromToml(
        "[[groups]]\nname = \"billing\"\nmax_concurrency = 2\n"
        "rate = { count = 10, per = \"1m\" }\n[[groups]]\nname = \"idle\"\n");
    ASSERT_TRUE(parsed) << parsed.error().Describe();
    ASSERT_EQ(parsed->groups.size(), 2U);
    EXPECT_EQ(GroupToJson(parsed->groups[0]),
              R"({"name":"billing","max_concurrency":2,"rate":{"count":10,"per":"1m"}})");
    EXPECT_EQ(GroupToJson(parsed->groups[1]), R"({"name":"idle"})");
    EXPECT_EQ(*DefinitionsFromJson(DefinitionsToJson(*parsed)), *parsed);
    const auto wrong = DefinitionsFromToml("[[groups]]\nname = \"x\"\nrate = { cuont = 1 }\n");
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().Describe().find("did you mean \"count\"? (line 3)"), std::string::npos)
        << wrong.error().Describe();
}

TEST(Definitions, CalendarsReportTheirFaults) {
    const auto calendar = CalendarFromJson(
        R"({"exclude": [{"dates": "tomorrow"}, {"yearly": "1-1"}, {"from": "25:00", "to": "01:00"},
            {"from": "01:00"}, {"weekdays": ["SAT", "Sun"]}], "swaps": [{"date": "x"}]})");
    ASSERT_FALSE(calendar);
    std::vector<std::string> paths;
    for (const Problem& problem : calendar.error().problems) paths.push_back(problem.path);
    EXPECT_EQ(paths,
              (std::vector<std::string>{
                  "/name", "/exclude/0/dates", "/exclude/1/yearly", "/exclude/2/from", "/exclude/2",
                  "/exclude/3", "/exclude/4/weekdays/1", "/swaps/0/counts_as", "/swaps/0/date"}));
}

TEST(Definitions, UnknownTopLevelKeysAreRefused) {
    EXPECT_FALSE(DefinitionsFromJson(R"({"job": []})"));
    EXPECT_FALSE(DefinitionsFromJson("[]"));
    EXPECT_TRUE(DefinitionsFromJson("{}"));
}

}  // namespace
}  // namespace ksana::codec
