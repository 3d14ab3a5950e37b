#include "apps/ksana/simulate/load_chart.hpp"

#include <gtest/gtest.h>

#include "ksana/base/time/time_text.hpp"

namespace ksana::app {
namespace {

const TimePoint kFrom = *ParseTime("2026-01-01T00:00:00Z");

TEST(LoadChart, ChoosesStepsThatPeopleKnow) {
    EXPECT_EQ(MinutesPerColumn(60, 60), 1);
    EXPECT_EQ(MinutesPerColumn(61, 60), 2);
    EXPECT_EQ(MinutesPerColumn(1440, 75), 30);
    EXPECT_EQ(MinutesPerColumn(31 * 1440, 75), 720);
    EXPECT_EQ(MinutesPerColumn(400 * 1440, 75), 6 * 1440);
}

TEST(LoadChart, DrawsWithLetters) {
    const std::vector<std::int64_t> minutes = {0, 1, 2, 4};
    EXPECT_EQ(LoadChart({minutes, kFrom, false}, {40, 2, false}).text,
              "4 |   #\n"
              "  | ###\n"
              "0 +----\n"
              "   2026-01-01T00:00Z 2026-01-01T00:04Z\n");
}

TEST(LoadChart, DrawsWithBlocks) {
    const std::vector<std::int64_t> minutes = {0, 1, 8, 16};
    EXPECT_EQ(LoadChart({minutes, kFrom, false}, {40, 2, true}).text,
              "16 |   █\n"
              "   | ▁██\n"
              " 0 +----\n"
              "    2026-01-01T00:00Z 2026-01-01T00:04Z\n");
}

TEST(LoadChart, AddsOrTakesTheLargest) {
    const std::vector<std::int64_t> minutes(100, 3);
    EXPECT_EQ(LoadChart({minutes, kFrom, true}, {60, 1, false}).step_minutes, 2);
    EXPECT_EQ(LoadChart({minutes, kFrom, true}, {60, 1, false}).text.substr(0, 4), "6 |#");
    EXPECT_EQ(LoadChart({minutes, kFrom, false}, {60, 1, false}).text.substr(0, 4), "3 |#");
}

// For any number of minutes and values of any size.
TEST(LoadChart, StaysWithinItsWidth) {
    std::vector<std::int64_t> minutes;
    for (const std::size_t count : {1U, 79U, 500U, 100'000U, 576'000U}) {
        minutes.assign(count, 123'456);
        for (const std::size_t columns : {1U, 50U, 80U, 200U}) {
            const std::string chart = LoadChart({minutes, kFrom, true}, {columns, 4, false}).text;
            std::size_t begin = 0;
            while (begin < chart.size()) {
                const std::size_t end = chart.find('\n', begin);
                EXPECT_LE(end - begin, std::max<std::size_t>(columns, 50)) << count;
                begin = end + 1;
            }
        }
    }
}

TEST(LoadChart, OfNothing) {
    EXPECT_EQ(LoadChart({{}, kFrom, true}, {80, 4, false}).text, "");
    const std::vector<std::int64_t> zero(3, 0);
    EXPECT_EQ(LoadChart({zero, kFrom, true}, {80, 1, false}).text.substr(0, 4), "0 |\n");
}

}  // namespace
}  // namespace ksana::app
