#include "ksana/store_memory/sorted_blocks.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "ksana/base/ids/random.hpp"

namespace ksana::store_memory {
namespace {

using Blocks = SortedBlocks<int, std::less<>>;

std::vector<int> ValuesOf(const Blocks& blocks) {
    std::vector<int> values;
    blocks.Walk([&](int value) {
        values.push_back(value);
        return true;
    });
    return values;
}

// Grows and shrinks repeatedly, so that blocks split, merge and disappear everywhere.
TEST(SortedBlocks, HoldsWhatASetHolds) {
    SeededRandom random(11);
    Blocks blocks;
    std::set<int> expected;
    for (int step = 0; step < 60'000; ++step) {
        const int value = static_cast<int>(random.Below(20'000));
        const bool grows = step / 10'000 % 2 == 0;
        if (random.Below(8) == 0 ? !grows : grows) {
            if (expected.insert(value).second) blocks.Add(value);
        } else {
            const int near =
                expected.contains(value) || expected.upper_bound(value) == expected.end()
                    ? value
                    : *expected.upper_bound(value);
            expected.erase(near);
            blocks.Remove(near);
        }
        ASSERT_EQ(blocks.empty(), expected.empty());
        if (!expected.empty()) {
            ASSERT_EQ(blocks.front(), *expected.begin());
        }
        if (step % 500 == 0) {
            ASSERT_EQ(ValuesOf(blocks), std::vector<int>(expected.begin(), expected.end()));
        }
    }
    for (const int value : std::set<int>(expected)) blocks.Remove(value);
    EXPECT_TRUE(blocks.empty());
}

TEST(SortedBlocks, AWalkStopsWhenTold) {
    Blocks blocks;
    for (int value = 5'000; value > 0; --value) blocks.Add(value);
    int seen = 0;
    blocks.Walk([&](int value) {
        seen = value;
        return value < 700;
    });
    EXPECT_EQ(seen, 700);
}

}  // namespace
}  // namespace ksana::store_memory
