#include "ksana/insight/spans/spans_json.hpp"

#include <array>

#include "ksana/base/text/json_output.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::insight {
namespace {

using codec::NamedSchema;
using codec::ObjectSchema;
using codec::Schema;
using telemetry::Span;

constexpr std::array<std::string_view, 5> kKinds = {"internal", "server", "client", "producer",
                                                    "consumer"};
constexpr std::array<std::string_view, 3> kStatuses = {"unset", "ok", "error"};

struct ValueWriter {
    void operator()(const std::string& text) const { output.Text(text); }
    void operator()(std::int64_t number) const { output.Int(number); }
    void operator()(double number) const { output.Double(number); }
    void operator()(bool flag) const { output.Bool(flag); }
    JsonOutput& output;
};

void WriteAttributes(JsonOutput& output, const Span& span) {
    output.Key("attributes");
    output.BeginObject();
    for (const telemetry::SpanAttribute& attribute : span.attributes) {
        output.Key(attribute.key);
        std::visit(ValueWriter{output}, attribute.value);
    }
    output.EndObject();
}

void WriteEvents(JsonOutput& output, const Span& span) {
    output.Key("events");
    output.BeginArray();
    for (const telemetry::SpanEvent& event : span.events) {
        output.BeginObject();
        output.TextMember("name", event.name);
        output.TextMember("at", FormatTime(event.at));
        output.EndObject();
    }
    output.EndArray();
}

void WriteLinks(JsonOutput& output, const Span& span) {
    output.Key("links");
    output.BeginArray();
    for (const telemetry::SpanLink& link : span.links) {
        output.BeginObject();
        output.TextMember("trace_id", link.trace_id);
        output.TextMember("span_id", model::SpanIdText(link.span_id));
        output.EndObject();
    }
    output.EndArray();
}

void WriteSpan(JsonOutput& output, const Span& span) {
    output.BeginObject();
    output.TextMember("span_id", model::SpanIdText(span.id));
    if (span.parent != 0) output.TextMember("parent_id", model::SpanIdText(span.parent));
    output.TextMember("name", span.name);
    output.TextMember("kind", kKinds.at(static_cast<std::size_t>(span.kind) - 1));
    output.TextMember("start", FormatTime(span.start));
    if (span.end) output.TextMember("end", FormatTime(*span.end));
    output.TextMember("status", kStatuses.at(static_cast<std::size_t>(span.status)));
    if (!span.error.empty()) output.TextMember("error", span.error);
    WriteAttributes(output, span);
    WriteEvents(output, span);
    WriteLinks(output, span);
    output.EndObject();
}

Schema SpanId() { return Schema::Text().Means("16 hex digits."); }

Schema MakeSpan() {
    const Schema event = ObjectSchema("A step within a span.")
                             .Need("name", Schema::Text().Means("What happened."))
                             .Need("at", Schema::Time().Means("When."));
    const Schema link = ObjectSchema("A span of another cause.")
                            .Need("trace_id", Schema::Text().Means("32 hex digits."))
                            .Need("span_id", SpanId());
    return ObjectSchema("A part of what happened to a run.")
        .Need("span_id", SpanId())
        .May("parent_id", Schema::Text().Means(
                              "The span that it is a part of; of the root: that of the submitter."))
        .Need("name", Schema::Text().Means("What was done."))
        .Need("kind", Schema::OneOf(kKinds).Means("Its role, as OpenTelemetry names it."))
        .Need("start", Schema::Time().Means("When it began."))
        .May("end", Schema::Time().Means("Absent: it is not over."))
        .Need("status", Schema::OneOf(kStatuses).Means("How it ended."))
        .May("error", Schema::Text().Means("Why it failed."))
        .Need("attributes", Schema().Means("Facts about it: texts, numbers and flags."))
        .Need("events", Schema::ListOf(event).Means("Its steps, in order."))
        .Need("links", Schema::ListOf(link).Means(
                           "What it followed: the attempt before, or the runs that released it."));
}

constexpr NamedSchema kSpanSchema{"Span", &MakeSpan};

Schema MakeRunSpans() {
    return ObjectSchema("The trace of a run, as far as the run's record has it.")
        .Need("trace_id", Schema::Text().Means("32 hex digits."))
        .Need("spans", Schema::ListOf(Schema::Ref(kSpanSchema))
                           .Means("The root, its parts in order, and its callbacks."));
}

}  // namespace

const NamedSchema kRunSpansSchema{"RunSpans", &MakeRunSpans};

std::string SpansToJson(std::span<const Span> spans) {
    JsonOutput output;
    output.BeginObject();
    output.TextMember("trace_id", spans.empty() ? std::string() : spans.front().trace_id);
    output.Key("spans");
    output.BeginArray();
    for (const Span& span : spans) WriteSpan(output, span);
    output.EndArray();
    output.EndObject();
    return output.Take();
}

}  // namespace ksana::insight
