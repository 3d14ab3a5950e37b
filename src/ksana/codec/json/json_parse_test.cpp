#include "ksana/codec/json/json_parse.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <string>

namespace ksana::codec {
namespace {

std::string Fault(std::string_view text) {
    const auto parsed = ParseJson(text);
    return parsed ? "" : parsed.error().message;
}

TEST(ParseJson, ReadsJson) {
    for (const char* text : {"{}", "[]", "null", "true", "-1", "18446744073709551615", "1.5",
                             R"({"a":[1,{"b":null}],"c":"\u00e9\n"})", R"({"":1})"}) {
        EXPECT_EQ(Fault(text), "") << text;
        const std::string written = WriteJson(*ParseJson(text));
        EXPECT_EQ(*ParseJson(written), *ParseJson(text)) << written;
    }
    EXPECT_EQ(Fault("  {}\r\n\t "), "");
}

TEST(ParseJson, RefusesWhatIsNoJson) {
    for (const char* text :
         {"", " ", "{", "[1,]", "{'a':1}", "{\"a\":1,}", "01", "+1", "NaN", "\"\x01\"", "[1] x",
          "\xFF", "\"\xC0\xAF\"", "// c\n1", "{\"a\" 1}", "\"\\ud800\""}) {
        EXPECT_NE(Fault(text), "") << text;
    }
    EXPECT_NE(Fault("{\n  \"a\": x}").find("line 2, column 8"), std::string::npos)
        << Fault("{\n  \"a\": x}");
}

TEST(ParseJson, KeepsNumbersExactlyOrRefusesThem) {
    EXPECT_EQ(WriteJson(*ParseJson("[980.97781400205736,0.1,5e-324,1.7976931348623157e308]")),
              "[980.9778140020574,0.1,5e-324,1.7976931348623157e+308]");
    EXPECT_NE(Fault("[1e999]").find("too large"), std::string::npos);
    EXPECT_NE(Fault("12345678901234567890123").find("write it as a string"), std::string::npos);
    EXPECT_EQ(Fault("[18446744073709551615,-9223372036854775808]"), "");
}

TEST(ParseJson, RefusesAKeyThatStandsTwice) {
    EXPECT_NE(Fault(R"({"a":1,"b":{"a":1},"a":2})").find("\"a\" stands twice"), std::string::npos);
    EXPECT_NE(Fault(R"({"a":1,"\u0061":2})"), "") << "the same key in another spelling";
    EXPECT_EQ(Fault(R"([{"a":1},{"a":2}])"), "");
    EXPECT_NE(Fault(R"({"":1,"":2})"), "");
}

TEST(ParseJson, BoundsDepthAndSize) {
    EXPECT_EQ(Fault(std::string(64, '[') + std::string(64, ']')), "");
    EXPECT_NE(Fault(std::string(65, '[') + std::string(65, ']')), "");
    EXPECT_NE(Fault(std::string(100'000, '[')), "");
    EXPECT_NE(Fault("\"" + std::string(5 << 20, 'x') + "\""), "");
}

std::string Repeated(std::string_view item, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += i == 0 ? item : "," + std::string(item);
    return text;
}

TEST(ParseJson, BoundsValuesByTheSizeOfTheText) {
    EXPECT_EQ(Fault("[" + Repeated("0", 199'000) + "]"), "");
    EXPECT_EQ(Fault("[" + Repeated(R"("sixteen characters long")", 100'000) + "]"), "");
    for (const char* item : {"0", "[]", "{}", "1.5", "true", "null", "\"\"", "[0]"}) {
        EXPECT_NE(Fault("[" + Repeated(item, 400'000) + "]").find("it has more than"),
                  std::string::npos)
            << item;
    }
    const std::string stored = "[" + Repeated("0", 400'000) + "]";
    EXPECT_TRUE(ParseJson(stored, LimitsOfStoredJson(stored))) << "a part of a larger document";
}

TEST(ParseJson, BoundsTheMembersOfObjects) {
    const auto members = [](int from, int to) {
        std::string text;
        for (int i = from; i < to; ++i) text += fmt::format("{}\"{}\":0", i == from ? "" : ",", i);
        return text;
    };
    EXPECT_EQ(Fault("{" + members(0, 100'000) + "}"), "");
    EXPECT_NE(Fault("{" + members(0, 100'001) + "}").find("more than 100000 members"),
              std::string::npos);
    // Objects one after the other do not add up, objects inside each other do.
    EXPECT_EQ(Fault("[{" + members(0, 60'000) + "},{" + members(0, 60'000) + "}]"), "");
    EXPECT_NE(Fault("{" + members(0, 60'000) + ",\"x\":{" + members(0, 60'000) + "}}"), "");
}

// Compares with the library for every character at every position within two words.
TEST(WriteJson, EscapesWhatMustBeEscaped) {
    for (int c = 0; c < 256; ++c) {
        for (std::size_t at = 0; at < 17; ++at) {
            std::string text(17, 'x');
            text[at] = static_cast<char>(c);
            const boost::json::value value(text);
            ASSERT_EQ(WriteJson(value), boost::json::serialize(value)) << c << " at " << at;
        }
    }
    EXPECT_EQ(WriteJson(boost::json::value("")), "\"\"");
    EXPECT_EQ(WriteJson(boost::json::value(R"("\")")), R"("\"\\\"")");
}

TEST(WriteJson, PrintsNumbersAsPeopleDo) {
    EXPECT_EQ(WriteJson(*ParseJson("[1.5,100.0,1e300,0.1,-0.0]")), "[1.5,100.0,1e+300,0.1,-0.0]");
    EXPECT_EQ(WriteJson(*ParseJson(R"({"a":[1,2],"b":{}})"), JsonStyle::kPretty),
              "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}");
}

}  // namespace
}  // namespace ksana::codec
