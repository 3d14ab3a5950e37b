#include "ksana/codec/records/limit_share_codec.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

TEST(LimitShareCodec, WhatIsWrittenComesBack) {
    const TimePoint at(Duration(1'790'000'000'123'456));
    model::NodeShare node{.owner = "a/1", .until = at, .in_use = 2, .waiting = 7};
    node.places = {.held = 2, .wanted = 9, .since = at};
    node.starts = {.held = 50, .wanted = 100, .since = at};
    node.recent = 12;
    const model::ShareBook book{.nodes = {node, {.owner = "b/1", .until = at}},
                                .cooling = {{.starts = 3, .until = at}}};
    const auto read = ShareBookFromJson(ShareBookToJson(book));
    ASSERT_TRUE(read) << read.error().Describe();
    EXPECT_EQ(*read, book);
    EXPECT_EQ(*ShareBookFromJson(ShareBookToJson({})), model::ShareBook());
}

TEST(LimitShareCodec, OtherTextsAreRefused) {
    EXPECT_FALSE(ShareBookFromJson("[]"));
    EXPECT_FALSE(ShareBookFromJson(R"({"nodes": [{"owner": "a/1"}]})"));
    EXPECT_FALSE(ShareBookFromJson(R"({"cooling": [{"starts": "x"}]})"));
}

}  // namespace
}  // namespace ksana::codec
