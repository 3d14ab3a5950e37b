#pragma once

#include <cstdint>
#include <string_view>

namespace ksana::telemetry {

enum class ExpositionFormat : std::uint8_t {
    kPrometheus,   // the Prometheus text format, version 0.0.4
    kOpenMetrics,  // OpenMetrics, version 1.0.0
};

// Returns the format that an Accept header prefers (RFC 9110, 12.5.1): OpenMetrics if it is named
// with a weight above 0 that is not below that of plain text. Anything else, an empty header
// included, gets the Prometheus text, as every scraper reads it.
ExpositionFormat ChooseFormat(std::string_view accept);

// Returns the Content-Type of the text.
std::string_view ContentTypeOf(ExpositionFormat format);

}  // namespace ksana::telemetry
