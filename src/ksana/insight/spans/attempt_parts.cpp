#include "ksana/insight/spans/attempt_parts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ksana/base/text/http_method.hpp"
#include "ksana/codec/json/json_tree.hpp"
#include "ksana/codec/v1/callback_codec.hpp"

namespace ksana::insight {
namespace {

using codec::Json;
using telemetry::Span;

// A detail is at most a stored payload; its log is not needed here.
constexpr std::size_t kMaxDetail = std::size_t{2} << 20;

struct Target {
    std::string method;
    std::string host;  // "example.com:8080"
};

// Returns the host of a URL. It may hold placeholders, and is cut like any name.
std::string HostOf(std::string_view url) {
    constexpr std::size_t kMost = 128;
    const std::size_t scheme = url.find("://");
    if (scheme == std::string_view::npos) return {};
    url.remove_prefix(scheme + 3);
    return std::string(url.substr(0, std::min(url.find_first_of("/?#"), kMost)));
}

Target TargetOf(const model::Run& run, const model::Job* job) {
    if (run.trigger == model::RunTrigger::kCallback) {
        const auto order = codec::CallbackOrderFromJson(run.payload);
        if (!order) return {};
        return {std::string(NameOf(MethodOf(order->method))), HostOf(order->url)};
    }
    const auto* http = job == nullptr ? nullptr : std::get_if<model::HttpAction>(&job->action);
    if (http == nullptr) return {};
    return {std::string(NameOf(http->method)), HostOf(http->url)};
}

Duration Milliseconds(const Json& detail, std::string_view pointer) {
    constexpr double kMicros = 1'000;
    const double value = detail.At(pointer).Number().value_or(0);
    return Duration(static_cast<std::int64_t>(value * kMicros));
}

void AddText(Span& span, std::string_view key, std::string text) {
    if (!text.empty()) span.attributes.push_back({std::string(key), std::move(text)});
}

void AddNumber(Span& span, std::string_view key, const std::optional<std::int64_t>& number) {
    if (number) span.attributes.push_back({std::string(key), *number});
}

// The steps are counted from the start of the last hop: the end of the call less its time.
void AddSteps(Span& span, const Json& detail) {
    using Step = std::pair<std::string_view, std::string_view>;
    static constexpr std::array kSteps = {
        Step{"/timings/dns_ms", "name looked up"}, Step{"/timings/connect_ms", "connected"},
        Step{"/timings/tls_ms", "TLS established"}, Step{"/timings/first_byte_ms", "first byte"}};
    for (const auto& [pointer, name] : kSteps) {
        const Duration after = Milliseconds(detail, pointer);
        if (after > Duration::zero()) {
            span.events.push_back({std::string(name), span.start + after});
        }
    }
}

Span HttpSpan(const model::Run& run, const model::Attempt& attempt, const model::Job* job,
              const Json& detail) {
    const Target target = TargetOf(run, job);
    Span span;
    span.kind = telemetry::SpanKind::kClient;
    span.name = "HTTP";
    if (!target.method.empty()) span.name += " " + target.method;
    if (!target.host.empty()) span.name += " " + target.host;
    span.start = attempt.started_at;
    span.end = attempt.ended_at;
    if (span.end && detail.Has("/timings/total_ms")) {
        const Duration took = Milliseconds(detail, "/timings/total_ms");
        span.end = std::clamp(span.start + took, span.start, std::max(span.start, *span.end));
    }
    AddText(span, "http.request.method", target.method);
    AddText(span, "server.address", target.host);
    AddText(span, "network.peer.address", detail.TextAt("/remote"));
    AddNumber(span, "http.response.status_code", detail.At("/status").Int());
    AddText(span, "error.type", detail.TextAt("/error_kind"));
    AddSteps(span, detail);
    return span;
}

Span PlainSpan(std::string name, const model::Attempt& attempt) {
    Span span;
    span.name = std::move(name);
    span.start = attempt.started_at;
    span.end = attempt.ended_at;
    return span;
}

Span CommandSpan(const model::Attempt& attempt, const Json& detail) {
    Span span = PlainSpan("command", attempt);
    AddNumber(span, "process.exit.code", detail.At("/exit_code").Int());
    AddText(span, "ksana.signal", detail.TextAt("/signal"));
    AddNumber(span, "ksana.cpu_ms", detail.At("/cpu_ms").Int());
    AddNumber(span, "ksana.memory_bytes", detail.At("/memory_bytes").Int());
    return span;
}

}  // namespace

std::optional<Span> PartOfAttempt(const model::Run& run, const model::Attempt& attempt,
                                  const model::Job* job) {
    if (run.kind == model::ActionKind::kQueue) return std::nullopt;
    if (run.kind == model::ActionKind::kHandler) {
        return PlainSpan(run.type.empty() ? "handler" : "handler " + run.type, attempt);
    }
    const auto parsed = Json::Parse(attempt.detail.empty() ? "{}" : attempt.detail, kMaxDetail);
    const Json detail = parsed ? *parsed : Json();
    if (run.kind == model::ActionKind::kCommand) return CommandSpan(attempt, detail);
    return HttpSpan(run, attempt, job, detail);
}

}  // namespace ksana::insight
