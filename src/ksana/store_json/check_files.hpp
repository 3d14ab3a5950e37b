#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::store_json {

// Looks for damage in both files and changes nothing. Returns the faults. Fails with kNotFound if
// there is neither, kUnavailable if one cannot be read. While a server writes the log, a
// transaction that it has not finished is no fault.
Result<std::vector<std::string>> CheckJsonFiles(const std::string& path);

}  // namespace ksana::store_json
