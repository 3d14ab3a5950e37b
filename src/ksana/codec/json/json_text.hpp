#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

// JSON as text, for modules that inspect it without holding values.

namespace ksana::codec {

// Returns whether ParseJson accepts the text.
bool IsJson(std::string_view text);

// Returns `text`, which must be UTF-8, as a JSON string with quotes.
std::string QuoteJson(std::string_view text);

// A member of an object, as JSON and as text.
struct JsonMember {
    std::string name;
    std::string json;  // as JSON, without blanks
    std::string text;  // content of a string; empty for null; else as `json`
};

// Returns the members of an object. Fails if the text is not JSON or not an object.
Result<std::vector<JsonMember>> JsonMembers(std::string_view object);

// Replaces NUL by U+FFFD. Messages of programs (an error, a note, a line of log) may contain NUL,
// which no store keeps, and are not worth refusing a report for. If the replacement makes the text
// longer than `most` bytes, it is cut. A text without NUL is returned unchanged, whatever its
// length.
std::string WithoutNul(std::string text, std::size_t most);

}  // namespace ksana::codec
