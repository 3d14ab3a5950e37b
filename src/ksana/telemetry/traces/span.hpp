#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ksana/base/time/time.hpp"

namespace ksana::telemetry {

// The parts of an OpenTelemetry span, with the numbers that OTLP gives the enumerators.

enum class SpanKind : std::uint8_t { kInternal = 1, kServer, kClient, kProducer, kConsumer };
enum class SpanStatus : std::uint8_t { kUnset, kOk, kError };

struct SpanAttribute {
    std::string key;
    std::variant<std::string, std::int64_t, double, bool> value;
    friend bool operator==(const SpanAttribute&, const SpanAttribute&) = default;
};

struct SpanEvent {
    std::string name;
    TimePoint at{};
    friend bool operator==(const SpanEvent&, const SpanEvent&) = default;
};

struct SpanLink {
    std::string trace_id;
    std::uint64_t span_id = 0;
    friend bool operator==(const SpanLink&, const SpanLink&) = default;
};

struct Span {
    std::string trace_id;  // 32 hex digits
    std::uint64_t id = 0;
    std::uint64_t parent = 0;  // 0: none
    std::string name;
    SpanKind kind = SpanKind::kInternal;
    TimePoint start{};
    std::optional<TimePoint> end;  // none: not over, and not exported
    SpanStatus status = SpanStatus::kUnset;
    std::string error;
    std::vector<SpanAttribute> attributes;
    std::vector<SpanEvent> events;
    std::vector<SpanLink> links;
    friend bool operator==(const Span&, const Span&) = default;
};

}  // namespace ksana::telemetry
