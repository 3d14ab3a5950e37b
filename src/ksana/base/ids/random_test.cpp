#include "ksana/base/ids/random.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

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

// A child that reused its parent's numbers would draw the same ids.
TEST(SystemRandom, AForkedChildDrawsItsOwn) {
    SystemRandom random;
    (void)random.Next();
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const std::uint64_t drawn = random.Next();
        _exit(write(ends[1], &drawn, sizeof drawn) == sizeof drawn ? 0 : 1);
    }
    const std::uint64_t ours = random.Next();
    std::uint64_t theirs = 0;
    ASSERT_EQ(read(ends[0], &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
    EXPECT_NE(ours, theirs);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    close(ends[0]);
    close(ends[1]);
}

}  // namespace
}  // namespace ksana
