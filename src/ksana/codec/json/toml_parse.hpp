#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::codec {

// A TOML document as JSON values, so that one reader serves both formats.
struct TomlDocument {
    boost::json::value value;
    // Returns the line of a JSON Pointer, or of its nearest existing parent.
    std::function<int(std::string_view pointer)> line_of;
};

// Parses TOML 1.0. Dates and times become RFC 3339 texts. The error names line and column.
Result<TomlDocument> ParseToml(std::string_view text, std::size_t max_bytes = 4 << 20);

}  // namespace ksana::codec
