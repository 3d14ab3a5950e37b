#include "ksana/base/random.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ksana {
namespace {

TEST(SeededRandom, RepeatsFromItsSeed) {
    SeededRandom a(42);
    SeededRandom b(42);
    SeededRandom c(43);
    bool differs = false;
    for (int i = 0; i < 100; ++i) {
        const auto x = a.Next();
        EXPECT_EQ(x, b.Next());
        differs |= x != c.Next();
    }
    EXPECT_TRUE(differs);
}

TEST(Random, BelowIsUniform) {
    SeededRandom random(1);
    std::array<int, 7> counts{};
    for (int i = 0; i < 70'000; ++i) ++counts.at(random.Below(7));
    for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

TEST(SystemRandom, DoesNotRepeat) {
    SystemRandom random;
    EXPECT_NE(random.Next(), random.Next());
    std::array<std::uint8_t, 13> bytes{};
    random.Fill(bytes);
    EXPECT_NE(bytes, (std::array<std::uint8_t, 13>{}));
}

}  // namespace
}  // namespace ksana
