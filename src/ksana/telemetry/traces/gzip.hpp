#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"

namespace ksana::telemetry {

// Returns the text as a gzip file, made fast rather than small. zlib is loaded by the first call;
// kUnimplemented: it is missing. Thread-safe.
Result<std::string> Gzip(std::string_view text);

}  // namespace ksana::telemetry
