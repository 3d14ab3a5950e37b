#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::libpq {

// Replaces the schema "ksana." in front of every table by the configured one.
std::string WithSchema(std::string_view sql, std::string_view schema);

// Accepts lower-case letters, digits and _, not a digit first, at most 40: the name becomes part of
// SQL text. Otherwise kInvalidArgument.
Result<void> CheckSchemaName(std::string_view schema);

// Splits a script into its statements, each of which ends with a semicolon at the end of a line. A
// pipeline takes one statement at a time.
std::vector<std::string_view> StatementsOf(std::string_view script);

}  // namespace ksana::libpq
