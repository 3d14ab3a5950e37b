#pragma once

#include <string>

#include "ksana/base/error/result.hpp"

namespace ksana::app {

// Reads a settings file. kNotFound if it does not exist. The message names the path.
Result<std::string> ReadConfigFile(const std::string& path);

}  // namespace ksana::app
