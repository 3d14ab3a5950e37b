#include "ksana/base/time/time_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ksana/base/ids/random.hpp"

namespace ksana {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// K-15
TEST(ParseDuration, ReadsWhatGoWrites) {
    const std::vector<std::pair<std::string, Duration>> cases = {
        {"0", Duration(0)},
        {"0s", Duration(0)},
        {"+0", Duration(0)},
        {"5s", seconds(5)},
        {"-5s", -seconds(5)},
        {"+5s", seconds(5)},
        {"1h30m", minutes(90)},
        {"250ms", milliseconds(250)},
        {"1.5h", minutes(90)},
        {".5s", milliseconds(500)},
        {"1.s", seconds(1)},
        {"1m0.5s", milliseconds(60'500)},
        {"15us", Duration(15)},
        {"15\xC2\xB5s", Duration(15)},
        {"15\xCE\xBCs", Duration(15)},
        {"2000ns", Duration(2)},
        {"500ns500ns", Duration(1)},
        {"100h", hours(100)},
        {"0.100000000000s", milliseconds(100)},
        {"2562047788h", hours(2'562'047'788)},
    };
    for (const auto& [text, expected] : cases) {
        const auto parsed = ParseDuration(text);
        ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
        EXPECT_EQ(*parsed, expected) << text;
    }
}

// K-20
TEST(ParseDuration, RefusesEverythingElseAndSaysWhy) {
    const std::vector<std::string> cases = {
        "",
        "-",
        "+",
        "5",
        "s",
        "1d",
        "1 h",
        " 1h",
        "1h ",
        "1H",
        "1.",
        ".s",
        "..5s",
        "1e3s",
        "1h-30m",
        "abc",
        "1ns",
        "1.5ns",
        "0.0000001s",
        "1.00000000005s",
        "0.000000000005m",
        "9999999999999999h",
        "2562047789h",
        "2562047788h54.775808s",
        "-2562047788h54.775809s",
        "1\xC2s",
        "NaNs",
        "infs",
        "1h\n",
        std::string(1 << 20, '1'),
        std::string("1\0s", 3),
        "0.5",
        "٣s",
    };
    for (const std::string& text : cases) {
        const auto parsed = ParseDuration(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, Code::kInvalidArgument);
        EXPECT_NE(parsed.error().message.find("duration"), std::string::npos);
    }
}

TEST(FormatDuration, IsShort) {
    const std::vector<std::pair<Duration, std::string>> cases = {
        {Duration(0), "0s"},
        {Duration(1), "1us"},
        {milliseconds(250), "250ms"},
        {Duration(1'500), "1.5ms"},
        {seconds(10), "10s"},
        {milliseconds(1'500), "1.5s"},
        {minutes(5), "5m"},
        {minutes(90), "1h30m"},
        {hours(24), "24h"},
        {hours(1) + seconds(1), "1h1s"},
        {-milliseconds(61'001), "-1m1.001s"},
    };
    for (const auto& [duration, expected] : cases) {
        EXPECT_EQ(FormatDuration(duration), expected);
    }
}

TEST(FormatDuration, ReadsBackTheSame) {
    SeededRandom random(7);
    for (int i = 0; i < 20'000; ++i) {
        const auto bits = static_cast<int>(random.Below(63));
        const auto count = static_cast<std::int64_t>(random.Next() >> (63 - bits));
        const Duration duration(random.Below(2) == 0 ? count : -count);
        const auto back = ParseDuration(FormatDuration(duration));
        ASSERT_TRUE(back) << FormatDuration(duration);
        EXPECT_EQ(*back, duration);
    }
    for (const Duration extreme : {Duration::min(), Duration::max()}) {
        const auto back = ParseDuration(FormatDuration(extreme));
        ASSERT_TRUE(back) << FormatDuration(extreme);
        EXPECT_EQ(*back, extreme);
    }
}

}  // namespace
}  // namespace ksana
