#pragma once

#include <string>
#include <string_view>

namespace ksana {

// Returns whether the text is well-formed UTF-8 (no overlong forms, no surrogates, nothing above
// U+10FFFF).
bool IsUtf8(std::string_view text);

// Makes a text safe to print on one line of a terminal or a log: control characters (newlines and
// escape sequences among them) and malformed UTF-8 are escaped as \n, \x1b and so on.
std::string Printable(std::string_view text);

// Returns the longest prefix of at most `max_bytes` that ends between characters.
std::string_view CutText(std::string_view text, std::size_t max_bytes);

// Returns at most `max_bytes` of a text as Printable, with "..." appended if it was cut. For error
// messages.
std::string Excerpt(std::string_view text, std::size_t max_bytes);

}  // namespace ksana
