#include "ksana/codec/calendar/calendar_view.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

std::string FirstFault(const Error& error) {
    return error.problems.empty() ? error.message
                                  : error.problems[0].path + ": " + error.problems[0].message;
}

TEST(CalendarView, TakesACopyOfAnAnswer) {
    const auto calendar = CalendarFromView(
        R"({"exclude":[{"dates":"2026-10-01/2026-10-07"}],"swaps":[{"date":"2026-10-10",)"
        R"("counts_as":"WED"}]})",
        "cn");
    ASSERT_TRUE(calendar) << calendar.error().Describe();
    EXPECT_EQ(calendar->name, "cn");
    const std::string shown =
        CalendarViewToJson(*calendar, {.version = 3, .updated_at = TimePoint{}});
    EXPECT_EQ(shown, R"({"name":"cn","description":"","exclude":[{"dates":"2026-10-01/2026-10-07"})"
                     R"(],"include":[],"swaps":[{"date":"2026-10-10","counts_as":"WED"}],)"
                     R"("version":3,"updated_at":"1970-01-01T00:00:00Z"})");
    EXPECT_EQ(*CalendarFromView(shown, "cn"), *calendar);
    const auto other = CalendarFromView(shown, "de");
    EXPECT_EQ(FirstFault(other.error()), "/name: is not that of the path");
}

TEST(CalendarView, NamesFaults) {
    EXPECT_FALSE(CalendarFromView("[]", "x"));
    EXPECT_FALSE(CalendarFromView(R"({"exclud":[]})", "x"));
    EXPECT_FALSE(CalendarFromView(R"({"exclude":[{"dates":"soon"}]})", "x"));
    EXPECT_EQ(FirstFault(CalendarImportFromJson(R"({"format":"xls","text":""})").error()),
              "/format: \"xls\" is not one of ics, csv");
    EXPECT_EQ(FirstFault(CalendarQuestionFromJson(R"({"calendar":{},"days":401})").error()),
              "/days: must be 1 to 400");
    EXPECT_TRUE(CalendarQuestionFromJson(R"({"calendar":{}})"));
}

TEST(CalendarView, ReadsAnImport) {
    const auto import = CalendarImportFromJson(
        R"({"format":"csv","text":"a\nb","list":"include","mode":"replace","dry_run":true})");
    ASSERT_TRUE(import);
    EXPECT_EQ(import->format, ImportFormat::kCsv);
    EXPECT_EQ(import->text, "a\nb");
    EXPECT_EQ(import->list, ImportList::kInclude);
    EXPECT_EQ(import->mode, ImportMode::kReplace);
    EXPECT_TRUE(import->dry_run);
}

}  // namespace
}  // namespace ksana::codec
