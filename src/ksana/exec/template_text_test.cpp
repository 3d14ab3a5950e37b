#include "ksana/exec/template_text.hpp"

#include <gtest/gtest.h>

#include "ksana/codec/json/json_text.hpp"

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

std::optional<TemplateValue> Hostile(std::string_view name) {
    const std::string text = name == "form"    ? "eve&role=admin+1"
                             : name == "xml"   ? R"(</a><role x="1" y='2'>&)"
                             : name == "line"  ? "one\r\nX-Role: admin"
                             : name == "quote" ? R"(a"; role="admin\)"
                             : name == "up"    ? ".."
                             : name == "dots"  ? ".evil.example"
                                               : std::string(name);
    return TemplateValue{text, codec::QuoteJson(text)};
}

std::string FillHostile(std::string_view text, TemplatePlace place) {
    const auto filled = FillTemplate(text, place, Hostile);
    return filled ? *filled : "error: " + filled.error().message;
}

TEST(TemplateText, AValueAddsNothingToAForm) {
    EXPECT_EQ(FillHostile("user={{form}}&role=guest", TemplatePlace::kForm),
              "user=eve%26role%3Dadmin%2B1&role=guest");
    EXPECT_EQ(FillHostile("text={{line}}", TemplatePlace::kForm),
              "text=one%0D%0AX-Role%3A%20admin");
}

TEST(TemplateText, AValueAddsNoElementToXml) {
    EXPECT_EQ(FillHostile(R"(<a b="{{xml}}">{{quote}}</a>)", TemplatePlace::kXml),
              "<a b=\"&lt;/a&gt;&lt;role x=&quot;1&quot; y=&#39;2&#39;&gt;&amp;\">"
              "a&quot;; role=&quot;admin\\</a>");
    EXPECT_EQ(FillHostile("<a>{{line}}</a>", TemplatePlace::kXml), "<a>one\r\nX-Role: admin</a>");
    EXPECT_EQ(FillHostile("<a>{{\x01}}</a>", TemplatePlace::kXml),
              "error: the value of the placeholder \"\\x01\" holds a control character, which "
              "XML cannot have");
}

TEST(TemplateText, AValueAddsNoLineToATextOrAHeader) {
    EXPECT_EQ(FillHostile("user {{line}}", TemplatePlace::kPlain),
              "error: the value of the placeholder \"line\" holds a line break or another control "
              "character, which only a JSON, form or XML body can escape");
    EXPECT_EQ(FillHostile("{{line}}", TemplatePlace::kPlain), "one\r\nX-Role: admin");
    EXPECT_EQ(FillHostile("{{line}}", TemplatePlace::kHeader),
              "error: the value of the placeholder \"line\" holds a line break or another control "
              "character");
    EXPECT_EQ(FillHostile(R"(form-data; name="{{quote}}"; v={{quote}})", TemplatePlace::kHeader),
              R"(form-data; name="a\"; role=\"admin\\"; v=a"; role="admin\)");
}

TEST(TemplateText, AValueMovesNoUrl) {
    const auto url = [](std::string_view text) { return FillHostile(text, TemplatePlace::kUrl); };
    EXPECT_EQ(url("http://a/x/{{form}}?q={{form}}"),
              "http://a/x/eve%26role%3Dadmin%2B1?q=eve%26role%3Dadmin%2B1");
    const std::string segment = "error: a value makes \".\" or \"..\" of a segment of the path";
    EXPECT_EQ(url("http://a/tenants/{{up}}/admin"), segment);
    EXPECT_EQ(url("http://a/tenants/.{{.}}"), segment);
    EXPECT_EQ(url("http://a/tenants/%2E{{.}}/x"), segment);
    EXPECT_EQ(url("http://a/../{{b}}?q={{up}}"), "http://a/../b?q=..") << "the author's own";
    const std::string host = "is a part of the host: it may have letters, digits and - only";
    EXPECT_EQ(url("http://a.example{{dots}}/x"),
              "error: the value of the placeholder \"dots\" " + host);
    EXPECT_EQ(url("http://{{dots}}.example/x"),
              "error: the value of the placeholder \"dots\" " + host);
    EXPECT_EQ(url("http://{{eu-1}}.example/x"), "http://eu-1.example/x");
    EXPECT_EQ(url("http://{{b.example}}:80/x"), "http://b.example:80/x") << "the whole host";
}

TEST(TemplateText, ABodyIsWhatItsTypeSaysOrWhatItLooksLike) {
    const auto of = [](std::string_view body, const std::string& type = "") {
        return PlaceOfBody(body, type.empty() ? nullptr : &type);
    };
    EXPECT_EQ(of("a={{x}}&b=1"), TemplatePlace::kForm);
    EXPECT_EQ(of("a[b]={{x}}"), TemplatePlace::kForm);
    EXPECT_EQ(of("{{x}}", "application/x-www-form-urlencoded; charset=utf-8"),
              TemplatePlace::kForm);
    EXPECT_EQ(of("a={{x}}", "text/plain"), TemplatePlace::kPlain);
    EXPECT_EQ(of("1 + 1 = {{x}}"), TemplatePlace::kPlain);
    EXPECT_EQ(of(" <a>{{x}}</a>"), TemplatePlace::kXml);
    EXPECT_EQ(of("{{x}}", "application/soap+xml"), TemplatePlace::kXml);
    EXPECT_EQ(of("{{x}}", "text/HTML"), TemplatePlace::kXml);
    EXPECT_EQ(of("[{{x}}]"), TemplatePlace::kJson);
    EXPECT_EQ(of("{{x}}", "application/json"), TemplatePlace::kJson);
    EXPECT_EQ(of("{{x}}"), TemplatePlace::kPlain);
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
