#include "ksana/schedule/zone/posix_rule.hpp"

#include <gtest/gtest.h>

#include "ksana/schedule/zone/civil.hpp"

namespace ksana::schedule {
namespace {

TEST(PosixRule, ReadsTheFormsThatTzdataUses) {
    const auto plain = PosixRule::Parse("JST-9");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->standard.offset, 9 * 3600);
    EXPECT_FALSE(plain->summer);

    const auto quoted = PosixRule::Parse("<+0330>-3:30");
    ASSERT_TRUE(quoted);
    EXPECT_EQ(quoted->standard.abbreviation, "+0330");
    EXPECT_EQ(quoted->standard.offset, 12'600);

    const auto new_york = PosixRule::Parse("EST5EDT,M3.2.0,M11.1.0");
    ASSERT_TRUE(new_york && new_york->summer);
    EXPECT_EQ(new_york->summer->kind.offset, -4 * 3600);
    EXPECT_EQ(new_york->summer->start.LocalSecond(2025),
              Date({2025, 3, 9}).DayNumber() * kSecondsPerDay + 7200);

    const auto dublin = PosixRule::Parse("IST-1GMT0,M10.5.0,M3.5.0/1");
    ASSERT_TRUE(dublin && dublin->summer);
    EXPECT_EQ(dublin->standard.offset, 3600);
    EXPECT_EQ(dublin->summer->kind.offset, 0);

    // Nuuk changes on the evening before: a negative time of day.
    const auto nuuk = PosixRule::Parse("<-02>2<-01>,M3.5.0/-1,M10.5.0/0");
    ASSERT_TRUE(nuuk && nuuk->summer);
    EXPECT_EQ(nuuk->summer->start.time, -3600);

    const auto julian = PosixRule::Parse("AAA1BBB,J60/3:15:30,365");
    ASSERT_TRUE(julian && julian->summer);
    // Day 60 is March 1 in leap years, too; the 365 of the end counts from 0.
    EXPECT_EQ(julian->summer->start.LocalSecond(2024),
              Date({2024, 3, 1}).DayNumber() * kSecondsPerDay + 11'730);
    EXPECT_EQ(julian->summer->end.LocalSecond(2024),
              Date({2024, 12, 31}).DayNumber() * kSecondsPerDay + 7200);
}

TEST(PosixRule, RefusesEverythingElse) {
    for (const char* text :
         {"", "E5", "EST", "EST5EDT", "EST5EDT,", "EST5EDT,M3.2.0", "EST5EDT,M13.2.0,M11.1.0",
          "EST5EDT,M3.6.0,M11.1.0", "EST5EDT,M3.2.7,M11.1.0", "EST5EDT,J0,J365", "EST5EDT,0,366",
          "EST5EDT,M3.2.0/168,M11.1.0", "EST25", "<+03-3", "EST5EDT,M3.2.0,M11.1.0x", "EST5:60"}) {
        EXPECT_FALSE(PosixRule::Parse(text)) << text;
    }
}

}  // namespace
}  // namespace ksana::schedule
