#include "apps/ksana/job/command_words.hpp"

#include <gtest/gtest.h>

namespace ksana::app {
namespace {

using Words = std::vector<std::string>;

TEST(CommandWords, AreSplitAsAShellSplitsThem) {
    EXPECT_EQ(SplitWords("pg_dump shop").value(), (Words{"pg_dump", "shop"}));
    EXPECT_EQ(SplitWords("  a\t b\nc ").value(), (Words{"a", "b", "c"}));
    EXPECT_EQ(SplitWords(R"(echo 'one word' "two \"words\"" a\ b)").value(),
              (Words{"echo", "one word", "two \"words\"", "a b"}));
    EXPECT_EQ(SplitWords(R"(a'b'"c"d '' "")").value(), (Words{"abcd", "", ""}));
    EXPECT_EQ(SplitWords(R"("a\nb" 'c\d')").value(), (Words{R"(a\nb)", R"(c\d)"}));
}

// Nothing but the splitting: no variable, no command, no pipe.
TEST(CommandWords, WhatAShellWouldActOnStaysText) {
    EXPECT_EQ(SplitWords("echo $HOME `id` $(id);id | cat > *").value(),
              (Words{"echo", "$HOME", "`id`", "$(id);id", "|", "cat", ">", "*"}));
}

TEST(CommandWords, AnUnfinishedLineIsRefused) {
    EXPECT_EQ(SplitWords("echo 'a").error().message,
              "the line has a quote (') at character 6 that is not closed");
    EXPECT_FALSE(SplitWords("echo \"a"));
    EXPECT_EQ(SplitWords("echo \\").error().message, "the line has a backslash at its end");
    EXPECT_EQ(SplitWords("  ").error().message, "the line has no words");
}

}  // namespace
}  // namespace ksana::app
