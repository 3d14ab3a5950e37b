#pragma once

#include <string>
#include <string_view>

namespace ksana {

// Percent-encodes a text for use as one component of a URL's path or query (RFC 3986): letters,
// digits and -._~ stay, every other byte becomes %XX.
std::string PercentEncode(std::string_view text);

// Returns an object key as a step of a JSON Pointer (RFC 6901): "/a~1b" for "a/b".
std::string PointerStep(std::string_view key);

// The inverse of PointerStep, for a step without its slash: "a/b" for "a~1b".
std::string UnescapePointerStep(std::string_view step);

}  // namespace ksana
