#include "ksana/codec/json/toml_parse.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ksana/codec/json/json_parse.hpp"

namespace ksana::codec {
namespace {

TEST(ParseToml, BecomesJson) {
    const auto parsed = ParseToml("a = 1\nb = [true, 'x', 1.5]\n[t]\nat = 2026-01-01T00:00:00Z\n");
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(WriteJson(parsed->value),
              R"({"a":1,"b":[true,"x",1.5],"t":{"at":"2026-01-01T00:00:00Z"}})");
    EXPECT_EQ(parsed->line_of("/t/at"), 4);
    EXPECT_EQ(parsed->line_of("/t/at/deeper"), 4);
    EXPECT_EQ(parsed->line_of("/b/1"), 2);
}

TEST(ParseToml, RefusesTheRestWithLineAndColumn) {
    EXPECT_NE(ParseToml("a = 1\nb = = 2").error().message.find("line 2"), std::string::npos);
    EXPECT_FALSE(ParseToml("a = 1\na = 2"));
    EXPECT_NE(ParseToml("a = 1\nb = nan").error().message.find("line 2"), std::string::npos);
    EXPECT_FALSE(ParseToml("\xFF"));
    EXPECT_FALSE(ParseToml(std::string("a = \"\0\"", 7)));
    EXPECT_FALSE(ParseToml("a = " + std::string(100'000, '[')));
    EXPECT_FALSE(ParseToml(std::string(5 << 20, '#')));
}

}  // namespace
}  // namespace ksana::codec
