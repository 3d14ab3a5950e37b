#include "ksana/http_server/wire/target.hpp"

#include <gtest/gtest.h>

namespace ksana::http_server {
namespace {

int StatusOf(std::string_view text) {
    Target target;
    const auto fault = ParseTarget(text, target);
    return fault ? fault->status : 200;
}

Target Parsed(std::string_view text) {
    Target target;
    const auto fault = ParseTarget(text, target);
    EXPECT_FALSE(fault) << text << ": " << fault->detail;
    return target;
}

using Texts = std::vector<std::string>;

TEST(TargetTest, PathsBecomeDecodedSegments) {
    EXPECT_EQ(Parsed("/").segments, Texts());
    EXPECT_EQ(Parsed("/jobs").segments, Texts{"jobs"});
    EXPECT_EQ(Parsed("/jobs/a%20b/runs").segments, (Texts{"jobs", "a b", "runs"}));
    EXPECT_EQ(Parsed("/j%C3%B6bs/a+b").segments, (Texts{"j\xC3\xB6"
                                                        "bs",
                                                        "a+b"}));
    EXPECT_EQ(Parsed("/jobs/a%20b?x=1").path, "/jobs/a%20b");
    EXPECT_EQ(Parsed("/%2e%2e%2e").segments, Texts{"..."});  // three dots are a name
}

TEST(TargetTest, ASlashAtTheEndIsAnEmptyLastSegment) {
    EXPECT_EQ(Parsed("/jobs/").segments, (Texts{"jobs", ""}));
}

TEST(TargetTest, WhatTwoProgramsCouldReadDifferentlyIsRefused) {
    for (const std::string_view text : {"",          "jobs",      "//",
                                        "//jobs",    "/jobs//x",  "/.",
                                        "/..",       "/a/../b",   "/a/./b",
                                        "/%2e%2e/b", "/%2E/b",    "/a%2Fb",
                                        "/a%2fb",    "/a%00b",    "/%",
                                        "/%4",       "/%zz",      "/%C3",
                                        "/%ff",      "/%C0%AF",   "/a%0d%0ab",
                                        "/a%7f",     "/a b",      "/a\tb",
                                        "/a#b",      "/a\\b",     "/a\"b",
                                        "/<a>",      "/\xC3\xB6", "ftp://host/",
                                        "http://",   "http:///a", "http://user@host/a",
                                        "host:443",  "**"}) {
        EXPECT_EQ(StatusOf(text), 400) << text;
    }
}

TEST(TargetTest, QueriesKeepTheirOrder) {
    const TextPairs wanted = {{"b", "1"}, {"a", "x y"}, {"b", "2"}, {"c", ""}, {"d", "="}};
    EXPECT_EQ(Parsed("/x?b=1&a=x+y&&b=2&c&d==").query, wanted);
    EXPECT_EQ(Parsed("/x?").query, TextPairs());
    EXPECT_EQ(Parsed("/x?a=%26%3D/?").query, (TextPairs{{"a", "&=/?"}}));
    for (const std::string_view text : {"/x?a=%", "/x?a=%0", "/x?%gg=1", "/x?a=%ff", "/x?a=%00"}) {
        EXPECT_EQ(StatusOf(text), 400) << text;
    }
}

TEST(TargetTest, AbsoluteTargetsNameAHost) {
    const Target target = Parsed("HTTP://Test:8080/a/b?c=d");
    EXPECT_EQ(target.authority, "Test:8080");
    EXPECT_EQ(target.path, "/a/b");
    EXPECT_EQ(target.query, (TextPairs{{"c", "d"}}));
    EXPECT_EQ(Parsed("http://test").path, "/");
    EXPECT_EQ(Parsed("http://test?a=b").query, (TextPairs{{"a", "b"}}));
    EXPECT_TRUE(Parsed("*").asterisk);
}

}  // namespace
}  // namespace ksana::http_server
