#include "ksana/store/page.hpp"

#include <gtest/gtest.h>

namespace ksana::store {
namespace {

TEST(Cursor, ComesBackWhateverIsInside) {
    for (const Position& position :
         {Position{"", ""}, Position{"12", "id"}, Position{"a:b:3:", ":x"}, Position{"9", "9:9"}}) {
        const auto parsed = ParseCursor("-name", MakeCursor("-name", position));
        ASSERT_TRUE(parsed);
        EXPECT_EQ(*parsed, position);
    }
}

TEST(Cursor, AnEmptyOneIsTheFirstPage) { EXPECT_FALSE(*ParseCursor("id", "")); }

TEST(Cursor, RefusesWhatItDidNotMake) {
    const std::string cursor = MakeCursor("id", {"12", "x"});
    EXPECT_FALSE(ParseCursor("-id", cursor));
    EXPECT_FALSE(ParseCursor("name", cursor));
    for (const char* bad : {"id", "id:", "id:x", "id:5",
                            "id:5:", "id:-1:", "id:99999999999999999999:", "id:3:ab", "idx:0:"}) {
        EXPECT_EQ(ParseCursor("id", bad).error().code, Code::kInvalidArgument) << bad;
    }
}

}  // namespace
}  // namespace ksana::store
