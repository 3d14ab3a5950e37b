#include "ksana/exec/template_text.hpp"

#include <gtest/gtest.h>

namespace ksana::exec {
namespace {

std::optional<TemplateValue> Lookup(std::string_view name) {
    if (name == "id") return TemplateValue{"a b/ü\"", R"("a b/ü\"")"};
    if (name == "n") return TemplateValue{"3", "3"};
    if (name == "o") return TemplateValue{R"({"x":"y\\"})", R"({"x":"y\\"})"};
    if (name == "null") return TemplateValue{"", "null"};
    if (name == "tricky") return TemplateValue{"{{id}}", R"("{{id}}")"};
    if (name == "big") return TemplateValue{std::string(1 << 20, 'x'), "0"};
    return std::nullopt;
}

std::string Fill(std::string_view text, TemplatePlace place) {
    const auto filled = FillTemplate(text, place, Lookup);
    return filled ? *filled : "error: " + filled.error().message;
}

TEST(TemplateText, PutsValuesAsThePlaceWantsThem) {
    EXPECT_EQ(Fill("a {{id}} {{ n }}!", TemplatePlace::kText), "a a b/ü\" 3!");
    EXPECT_EQ(Fill("/x/{{id}}?n={{n}}", TemplatePlace::kUrl), "/x/a%20b%2F%C3%BC%22?n=3");
    EXPECT_EQ(Fill(R"({"i":"<{{id}}>","n":{{n}}})", TemplatePlace::kJson),
              R"({"i":"<a b/ü\">","n":3})");
}

TEST(TemplateText, InJsonAPlaceholderOutsideQuotesIsAValue) {
    EXPECT_EQ(Fill(R"({"i":{{id}},"o":{{o}},"z":{{null}}})", TemplatePlace::kJson),
              R"({"i":"a b/ü\"","o":{"x":"y\\"},"z":null})");
    EXPECT_EQ(Fill(R"({"i":"{{o}}|{{n}}|{{null}}|"})", TemplatePlace::kJson),
              R"({"i":"{\"x\":\"y\\\\\"}|3||"})");
    EXPECT_EQ(Fill(R"({"q\"":{{n}},"\\":{{id}}})", TemplatePlace::kJson),
              R"({"q\"":3,"\\":"a b/ü\""})")
        << "escaped quotes do not end a string";
    EXPECT_EQ(Fill(R"({"a":{"b":{{n}}}})", TemplatePlace::kJson), R"({"a":{"b":3}})");
}

TEST(TemplateText, DoubledBracesAreLiteral) {
    EXPECT_EQ(Fill("{{{{id}} {{n}} }} {", TemplatePlace::kText), "{{id}} 3 }} {");
    EXPECT_EQ(Fill("no placeholder", TemplatePlace::kText), "no placeholder");
    EXPECT_EQ(Fill("", TemplatePlace::kText), "");
}

TEST(TemplateText, ValuesAreNotLookedInto) {
    EXPECT_EQ(Fill("{{tricky}}", TemplatePlace::kText), "{{id}}");
}

TEST(TemplateText, FaultsNameThePlaceholder) {
    EXPECT_EQ(Fill("{{nobody}}", TemplatePlace::kText),
              "error: there is no value for the placeholder \"nobody\"");
    EXPECT_EQ(Fill("{{}}", TemplatePlace::kText),
              "error: there is no value for the placeholder \"\"");
    EXPECT_EQ(Fill("a {{id", TemplatePlace::kText),
              "error: the placeholder at \"{{id\" is not closed");
}

TEST(TemplateText, TheResultIsBounded) {
    std::string text;
    for (int i = 0; i < 1000; ++i) text += "{{big}}";
    EXPECT_EQ(Fill(text, TemplatePlace::kText), "error: longer than 4194304 bytes with its values");
}

TEST(TemplateText, JsonIsRecognisedByItsStart) {
    EXPECT_TRUE(StartsLikeJson(" \n{\"a\":1}"));
    EXPECT_TRUE(StartsLikeJson("[{{n}}]"));
    EXPECT_FALSE(StartsLikeJson("{{name}} says"));
    EXPECT_FALSE(StartsLikeJson("text {"));
    EXPECT_FALSE(StartsLikeJson(""));
}

}  // namespace
}  // namespace ksana::exec
