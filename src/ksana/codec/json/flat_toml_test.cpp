#include "ksana/codec/json/flat_toml.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

TEST(ParseFlatToml, EntriesComeInTheOrderOfTheirLines) {
    const auto entries = ParseFlatToml("b = 'x'\n\na = 7\n\"c/d\" = ['y', 'z']\n");
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 3U);
    EXPECT_EQ(entries->at(0).key, "b");
    EXPECT_EQ(std::get<std::string>(entries->at(0).value), "x");
    EXPECT_EQ(entries->at(1).line, 3);
    EXPECT_EQ(std::get<std::int64_t>(entries->at(1).value), 7);
    EXPECT_EQ(entries->at(2).key, "c/d");
    EXPECT_EQ(entries->at(2).line, 4);
    EXPECT_EQ(std::get<2>(entries->at(2).value), (std::vector<std::string>{"y", "z"}));
}

TEST(ParseFlatToml, WhatIsNotFlatIsNamed) {
    const auto entries = ParseFlatToml("a = true\nb = 1.5\nc = [1]\n[d]\n");
    ASSERT_TRUE(entries) << entries.error().message;
    const auto kind = [&](std::size_t i) {
        return std::get<FlatEntry::Other>(entries->at(i).value).kind;
    };
    EXPECT_EQ(kind(0), "a boolean");
    EXPECT_EQ(kind(1), "a number with a fraction");
    EXPECT_EQ(kind(2), "a list that holds more than texts");
    EXPECT_EQ(kind(3), "a table");
}

TEST(ParseFlatToml, AnErrorDoesNotShowTheValue) {
    for (const char* text : {"store = postgres://u:secret@h", "store = \"postgres://u:secret@h",
                             "store = 'x' secret", "store = 12secret"}) {
        const auto entries = ParseFlatToml(text);
        ASSERT_FALSE(entries);
        EXPECT_EQ(entries.error().message.find("secret"), std::string::npos)
            << entries.error().message;
        EXPECT_NE(entries.error().message.find("line 1"), std::string::npos);
    }
}

}  // namespace
}  // namespace ksana::codec
