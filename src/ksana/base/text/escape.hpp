#pragma once

#include <string>
#include <string_view>

namespace ksana {

// A text as one part of a URL (RFC 3986): letters, digits and -._~ stay, every other byte becomes
// %XX, so that it can stand in a path or a query and means nothing but itself.
std::string PercentEncode(std::string_view text);

// A key of an object as a step of a JSON Pointer (RFC 6901): "/a~1b" for "a/b".
std::string PointerStep(std::string_view key);

// The other way round, of a step without its slash: "a/b" for "a~1b".
std::string KeyOfStep(std::string_view step);

}  // namespace ksana
