#pragma once

#include <span>
#include <string>

#include "ksana/codec/schema/schema.hpp"
#include "ksana/telemetry/traces/span.hpp"

namespace ksana::insight {

// Returns the spans of a run as GET /api/v1/runs/{id}/spans answers them.
std::string SpansToJson(std::span<const telemetry::Span> spans);

extern const codec::NamedSchema kRunSpansSchema;

}  // namespace ksana::insight
