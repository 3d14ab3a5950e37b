#include "ksana/insight/preview/calendar_rule.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"

namespace ksana::insight {
namespace {

using schedule::CalendarRule;

TEST(CalendarRule, InWords) {
    EXPECT_EQ(DescribeRule({}), "always");
    EXPECT_EQ(DescribeRule({.dates = {{{2026, 10, 1}, {2026, 10, 1}}}}), "2026-10-01");
    EXPECT_EQ(DescribeRule({.yearly = {{12, 25}}}), "every year on 12-25");
    EXPECT_EQ(DescribeRule({.weekdays = 0b100010, .times = {{16 * 3600, 86'400}}}),
              "every Monday, Friday, from 16:00 to 24:00");
    EXPECT_EQ(DescribeRule({.times = {{22 * 3600 + 5, 6 * 3600}}}), "from 22:00:05 to 06:00");
}

TEST(CalendarRule, FindsTheOneThatHolds) {
    schedule::Calendar calendar;
    calendar.exclude.push_back({.weekdays = 0b1000000});             // Saturdays
    calendar.exclude.push_back({.times = {{22 * 3600, 6 * 3600}}});  // past midnight
    calendar.include.push_back({.dates = {{{2026, 10, 24}, {2026, 10, 24}}}});
    calendar.swaps.push_back({{2026, 10, 10}, 3});  // a Saturday that counts as a Wednesday
    const auto rule = [&](const char* at) {
        return ExcludingRule(calendar, *schedule::Zone::Utc(), ParseTime(at).value());
    };
    EXPECT_EQ(rule("2026-10-17T12:00:00Z"), "every Saturday");
    EXPECT_EQ(rule("2026-10-16T05:00:00Z"), "from 22:00 to 06:00");
    EXPECT_EQ(rule("2026-10-16T12:00:00Z"), "");
    EXPECT_EQ(rule("2026-10-24T12:00:00Z"), "") << "included";
    EXPECT_EQ(rule("2026-10-10T12:00:00Z"), "") << "swapped";
}

}  // namespace
}  // namespace ksana::insight
