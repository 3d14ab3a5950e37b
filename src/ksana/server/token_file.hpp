#pragma once

#include <string>

#include "ksana/base/result.hpp"

namespace ksana::server {

// The token that callers must show: the first line of the file. Too short ones are refused.
Result<std::string> ReadTokenFile(const std::string& path);

}  // namespace ksana::server
