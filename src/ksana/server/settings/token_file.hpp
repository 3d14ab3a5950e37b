#pragma once

#include <string>

#include "ksana/base/error/result.hpp"

namespace ksana::server {

// The token that callers must show: the first line of the file. Too short ones are refused.
Result<std::string> ReadTokenFile(const std::string& path);

// A password: the first line of the file, which must not be empty.
Result<std::string> ReadSecretFile(const std::string& path);

}  // namespace ksana::server
