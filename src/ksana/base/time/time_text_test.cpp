#include "ksana/base/time/time_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"

namespace ksana {
namespace {

std::int64_t Micros(TimePoint t) { return t.time_since_epoch().count(); }

// K-15
TEST(ParseTime, ReadsRfc3339) {
    const std::vector<std::pair<std::string, std::int64_t>> cases = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01T00:00:00.000001Z", 1},
        {"1970-01-01T00:00:00.5Z", 500'000},
        {"1970-01-01T00:00:00.123456789Z", 123'456},
        {"1969-12-31T23:59:59.9Z", -100'000},
        {"1970-01-01T08:00:00+08:00", 0},
        {"1969-12-31T19:00:00-05:00", 0},
        {"1970-01-01T00:00:00-00:00", 0},
        {"2024-02-29T00:00:00Z", 1'709'164'800'000'000},
        {"2025-09-19T11:05:00Z", 1'758'279'900'000'000},
    };
    for (const auto& [text, expected] : cases) {
        const auto parsed = ParseTime(text);
        ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
        EXPECT_EQ(Micros(*parsed), expected) << text;
    }
}

// K-20
TEST(ParseTime, RefusesEverythingElseAndSaysWhy) {
    const std::vector<std::string> cases = {
        "",
        "2026",
        "2026-01-01",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01t00:00:00z",
        "2026-01-01T00:00:00z",
        "2026-1-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-12-31T23:59:60Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.1234567890Z",
        "2026-01-01T00:00:00,5Z",
        "2026-01-01T00:00:00+8:00",
        "2026-01-01T00:00:00+0800",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+08:60",
        "2026-01-01T00:00:00ZZ",
        " 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00Z\n",
        "+2026-01-01T00:00:00Z",
        "12026-01-01T00:00:00Z",
        "-001-01-01T00:00:00Z",
        "9999-12-31T23:59:59-00:01",
        "0000-01-01T00:00:00+00:01",
        "２０２６-01-01T00:00:00Z",
        std::string("2026-01-01T00:00:00\0Z", 21),
        std::string(1 << 20, '2'),
    };
    for (const std::string& text : cases) {
        const auto parsed = ParseTime(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
        EXPECT_FALSE(parsed.error().message.empty());
    }
}

TEST(FormatTime, PrintsUtcAndMicrosecondsOnlyWhenThereAreAny) {
    EXPECT_EQ(FormatTime(TimePoint(Duration(0))), "1970-01-01T00:00:00Z");
    EXPECT_EQ(FormatTime(TimePoint(Duration(250'000))), "1970-01-01T00:00:00.250000Z");
    EXPECT_EQ(FormatTime(TimePoint(Duration(-1))), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(FormatTime(MinTime()), "0000-01-01T00:00:00Z");
    EXPECT_EQ(FormatTime(MaxTime()), "9999-12-31T23:59:59.999999Z");
}

TEST(FormatTime, ReadsBackTheSame) {
    SeededRandom random(11);
    const auto span = static_cast<std::uint64_t>(Micros(MaxTime()) - Micros(MinTime()));
    for (int i = 0; i < 20'000; ++i) {
        const TimePoint t = MinTime() + Duration(static_cast<std::int64_t>(random.Below(span)));
        const auto back = ParseTime(FormatTime(t));
        ASSERT_TRUE(back) << FormatTime(t);
        EXPECT_EQ(*back, t);
    }
}

}  // namespace
}  // namespace ksana
