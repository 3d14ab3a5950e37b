#include "ksana/base/text/text_map.hpp"

#include <gtest/gtest.h>

#include <map>

#include "ksana/base/ids/random.hpp"

namespace ksana {
namespace {

TEST(TextMap, IsSortedWhateverTheOrderOfAdding) {
    const TextMap map = {{"zone", "eu"}, {"gpu", ""}, {"\xFF", "b"}, {"gpu", "again"}};
    const std::vector<TextMap::Entry> expected = {{"gpu", ""}, {"zone", "eu"}, {"\xFF", "b"}};
    EXPECT_EQ(std::vector<TextMap::Entry>(map.begin(), map.end()), expected);
    EXPECT_EQ(map, (TextMap{{"\xFF", "b"}, {"gpu", ""}, {"zone", "eu"}}));
    EXPECT_NE(map, (TextMap{{"gpu", ""}, {"zone", "eu"}}));
    EXPECT_LE(sizeof(TextMap), 24U);
}

TEST(TextMap, IsMadeOfManyEntriesAtOnce) {
    const TextMap map = TextMap::Of({{"b", "1"}, {"a", "2"}, {"b", "3"}});
    EXPECT_EQ(map, (TextMap{{"a", "2"}, {"b", "1"}})) << "of equal names the first one";
    EXPECT_TRUE(TextMap::Of({}).empty());
}

TEST(TextMap, AnswersAsAStdMap) {
    SeededRandom random(7);
    TextMap map;
    std::map<std::string, std::string> expected;
    for (int step = 0; step < 2'000; ++step) {
        const std::string name = std::to_string(random.Below(50));
        const std::string value = std::to_string(step);
        if (random.Below(2) == 0) {
            EXPECT_EQ(map.Add(name, value), expected.try_emplace(name, value).second);
        } else {
            map[name] = value;
            expected[name] = value;
        }
        if (random.Below(40) == 0) {
            map.clear();
            expected.clear();
        }
        const std::string other = std::to_string(random.Below(50));
        const auto found = map.find(other);
        ASSERT_EQ(found != map.end(), expected.contains(other));
        if (found != map.end()) {
            EXPECT_EQ(found->second, expected[other]);
        }
        ASSERT_EQ(decltype(expected)(map.begin(), map.end()), expected);
        ASSERT_EQ(map.empty(), expected.empty());
    }
}

}  // namespace
}  // namespace ksana
