#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/text/json_output.hpp"

// Text to values of Boost.JSON and back. Inside codec/ only: other modules see the functions of
// definitions.hpp and its neighbours.

namespace ksana::codec {

struct JsonLimits {
    std::size_t bytes = 4 << 20;
    std::size_t depth = 64;
};

// Strict JSON (RFC 8259) in UTF-8, with two things refused that most readers let pass: a key that
// stands twice in one object, and a document beyond the limits. The error names line and column.
Result<boost::json::value> ParseJson(std::string_view text, const JsonLimits& limits = {});

// Of what we have written ourselves: JSON inside a job may be as deep as ParseJson lets it, and a
// few levels of ours are around it.
inline JsonLimits LimitsOfOurs(std::string_view text) {
    return {.bytes = text.size(), .depth = JsonLimits{}.depth + 16};
}

// Writes numbers as people do (1.5, not 1.5E0), and members in their order.
void WriteValue(JsonOutput& output, const boost::json::value& value);
std::string WriteJson(const boost::json::value& value, JsonStyle style = JsonStyle::kCompact);

}  // namespace ksana::codec
