#pragma once

#include <string>
#include <string_view>

namespace ksana {

// Well-formed UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool IsUtf8(std::string_view text);

// A text that is safe to print on one line of a terminal or a log: control characters (newlines
// and escape sequences among them) and bytes that are no UTF-8 come out as \n, \x1b and so on.
std::string Printable(std::string_view text);

// The beginning of a text, at most `max_bytes` of it, cut between characters.
std::string_view CutText(std::string_view text, std::size_t max_bytes);

// At most `max_bytes` of a text for an error message, cut between characters and marked by "...".
std::string Excerpt(std::string_view text, std::size_t max_bytes);

}  // namespace ksana
