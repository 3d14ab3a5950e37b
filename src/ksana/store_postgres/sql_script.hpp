#pragma once

#include <string_view>
#include <vector>

namespace ksana::store_postgres {

// The statements of a script, each of which ends with a semicolon at the end of a line: a pipeline
// takes one at a time.
std::vector<std::string_view> StatementsOf(std::string_view script);

}  // namespace ksana::store_postgres
