#include "apps/ksana/toolkit/table.hpp"

#include <gtest/gtest.h>

#include "apps/ksana/toolkit/table.hpp"

namespace ksana::app {
namespace {

TEST(TextWidth, CountsColumnsNotBytes) {
    EXPECT_EQ(TextWidth("abc"), 3U);
    EXPECT_EQ(TextWidth("é"), 1U);
    EXPECT_EQ(TextWidth("e\xCC\x81"), 1U) << "a combining accent takes no column";
    EXPECT_EQ(TextWidth("日报"), 4U);
    EXPECT_EQ(TextWidth("🙂"), 2U);
}

TEST(TextWidth, CutsBetweenCharacters) {
    EXPECT_EQ(CutToWidth("abcdef", 6), "abcdef");
    EXPECT_EQ(CutToWidth("abcdef", 4), "abc…");
    EXPECT_EQ(CutToWidth("日报日报", 5), "日报…");
    EXPECT_EQ(CutToWidth("日报日报", 4), "日…") << "half a character is none";
    EXPECT_EQ(CutToWidth("abc", 1), "…");
    EXPECT_EQ(CutToWidth("abc", 0), "");
}

Table Example() {
    Table table({{"ID", true}, {"NAME"}, {"ERROR"}});
    table.Add({{"a"}, {"日报"}, {"connection refused by the other side", Hue::kBad}});
    table.Add({{"long-id"}, {"x"}, {""}});
    return table;
}

TEST(Table, LinesUpByWidthWithoutTrailingBlanks) {
    EXPECT_EQ(Example().Text({}, false),
              "ID       NAME  ERROR\n"
              "a        日报  connection refused by the other side\n"
              "long-id  x\n");
}

TEST(Table, CutsTheWidestToFitATerminal) {
    Style style;
    style.columns = 30;
    const std::string text = Example().Text(style, true);
    EXPECT_EQ(text,
              "ID       NAME  ERROR\n"
              "a        日报  connection ref…\n"
              "long-id  x\n");
    Table ids({{"ID", true}, {"X"}});
    ids.Add({{"0190b6a5-7c1e-7d2a-8f3b-123456789abc"}, {"something long"}});
    style.columns = 43;
    EXPECT_EQ(ids.Text(style, true),
              "ID                                    X\n"
              "0190b6a5-7c1e-7d2a-8f3b-123456789abc  some…\n")
        << "the first column is what one copies";
    style.columns = 5;
    EXPECT_NE(Example().Text(style, true), "") << "a very narrow one is no reason to fail";
}

TEST(Table, PaintsWhatHasAColourAndKeepsTheLayout) {
    Style style;
    style.colour = true;
    const std::string text = Example().Text(style, false);
    EXPECT_NE(text.find("\x1b[31mconnection refused by the other side\x1b[0m\n"),
              std::string::npos);
    EXPECT_NE(text.find("\x1b[1mID\x1b[0m       \x1b[1mNAME"), std::string::npos);
}

TEST(Table, NothingFromOutsidePaintsTheTerminal) {
    Table table({{"X"}});
    table.Add({{"\x1b[31mred\nnext"}});
    EXPECT_EQ(table.Text({}, false), "X\n\\x1b[31mred\\nnext\n");
}

}  // namespace
}  // namespace ksana::app
