#include "ksana/schedule/cron/cron_parse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ksana::schedule {
namespace {

constexpr CronSyntax kLibrary{CronDialect::kLibrary, DayMatch::kOr};

// The same parser runs at compile time.
static_assert(CronLiteral("0 3 * * MON").weekdays == 0b10);
static_assert(CronLiteral("*/15 * * * *").minute_star);
static_assert(ParseCronText("61 * * * *", {}).fault.kind == CronFault::Kind::kOutOfRange);
static_assert(!EverMatches(ParseCronText("0 0 30 2 *", {}).spec));
static_assert(EverMatches(ParseCronText("0 0 29 2 *", {}).spec));

std::string Fault(std::string_view text, const CronSyntax& syntax = {}) {
    const auto parsed = ParseCron(text, syntax);
    return parsed ? "" : parsed.error().message;
}

std::uint32_t Place(std::string_view text) { return ParseCronText(text, {}).fault.position; }

// K-22, K-20: every error names the field and the reason.
TEST(ParseCron, NamesTheFieldAndTheReason) {
    EXPECT_EQ(Fault(""), "the expression is empty");
    EXPECT_EQ(Fault("75 * * * *"), "minute: 75 is out of range 0-59");
    EXPECT_EQ(Fault("* 24 * * *"), "hour: 24 is out of range 0-23");
    EXPECT_EQ(Fault("* * 0 * *"), "day of month: 0 is out of range 1-31");
    EXPECT_EQ(Fault("* * * 13 *"), "month: 13 is out of range 1-12");
    EXPECT_EQ(Fault("* * * * 8"), "day of week: 8 is out of range 0-7");
    EXPECT_EQ(Fault("0 22-2 * * *"), "hour: the range 22-2 runs backwards");
    EXPECT_EQ(Fault("1,,2 * * * *"), "minute: a value is missing beside the comma");
    EXPECT_EQ(Fault("*/0 * * * *"),
              "minute: the step 0 is not between 1 and the size of the field");
    EXPECT_EQ(Fault("* * * FOO *"), "month: \"FOO\" is no month; use 1-12 or JAN-DEC");
    EXPECT_EQ(Fault("* * * * *\xC2\xA0"), "day of week: \"\xC2\xA0\" does not belong here");
    EXPECT_EQ(Fault("0 0 L-31 * *"),
              "day of month: L-31: a day is at most 30 days before the last");
    EXPECT_EQ(Fault("0 0 * * 5#6"), "day of week: #6: a weekday comes 1 to 5 times in a month");
    EXPECT_NE(Fault("* * * *").find("too few fields"), std::string::npos);
    EXPECT_NE(Fault("0 0 0 1 1 * 2026").find("too many fields"), std::string::npos);
    EXPECT_NE(Fault("@dayly").find("did you mean @daily?"), std::string::npos);
    EXPECT_NE(Fault("@reboot").find("not a schedule"), std::string::npos);
    EXPECT_NE(Fault("0 0 * * L").find("5L"), std::string::npos);
    EXPECT_NE(Fault("? * * * *").find("day fields only"), std::string::npos);
}

TEST(ParseCron, SundayMayBeSevenEverywhere) {
    EXPECT_EQ(ParseCron("0 0 * * 7")->weekdays, 0b1);
    EXPECT_EQ(ParseCron("0 0 * * 5-7")->weekdays, 0b1100001);
    EXPECT_EQ(ParseCron("0 0 * * FRI-SUN")->weekdays, 0b1100001);
    EXPECT_EQ(ParseCron("0 0 * * SUN-SUN")->weekdays, 0b1);
    EXPECT_EQ(ParseCron("0 0 * * 7/2")->weekdays, ParseCron("0 0 * * 0/2")->weekdays);
    EXPECT_EQ(ParseCron("0 0 * * 7#1")->nth_weekdays[0], 0b1);
}

TEST(ParseCron, PointsAtThePlace) {
    EXPECT_EQ(Place("75 * * * *"), 0U);
    EXPECT_EQ(Place("0 5-99 * * *"), 4U);
    EXPECT_EQ(Place("0 0 * * MON,FOO"), 12U);
    EXPECT_EQ(Place("0 0 1,, * *"), 6U);
    EXPECT_EQ(Place("0 0 * * 1#9"), 10U);
}

TEST(ParseCron, RefusesHugeInputAtOnce) {
    EXPECT_NE(Fault(std::string(1 << 20, '*')), "");
    EXPECT_NE(Fault(std::string(1 << 20, ' ')), "");
    EXPECT_NE(Fault("99999999999999999999999999 * * * *"), "");
    EXPECT_NE(Fault(std::string("0 0\0 * * *", 10)), "");
    EXPECT_NE(Fault("0 0 * * \xD9\xA3"), "");  // an Arabic digit
}

// N-08
TEST(ParseCron, LibraryDialectHasNothingFancy) {
    for (const char* text : {"* * * * *", "0 3 * * *", "0 3,15 * * *", "0 9-17 * * *",
                             "*/5 * * * *", "0 9-17/2 * * *", "0 3 15 * 1"}) {
        EXPECT_EQ(Fault(text, kLibrary), "") << text;
    }
    for (const char* text : {"0 * * * * *", "0 0 L * *", "0 0 15W * *", "0 0 * * 1#2", "0 0 ? * *",
                             "0 0 * * MON", "0 0 * JAN *", "@daily", "5/15 * * * *", "0 0 * * 5L",
                             "0 0 * * 7", "0 0 1 1 * 2026", "0 0 LW * *"}) {
        EXPECT_NE(Fault(text, kLibrary), "") << text;
    }
    EXPECT_EQ(ParseCron("0 3 15 * 1", kLibrary)->day_match, DayMatch::kAnd);
}

TEST(FormatCron, PrintsWhatReadsBackTheSame) {
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"*/5 * * * *", "*/5 * * * *"},
        {"0 0 * JAN,FEB,MAR MON-FRI", "0 0 * 1-3 1-5"},
        {"0 0 L,15W,LW,L-3 * ?", "0 0 L,L-3,15W,LW * *"},
        {"0 0 ? * 5L,1#2", "0 0 * * 1#2,5L"},
        {"30 0 12 * * *", "30 0 12 * * *"},
        {"@hourly", "0 * * * *"},
        {"*/7,3 0-23 1-31 * 0-7", "*/7,3 0-23 1-31 * 0-6"},
    };
    for (const auto& [text, expected] : cases) {
        const CronSpec spec = *ParseCron(text);
        EXPECT_EQ(FormatCron(spec), expected);
        EXPECT_EQ(*ParseCron(FormatCron(spec)), spec) << text;
    }
}

}  // namespace
}  // namespace ksana::schedule
