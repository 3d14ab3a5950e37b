#include "ksana/base/ids/uuid_table.hpp"

#include <gtest/gtest.h>

#include <map>

#include "ksana/base/ids/random.hpp"

namespace ksana {
namespace {

// Maps numbers to few distinct home slots, so that many ids collide.
Uuid IdOf(std::uint64_t number) {
    Uuid id;
    id.bytes[0] = static_cast<std::uint8_t>(number + 1);
    id.bytes[15] = static_cast<std::uint8_t>(number % 7);
    return id;
}

TEST(UuidTable, IsEmptyAtFirst) {
    UuidTable<int> table;
    EXPECT_EQ(table.Find(IdOf(1)), nullptr);
    EXPECT_FALSE(table.Erase(IdOf(1)));
    table.Clear();
    EXPECT_EQ(table.size(), 0U);
}

TEST(UuidTable, DoesWhatAMapDoes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SeededRandom random(seed);
        UuidTable<int> table;
        std::map<Uuid, int> expected;
        for (int step = 0; step < 2'000; ++step) {
            const Uuid id = IdOf(random.Below(200));
            if (random.Below(1'000) == 0) {
                table.Clear();
                expected.clear();
            } else if (random.Below(5) < 3) {
                table.Put(id, step);
                expected[id] = step;
            } else {
                EXPECT_EQ(table.Erase(id), expected.erase(id) != 0);
            }
            ASSERT_EQ(table.size(), expected.size());
            for (std::uint64_t n = 0; n < 200; n += 13) {
                const auto found = expected.find(IdOf(n));
                const int* const value = table.Find(IdOf(n));
                ASSERT_EQ(value != nullptr, found != expected.end()) << seed << ": " << step;
                if (value != nullptr) {
                    ASSERT_EQ(*value, found->second);
                }
            }
        }
    }
}

}  // namespace
}  // namespace ksana
