#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::codec {

// A TOML document as JSON, so that one reader serves both.
struct TomlDocument {
    boost::json::value value;
    // The line of a JSON Pointer, or of the nearest part above it that is there.
    std::function<int(std::string_view pointer)> line_of;
};

// TOML 1.0. Dates and times become RFC 3339 text. The error names the line and column.
Result<TomlDocument> ParseToml(std::string_view text, std::size_t max_bytes = 4 << 20);

}  // namespace ksana::codec
