#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/telemetry/traces/span.hpp"

namespace ksana::telemetry {

// What all spans of a process have in common.
struct TraceResource {
    std::vector<SpanAttribute> attributes;
    std::string scope_version;
};

// Returns an ExportTraceServiceRequest in the JSON of OTLP: camelCase names, ids in hex, enums as
// numbers, 64-bit numbers as texts. Spans that are not over are left out.
std::string OtlpJson(const TraceResource& resource, std::span<const Span> spans);

// What an answer with 200 says about spans that the receiver did not take.
struct PartialSuccess {
    std::uint64_t rejected = 0;
    std::string message;
};

// Finds partialSuccess in an answer. Anything that is not understood counts as a full success. The
// text is not read as JSON: this module has no library for it, and only two members matter.
PartialSuccess PartialSuccessOf(std::string_view answer);

}  // namespace ksana::telemetry
