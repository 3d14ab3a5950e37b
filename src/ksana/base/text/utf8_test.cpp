#include "ksana/base/text/utf8.hpp"

#include <gtest/gtest.h>

namespace ksana {
namespace {

TEST(IsUtf8, AcceptsEveryPlane) {
    EXPECT_TRUE(IsUtf8("plain"));
    EXPECT_TRUE(IsUtf8("刹那 ü 😀 \xF4\x8F\xBF\xBF"));
}

TEST(IsUtf8, RefusesBrokenForms) {
    for (const char* text : {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                             "\xFF", "\xE5\x88", "a\xC3"}) {
        EXPECT_FALSE(IsUtf8(text));
    }
}

TEST(Printable, LeavesNothingThatMovesACursorOrBreaksALine) {
    EXPECT_EQ(Printable("刹那 ok"), "刹那 ok");
    EXPECT_EQ(Printable("a\nb\r\tc"), "a\\nb\\r\\tc");
    EXPECT_EQ(Printable("\x1b[31mred"), "\\x1b[31mred");
    EXPECT_EQ(Printable("\xFFz"), "\\xffz");
    EXPECT_EQ(Printable("\xE2\x80\xA8"), "\\u2028");
    EXPECT_EQ(Printable("\xC2\x9B"), "\\x9b");
}

TEST(Excerpt, CutsBetweenCharacters) {
    EXPECT_EQ(Excerpt("short", 10), "short");
    EXPECT_EQ(Excerpt("刹那刹那", 4), "刹...");
}

TEST(Utf8Test, CutsBetweenCharacters) {
    EXPECT_EQ(CutText("a\nb", 3), "a\nb");
    EXPECT_EQ(CutText("a\nb", 2), "a\n");
    EXPECT_EQ(CutText("aä", 2), "a");
    EXPECT_EQ(CutText("ä", 0), "");
}

}  // namespace
}  // namespace ksana
