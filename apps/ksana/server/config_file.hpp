#pragma once

#include <string>

#include "ksana/base/error/result.hpp"

namespace ksana::app {

// The text of a file with settings. kNotFound: there is none. The message names the path.
Result<std::string> ReadConfigFile(const std::string& path);

}  // namespace ksana::app
