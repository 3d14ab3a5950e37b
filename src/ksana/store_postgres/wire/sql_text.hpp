#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"

namespace ksana::store_postgres {

// Statements are written with the schema "ksana." in front of every table; this puts the one in
// use there.
std::string WithSchema(std::string_view sql, std::string_view schema);

// Lower-case letters, digits and _, not a digit first, at most 40: it goes into the text of SQL.
Result<void> CheckSchemaName(std::string_view schema);

// The statements of a script, each of which ends with a semicolon at the end of a line: a pipeline
// takes one at a time.
std::vector<std::string_view> StatementsOf(std::string_view script);

}  // namespace ksana::store_postgres
