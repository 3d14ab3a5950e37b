#pragma once

#include <string>
#include <string_view>

namespace ksana {

// A key of an object as a step of a JSON Pointer (RFC 6901): "/a~1b" for "a/b".
std::string PointerStep(std::string_view key);

}  // namespace ksana
