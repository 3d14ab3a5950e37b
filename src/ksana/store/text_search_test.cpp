#include "ksana/store/text_search.hpp"

#include <gtest/gtest.h>

namespace ksana::store {
namespace {

TEST(TextSearch, FindsEveryWordAnywhere) {
    const auto found = [](std::string_view text) {
        return ContainsWords(SearchWords(text), {"Nightly Report", "ann", "\u00c9t\u00e9"});
    };
    EXPECT_TRUE(found(""));
    EXPECT_TRUE(found("  report\tNIGHT \n"));
    EXPECT_TRUE(found("ann ep"));
    EXPECT_FALSE(found("ann bob"));
    EXPECT_TRUE(found("\u00c9t\u00e9"));
    EXPECT_FALSE(found("\u00e9t\u00e9")) << "only A to Z have two forms";
    EXPECT_FALSE(found("n%ght")) << "no wildcards";
}

TEST(TextSearch, WordsAreBounded) {
    EXPECT_EQ(SearchWords("a b c d e f g h i j").size(), kMaxSearchWords);
    EXPECT_EQ(SearchWords(" \t ").size(), 0U);
}

}  // namespace
}  // namespace ksana::store
