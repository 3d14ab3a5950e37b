#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/json_output.hpp"

// Used inside codec/ only: other modules use definitions.hpp and the other headers of this module.

namespace ksana::codec {

struct JsonLimits {
    std::size_t bytes = 4 << 20;
    std::size_t depth = 64;
};

// Parses strict JSON (RFC 8259) in UTF-8. Also refuses what most parsers accept: a key that is
// repeated in one object, a number that neither a double nor a 64-bit integer can hold, and a
// document beyond the limits. The error names line and column.
Result<boost::json::value> ParseJson(std::string_view text, const JsonLimits& limits = {});

// Returns limits for text that this module wrote: JSON inside a job may be as deep as ParseJson
// allows, and is enclosed in a few levels more.
inline JsonLimits LimitsOfStoredJson(std::string_view text) {
    return {.bytes = text.size(), .depth = JsonLimits{}.depth + 16};
}

// Writes numbers as people do (1.5, not 1.5E0), and members in their order.
void WriteValue(JsonOutput& output, const boost::json::value& value);
std::string WriteJson(const boost::json::value& value, JsonStyle style = JsonStyle::kCompact);

}  // namespace ksana::codec
