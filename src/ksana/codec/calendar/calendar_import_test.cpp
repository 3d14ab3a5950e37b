#include <gtest/gtest.h>

#include "ksana/codec/calendar/imported_rules.hpp"
#include "ksana/codec/v1/definitions.hpp"

namespace ksana::codec {
namespace {

constexpr schedule::Date kToday{2026, 11, 16};

// The rules as the API shows them, without the enclosing calendar.
std::string Show(const std::vector<schedule::CalendarRule>& rules) {
    schedule::Calendar calendar;
    calendar.exclude = rules;
    const std::string text = CalendarToJson(calendar);
    const std::size_t begin = text.find("\"exclude\":[") + 11;
    return text.substr(begin, text.find("],\"include\"") - begin);
}

std::string Event(const std::string& lines) {
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n" + lines +
           "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
}

struct IcsCase {
    const char* lines;
    const char* rules;  // or the reason, if there are none
};

class IcsTest : public ::testing::TestWithParam<IcsCase> {};

TEST_P(IcsTest, BecomesRulesOrIsSkippedWithAReason) {
    const auto found = RulesFromIcs(Event(GetParam().lines), kToday);
    if (found) {
        EXPECT_EQ(Show(found->rules), GetParam().rules);
        EXPECT_TRUE(found->skipped.empty());
    } else {
        ASSERT_EQ(found.error().problems.size(), 1U);
        EXPECT_EQ(found.error().problems[0].path, "/text");
        EXPECT_EQ(found.error().problems[0].message,
                  std::string("holds nothing that can be used; line 3: ") + GetParam().rules);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Events, IcsTest,
    ::testing::Values(
        IcsCase{"DTSTART;VALUE=DATE:20261001", R"({"dates":"2026-10-01"})"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nDTEND;VALUE=DATE:20261008",
                R"({"dates":"2026-10-01/2026-10-07"})"},
        IcsCase{"DTSTART:20261001\nDTEND:20261001", R"({"dates":"2026-10-01"})"},
        IcsCase{"dtstart;value=date:20261231\nDURATION:P2D",
                R"({"dates":"2026-12-31/2027-01-01"})"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nDURATION:P1W",
                R"({"dates":"2026-10-01/2026-10-07"})"},
        IcsCase{"DTSTART;VALUE=DATE:20201225\nRRULE:FREQ=YEARLY", R"({"yearly":"12-25"})"},
        IcsCase{"DTSTART;VALUE=DATE:20201225\nRRULE:FREQ=YEARLY;INTERVAL=1;BYMONTH=12;"
                "BYMONTHDAY=25;WKST=MO",
                R"({"yearly":"12-25"})"},
        IcsCase{"DTSTART;VALUE=DATE:20201231\nDTEND;VALUE=DATE:20210102\nRRULE:FREQ=YEARLY",
                R"({"yearly":"12-31"},{"yearly":"01-01"})"},
        IcsCase{"DTSTART;VALUE=DATE:20301225\nRRULE:FREQ=YEARLY",
                R"({"dates":"2030-12-25/9999-12-31","yearly":"12-25"})"},
        IcsCase{"DTSTART;VALUE=DATE:20201225\nRRULE:FREQ=YEARLY;COUNT=3",
                R"({"dates":"2020-12-25/2022-12-25","yearly":"12-25"})"},
        IcsCase{"DTSTART;VALUE=DATE:20201225\nRRULE:FREQ=YEARLY;UNTIL=20300601T000000Z",
                R"({"dates":"2020-12-25/2030-06-01","yearly":"12-25"})"},
        IcsCase{"DTSTART:20261001T220000\nDTEND:20261002T060000",
                R"({"dates":"2026-10-01","from":"22:00","to":"06:00"})"},
        IcsCase{"DTSTART:20261001T090000\nDURATION:PT1H30M",
                R"({"dates":"2026-10-01","from":"09:00","to":"10:30"})"},
        IcsCase{"DTSTART:20261001T000000\nDTEND:20261002T000000", R"({"dates":"2026-10-01"})"},
        IcsCase{"DTSTART:20261001T120000\nDTEND:20261002T000000",
                R"({"dates":"2026-10-01","from":"12:00","to":"24:00"})"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nBEGIN:VALARM\nDTSTART:nonsense\nEND:VALARM",
                R"({"dates":"2026-10-01"})"},
        IcsCase{"DTSTART;X-A=\"a:b;c\";VALUE=DATE:2026\n 1001", R"({"dates":"2026-10-01"})"}));

INSTANTIATE_TEST_SUITE_P(
    Skipped, IcsTest,
    ::testing::Values(
        IcsCase{"SUMMARY:x", "it has no DTSTART"},
        IcsCase{"DTSTART;VALUE=DATE:20260230", "DTSTART cannot be read"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nDTEND;VALUE=DATE:x", "DTEND cannot be read"},
        IcsCase{"DTSTART;VALUE=DATE:20261002\nDTEND;VALUE=DATE:20261001",
                "it ends before it starts"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nSTATUS:CANCELLED", "it is cancelled"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nRRULE:FREQ=WEEKLY",
                "RRULE with FREQ=WEEKLY cannot be said by a rule"},
        IcsCase{"DTSTART;VALUE=DATE:20261126\nRRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
                "RRULE with BYDAY=4TH cannot be said by a rule"},
        IcsCase{"DTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY;COUNT=3",
                "RRULE with COUNT=3 cannot be said by a rule"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nRRULE:FREQ=YEARLY;UNTIL=20200101",
                "RRULE ends before it starts"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nRRULE:COUNT=1", "RRULE has no FREQ"},
        IcsCase{"DTSTART;VALUE=DATE:20201225\nRRULE:FREQ=YEARLY\nEXDATE:20211225",
                "EXDATE cannot be said by a rule"},
        IcsCase{"DTSTART:20261001T090000Z\nDTEND:20261001T100000Z",
                "it has a time zone; the times of a calendar are those of each schedule"},
        IcsCase{"DTSTART;TZID=Europe/Paris:20261001T090000\nDURATION:PT1H",
                "it has a time zone; the times of a calendar are those of each schedule"},
        IcsCase{"DTSTART:20261001T090000", "it has no length"},
        IcsCase{"DTSTART:20261001T090030\nDURATION:PT1H", "its times have seconds"},
        IcsCase{"DTSTART:20261001T090000\nDURATION:P2D",
                "it has a time of day and is longer than a day"},
        IcsCase{"DTSTART:20261001T090000\nDURATION:PT1H\nRRULE:FREQ=YEARLY",
                "it repeats and has a time of day"},
        IcsCase{"DTSTART;VALUE=DATE:20261001\nDURATION:PT36H", "DURATION is not a number of days"},
        IcsCase{"DTSTART;VALUE=DATE:99991231\nDURATION:P2D", "it ends after the year 9999"}));

TEST(Ics, KeepsWhatCanBeUsedAndNamesTheRest) {
    const auto found = RulesFromIcs(
        "\xEF\xBB\xBF"
        "begin:vcalendar\n"
        "BEGIN:VTIMEZONE\nBEGIN:STANDARD\nDTSTART:19701025T030000\n"
        "END:STANDARD\nEND:VTIMEZONE\n"
        "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20261225\n"
        "SUMMARY:Christ\n\tmas\nEND:VEVENT\n"
        "BEGIN:VEVENT\nDTSTART:20261225T100000Z\nEND:VEVENT\n"
        "BEGIN:VEVENT\nDTSTART;VALUE=DATE:20270101",
        kToday);
    ASSERT_TRUE(found) << found.error().Describe();
    EXPECT_EQ(Show(found->rules), R"({"dates":"2026-12-25"})");
    ASSERT_EQ(found->skipped.size(), 2U);
    EXPECT_EQ(found->skipped[0].line, 12U);
    EXPECT_EQ(found->skipped[1], (SkippedLine{15, "it does not end"}));
}

TEST(Ics, RefusesWhatIsNone) {
    const auto fault = [](std::string_view text) {
        const auto found = RulesFromIcs(text, kToday);
        return found ? "" : found.error().problems.at(0).message;
    };
    EXPECT_EQ(fault(""), "does not begin with BEGIN:VCALENDAR");
    EXPECT_EQ(fault("2026-10-01\n"), "does not begin with BEGIN:VCALENDAR");
    EXPECT_EQ(fault("BEGIN:VCALENDAR\nEND:VCALENDAR\n"), "holds no date");
    EXPECT_EQ(fault(std::string(kMaxImportBytes + 1, 'x')), "is larger than 1048576 bytes");
    std::string many = "BEGIN:VCALENDAR\n";
    for (std::size_t i = 0; i <= kMaxImportedRules; ++i) {
        many += "BEGIN:VEVENT\nDTSTART:20261001\nEND:VEVENT\n";
    }
    EXPECT_EQ(fault(many), "has more than 10000 rules");
}

TEST(Csv, ReadsDaysSpansAndNames) {
    const auto found = RulesFromCsv(
        "\xEF\xBB\xBF"
        "date,end,name\r\n"
        "2026-10-01,2026-10-07,\"Golden, \"\"Week\"\"\"\r\n"
        "\r\n"
        "2026-12-25\n"
        " 2026-12-26 , , Boxing Day\n"
        "\"2027-01-01\",New Year");
    ASSERT_TRUE(found) << found.error().Describe();
    EXPECT_EQ(Show(found->rules), R"({"dates":"2026-10-01/2026-10-07"},{"dates":"2026-12-25"},)"
                                  R"({"dates":"2026-12-26"},{"dates":"2027-01-01"})");
    EXPECT_TRUE(found->skipped.empty());
}

TEST(Csv, NamesBadLines) {
    const auto found = RulesFromCsv(
        "2026-12-25\n25.12.2026\n2026-02-30\n2026-10-02,2026-10-01\n"
        "2026-10-01,2026-10,x\n2026-10-01,x,y\nChristmas\n"
        "2026-01-01,,a,b\n");
    ASSERT_TRUE(found) << found.error().Describe();
    EXPECT_EQ(found->rules.size(), 1U);
    EXPECT_EQ(found->skipped,
              (std::vector<SkippedLine>{{2, "is no date such as 2026-10-01"},
                                        {3, "there is no such date"},
                                        {4, "ends before it starts"},
                                        {5, "the end is no date such as 2026-10-01"},
                                        {6, "the end is no date such as 2026-10-01"},
                                        {7, "is no date such as 2026-10-01"},
                                        {8, "has more than date, end and name"}}));
}

TEST(Csv, RefusesWhatHoldsNothing) {
    const auto fault = [](std::string_view text) {
        const auto found = RulesFromCsv(text);
        return found ? "" : found.error().problems.at(0).message;
    };
    EXPECT_EQ(fault(""), "holds no date");
    EXPECT_EQ(fault("date,name\n"), "holds no date");
    EXPECT_EQ(fault("date\nnone\n"),
              "holds nothing that can be used; line 2: is no date such as 2026-10-01");
    std::string bad = "2026-10-01\n";
    for (std::size_t i = 0; i <= kMaxSkippedLines; ++i) bad += "x\n";
    EXPECT_EQ(fault(bad),
              "cannot be read in more than 1000 places; the first is line 2: "
              "is no date such as 2026-10-01");
}

}  // namespace
}  // namespace ksana::codec
