#include "ksana/telemetry/traces/otlp_json.hpp"

#include <charconv>

#include "ksana/base/text/json_output.hpp"

namespace ksana::telemetry {
namespace {

std::string HexOf(std::uint64_t id) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text(16, '0');
    for (std::size_t i = text.size(); i-- > 0; id >>= 4U) text[i] = kDigits[id & 15U];
    return text;
}

void WriteTime(JsonOutput& output, std::string_view key, TimePoint time) {
    constexpr std::string_view kNanos = "000";
    output.TextMember(key, std::to_string(time.time_since_epoch().count()).append(kNanos));
}

struct ValueWriter {
    void operator()(const std::string& text) const { output.TextMember("stringValue", text); }
    void operator()(std::int64_t number) const {
        output.TextMember("intValue", std::to_string(number));
    }
    void operator()(double number) const {
        output.Key("doubleValue");
        output.Double(number);
    }
    void operator()(bool flag) const {
        output.Key("boolValue");
        output.Bool(flag);
    }
    JsonOutput& output;
};

void WriteAttributes(JsonOutput& output, std::span<const SpanAttribute> attributes) {
    if (attributes.empty()) return;
    output.Key("attributes");
    output.BeginArray();
    for (const SpanAttribute& attribute : attributes) {
        output.BeginObject();
        output.TextMember("key", attribute.key);
        output.Key("value");
        output.BeginObject();
        std::visit(ValueWriter{output}, attribute.value);
        output.EndObject();
        output.EndObject();
    }
    output.EndArray();
}

void WriteEvents(JsonOutput& output, std::span<const SpanEvent> events) {
    if (events.empty()) return;
    output.Key("events");
    output.BeginArray();
    for (const SpanEvent& event : events) {
        output.BeginObject();
        WriteTime(output, "timeUnixNano", event.at);
        output.TextMember("name", event.name);
        output.EndObject();
    }
    output.EndArray();
}

void WriteLinks(JsonOutput& output, std::span<const SpanLink> links) {
    if (links.empty()) return;
    output.Key("links");
    output.BeginArray();
    for (const SpanLink& link : links) {
        output.BeginObject();
        output.TextMember("traceId", link.trace_id);
        output.TextMember("spanId", HexOf(link.span_id));
        output.EndObject();
    }
    output.EndArray();
}

void WriteStatus(JsonOutput& output, const Span& span) {
    if (span.status == SpanStatus::kUnset) return;
    output.Key("status");
    output.BeginObject();
    if (!span.error.empty()) output.TextMember("message", span.error);
    output.Key("code");
    output.Int(static_cast<std::int64_t>(span.status));
    output.EndObject();
}

void WriteSpan(JsonOutput& output, const Span& span) {
    output.BeginObject();
    output.TextMember("traceId", span.trace_id);
    output.TextMember("spanId", HexOf(span.id));
    if (span.parent != 0) output.TextMember("parentSpanId", HexOf(span.parent));
    output.TextMember("name", span.name);
    output.Key("kind");
    output.Int(static_cast<std::int64_t>(span.kind));
    WriteTime(output, "startTimeUnixNano", span.start);
    WriteTime(output, "endTimeUnixNano", *span.end);
    WriteAttributes(output, span.attributes);
    WriteEvents(output, span.events);
    WriteLinks(output, span.links);
    WriteStatus(output, span);
    output.EndObject();
}

// Returns what follows `"name":` and blanks; empty if there is no such member.
std::string_view AfterMember(std::string_view text, std::string_view name) {
    const std::size_t at = text.find(std::string("\"").append(name).append("\""));
    if (at == std::string_view::npos) return {};
    const std::size_t value = text.find_first_not_of(" \t\r\n:", at + name.size() + 2);
    return value == std::string_view::npos ? std::string_view() : text.substr(value);
}

}  // namespace

std::string OtlpJson(const TraceResource& resource, std::span<const Span> spans) {
    JsonOutput output;
    output.BeginObject();
    output.Key("resourceSpans");
    output.BeginArray();
    output.BeginObject();
    output.Key("resource");
    output.BeginObject();
    WriteAttributes(output, resource.attributes);
    output.EndObject();
    output.Key("scopeSpans");
    output.BeginArray();
    output.BeginObject();
    output.Key("scope");
    output.BeginObject();
    output.TextMember("name", "ksana");
    output.TextMember("version", resource.scope_version);
    output.EndObject();
    output.Key("spans");
    output.BeginArray();
    for (const Span& span : spans) {
        if (span.end) WriteSpan(output, span);
    }
    output.EndArray();
    output.EndObject();
    output.EndArray();
    output.EndObject();
    output.EndArray();
    output.EndObject();
    return output.Take();
}

PartialSuccess PartialSuccessOf(std::string_view answer) {
    PartialSuccess partial;
    std::string_view inside = AfterMember(answer, "partialSuccess");
    if (inside.empty()) return partial;
    std::string_view count = AfterMember(inside, "rejectedSpans");
    if (count.starts_with('"')) count.remove_prefix(1);  // 64-bit numbers may be texts
    std::from_chars(count.data(), count.data() + count.size(), partial.rejected);
    std::string_view message = AfterMember(inside, "errorMessage");
    if (message.starts_with('"')) {
        message.remove_prefix(1);
        partial.message = message.substr(0, message.find('"'));
    }
    return partial;
}

}  // namespace ksana::telemetry
