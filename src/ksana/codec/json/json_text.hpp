#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

// JSON as text, for modules that look into it without holding values.

namespace ksana::codec {

// One document that ParseJson accepts.
bool IsJson(std::string_view text);

// A JSON string with its quotes. The text must be UTF-8.
std::string QuoteJson(std::string_view text);

// A member of an object, in two forms.
struct JsonMember {
    std::string name;
    std::string json;  // as JSON, without blanks
    std::string text;  // what a string holds; nothing for null; else the same as `json`
};

// Fails for what is not JSON or not an object.
Result<std::vector<JsonMember>> JsonMembers(std::string_view object);

// What programs say about their work (an error, a note, a line of log) may hold anything, and no
// store keeps a NUL. Such a text is not worth refusing a report for: U+FFFD takes the NUL's place,
// and what is then longer than `most` bytes is cut. Shorter texts are never cut.
std::string WithoutNul(std::string text, std::size_t most);

}  // namespace ksana::codec
