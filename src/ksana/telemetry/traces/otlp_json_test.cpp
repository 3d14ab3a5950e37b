#include "ksana/telemetry/traces/otlp_json.hpp"

#include <gtest/gtest.h>

#include "ksana/telemetry/traces/gzip.hpp"

namespace ksana::telemetry {
namespace {

Span SomeSpan() {
    Span span;
    span.trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
    span.id = 0xf067aa0ba902b7;
    span.parent = 0xff00000000000001;
    span.name = "HTTP GET example.com";
    span.kind = SpanKind::kClient;
    span.start = TimePoint(std::chrono::microseconds(1'700'000'000'000'001));
    span.end = span.start + Duration(5);
    span.status = SpanStatus::kError;
    span.error = "HTTP 503";
    span.attributes = {{"a", std::string("text")}, {"b", std::int64_t{7}}, {"c", 0.5}, {"d", true}};
    span.events = {{"connected", span.start + Duration(2)}};
    span.links = {{"0192f0c123457abc8def0123456789ab", 1}};
    return span;
}

// D-13: the members and forms that OTLP prescribes; tests/server/trace_cases.py has them judged.
TEST(OtlpJson, WritesHexIdsNumbersOfEnumsAndTextsOfLongNumbers) {
    const TraceResource resource{.attributes = {{"service.name", std::string("ksana")}},
                                 .scope_version = "1.0"};
    EXPECT_EQ(
        OtlpJson(resource, std::vector<Span>{SomeSpan()}),
        R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":)"
        R"({"stringValue":"ksana"}}]},"scopeSpans":[{"scope":{"name":"ksana","version":"1.0"},)"
        R"("spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7",)"
        R"("parentSpanId":"ff00000000000001","name":"HTTP GET example.com","kind":3,)"
        R"("startTimeUnixNano":"1700000000000001000","endTimeUnixNano":"1700000000000006000",)"
        R"("attributes":[{"key":"a","value":{"stringValue":"text"}},)"
        R"({"key":"b","value":{"intValue":"7"}},{"key":"c","value":{"doubleValue":0.5}},)"
        R"({"key":"d","value":{"boolValue":true}}],)"
        R"("events":[{"timeUnixNano":"1700000000000003000","name":"connected"}],)"
        R"("links":[{"traceId":"0192f0c123457abc8def0123456789ab",)"
        R"("spanId":"0000000000000001"}],"status":{"message":"HTTP 503","code":2}}]}]}]})");
}

TEST(OtlpJson, ARootHasNoParentAndOpenSpansAreLeftOut) {
    Span root = SomeSpan();
    root.parent = 0;
    Span open = SomeSpan();
    open.name = "open";
    open.end.reset();
    const std::string text = OtlpJson({}, std::vector<Span>{root, open});
    EXPECT_EQ(text.find("parentSpanId"), std::string::npos);
    EXPECT_EQ(text.find("open"), std::string::npos);
}

TEST(OtlpJson, FindsWhatAReceiverDidNotTake) {
    EXPECT_EQ(PartialSuccessOf("{}").rejected, 0U);
    EXPECT_EQ(PartialSuccessOf("").rejected, 0U);
    EXPECT_EQ(PartialSuccessOf(R"({"partialSuccess":{}})").rejected, 0U);
    const auto text =
        PartialSuccessOf(R"({"partialSuccess": {"rejectedSpans": "12", "errorMessage":"late"}})");
    EXPECT_EQ(text.rejected, 12U);
    EXPECT_EQ(text.message, "late");
    EXPECT_EQ(PartialSuccessOf(R"({"partialSuccess":{"rejectedSpans":3}})").rejected, 3U);
    EXPECT_EQ(PartialSuccessOf(R"({"partialSuccess":{"rejectedSpans":-1}})").rejected, 0U);
}

TEST(OtlpJson, GzipMakesItSmall) {
    const std::string text(100'000, 'x');
    const auto packed = Gzip(text);
    ASSERT_TRUE(packed) << packed.error().Describe();
    EXPECT_LT(packed->size(), 1'000U);
    EXPECT_EQ(packed->substr(0, 2), "\x1f\x8b");
}

}  // namespace
}  // namespace ksana::telemetry
