#include "ksana/codec/json/json_tree.hpp"

#include <gtest/gtest.h>

namespace ksana::codec {
namespace {

Json Parsed(std::string_view text) { return Json::Parse(text).value(); }

TEST(JsonTree, FindsPartsByPointer) {
    const Json tree = Parsed(R"({"a": {"b/c": [1, "two", null]}, "n": 1.5, "t": true})");
    EXPECT_EQ(tree.TextAt("/a/b~1c/0"), "1");
    EXPECT_EQ(tree.TextAt("/a/b~1c/1"), "two");
    EXPECT_EQ(tree.TextAt("/a/b~1c/2"), "");
    EXPECT_TRUE(tree.Has("/a/b~1c/2"));
    for (const std::string_view missing :
         {"/a/b~1c/3", "/a/b~1c/x", "/a/x/y", "/n/1", "/a/b~1c/-1"}) {
        EXPECT_FALSE(tree.Has(missing)) << missing;
        EXPECT_TRUE(tree.At(missing).IsNull()) << missing;
    }
    EXPECT_EQ(tree.At("/n").Number(), 1.5);
    EXPECT_EQ(tree.At("/n").Int(), std::nullopt);
    EXPECT_EQ(tree.At("/a").Int(), std::nullopt);
    EXPECT_TRUE(tree.At("/t").True());
    EXPECT_EQ(tree.At(""), tree);
}

TEST(JsonTree, APartKeepsTheWholeAlive) {
    Json part;
    {
        const Json whole = Parsed(R"({"items": [{"id": "x"}]})");
        part = whole.At("/items").Items().at(0);
    }
    EXPECT_EQ(part.TextAt("/id"), "x");
    EXPECT_EQ(part.Members().at(0).first, "id");
}

TEST(JsonTree, ChangesMakeAnother) {
    const Json made = Json()
                          .With("/name", Json::Of("é"))
                          .With("/schedule/every", Json::Of("5m"))
                          .With("/n", Json::Of(std::int64_t{3}))
                          .With("/on", Json::Of(false))
                          .With("/list", Json::Array({Json::Of("a"), Json()}));
    EXPECT_EQ(made.Compact(),
              R"({"name":"é","schedule":{"every":"5m"},"n":3,"on":false,"list":["a",null]})");
    EXPECT_EQ(made.Without("/schedule/every").Without("/list").Without("/x/y").Compact(),
              R"({"name":"é","schedule":{},"n":3,"on":false})");
    EXPECT_TRUE(made.Has("/list")) << "the first one stays as it was";
}

TEST(JsonTree, ReadsTomlToo) {
    const Json tree = Json::ParseToml("name = \"x\"\n[schedule]\nevery = \"5m\"\n").value();
    EXPECT_EQ(tree.TextAt("/schedule/every"), "5m");
    EXPECT_FALSE(Json::ParseToml("name = "));
    EXPECT_FALSE(Json::Parse("{"));
    EXPECT_FALSE(Json::Parse("[1, 2]", 3)) << "larger than allowed";
}

}  // namespace
}  // namespace ksana::codec
