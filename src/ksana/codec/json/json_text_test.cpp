#include "ksana/codec/json/json_text.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

TEST(JsonText, MembersComeAsJsonAndAsText) {
    const auto members =
        JsonMembers(R"({"s": "a\"b", "n": 1.5, "o": {"x": [1, 2]}, "z": null, "t": true})");
    ASSERT_TRUE(members) << members.error().Describe();
    ASSERT_EQ(members->size(), 5U);
    EXPECT_EQ((*members)[0].name, "s");
    EXPECT_EQ((*members)[0].json, R"("a\"b")");
    EXPECT_EQ((*members)[0].text, "a\"b");
    EXPECT_EQ((*members)[1].text, "1.5");
    EXPECT_EQ((*members)[2].text, R"({"x":[1,2]})");
    EXPECT_EQ((*members)[3].json, "null");
    EXPECT_EQ((*members)[3].text, "");
    EXPECT_EQ((*members)[4].text, "true");
}

TEST(JsonText, OnlyObjectsHaveMembers) {
    for (const auto* text : {"", "[]", "1", "{", "{\"a\":1,\"a\":2}"}) {
        EXPECT_FALSE(JsonMembers(text)) << text;
    }
    EXPECT_TRUE(JsonMembers("{}").value().empty());
}

TEST(JsonText, QuotesAndRecognises) {
    EXPECT_EQ(QuoteJson("a\"\n\x01"), R"("a\"\n\u0001")");
    EXPECT_TRUE(IsJson("[1]"));
    EXPECT_FALSE(IsJson("<html>"));
    EXPECT_FALSE(IsJson(""));
}

}  // namespace
}  // namespace ksana::codec
