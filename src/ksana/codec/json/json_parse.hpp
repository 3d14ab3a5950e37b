#pragma once

#include <boost/json/value.hpp>
#include <limits>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/json_output.hpp"

// Used inside codec/ only: other modules use definitions.hpp and the other headers of this module.

namespace ksana::codec {

// What a parsed document may cost. A value takes tens of bytes in memory, the shortest ones two in
// the text, so that the size of the text alone bounds too little.
struct JsonLimits {
    static constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

    std::size_t bytes = 4 << 20;
    std::size_t depth = 64;
    // The most values of a document: these, and one for each 16 bytes of the text.
    std::size_t values = 200'000;
    // The most members of an object, with the objects that enclose it.
    std::size_t members = 100'000;
};

// Parses strict JSON (RFC 8259) in UTF-8. Also refuses what most parsers accept: a key that is
// repeated in one object, a number that neither a double nor a 64-bit integer can hold, and a
// document beyond the limits. The error names line and column. Takes memory for a small multiple of
// the text beyond that for `limits.values`.
Result<boost::json::value> ParseJson(std::string_view text, const JsonLimits& limits = {});

// Returns limits for text that this module wrote: JSON inside a job may be as deep as ParseJson
// allows, and is enclosed in a few levels more. Any number of values, as a part of a document may
// have more of them than a document of its size.
inline JsonLimits LimitsOfStoredJson(std::string_view text) {
    return {.bytes = text.size(),
            .depth = JsonLimits{}.depth + 16,
            .values = JsonLimits::kAny,
            .members = JsonLimits::kAny};
}

// Writes numbers as people do (1.5, not 1.5E0), and members in their order.
void WriteValue(JsonOutput& output, const boost::json::value& value);
std::string WriteJson(const boost::json::value& value, JsonStyle style = JsonStyle::kCompact);

}  // namespace ksana::codec
