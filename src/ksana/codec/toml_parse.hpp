#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <string_view>

#include "ksana/base/result.hpp"

namespace ksana::codec {

// A TOML document as JSON, so that one reader serves both, and where each part of it stands.
struct TomlDocument {
    boost::json::value value;
    std::map<std::string, int> lines;  // JSON Pointer → line
};

// TOML 1.0. Dates and times become RFC 3339 text. The error names the line and column.
Result<TomlDocument> ParseToml(std::string_view text, std::size_t max_bytes = 4 << 20);

}  // namespace ksana::codec
