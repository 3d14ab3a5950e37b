#include "ksana/base/text/json_output.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ksana {
namespace {

TEST(JsonOutput, WritesItemsInTheOrderOfTheCalls) {
    JsonOutput out;
    out.BeginObject();
    out.TextMember("a", "x");
    out.Key("b");
    out.BeginArray();
    out.Int(-1);
    out.Unsigned(18'446'744'073'709'551'615U);
    out.Bool(true);
    out.Null();
    out.EndArray();
    out.Key("c");
    out.Raw(R"({"d":[1, 2]})");
    out.Key("e");
    out.BeginObject();
    out.EndObject();
    out.EndObject();
    EXPECT_EQ(out.Take(),
              R"({"a":"x","b":[-1,18446744073709551615,true,null],"c":{"d":[1, 2]},"e":{}})");
}

TEST(JsonOutput, PrettyTextIsIndentedByTwo) {
    JsonOutput out(JsonStyle::kPretty);
    out.BeginObject();
    out.Key("a");
    out.BeginArray();
    out.Int(1);
    out.Int(2);
    out.EndArray();
    out.EndObject();
    EXPECT_EQ(out.Take(), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
}

TEST(JsonOutput, EscapesAreFoundWhereverTheyStand) {
    for (std::size_t before = 0; before < 20; ++before) {
        const std::string plain(before, 'p');
        JsonOutput out;
        out.Text(plain + "\"\\\n\x01" + plain);
        EXPECT_EQ(out.Take(), "\"" + plain + R"(\"\\\n\u0001)" + plain + "\"");
    }
}

TEST(JsonOutput, FractionsStayFractions) {
    const auto text = [](double value) {
        JsonOutput out;
        out.Double(value);
        return out.Take();
    };
    EXPECT_EQ(text(1.0), "1.0");
    EXPECT_EQ(text(-0.0), "-0.0");
    EXPECT_EQ(text(0.1), "0.1");
    EXPECT_EQ(text(std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonOutput, BytesThatAreNotUtf8AreShown) {
    JsonOutput out;
    out.PrintableText("\xff\"");
    EXPECT_EQ(out.Take(), R"("\\xff\"")");
}

}  // namespace
}  // namespace ksana
