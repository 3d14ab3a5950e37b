#pragma once

#include <string>
#include <string_view>

#include "ksana/base/result.hpp"

namespace ksana::store_postgres {

// Statements are written with the schema "ksana." in front of every table; this puts the one in
// use there.
std::string WithSchema(std::string_view sql, std::string_view schema);

// Lower-case letters, digits and _, not a digit first, at most 40: it goes into the text of SQL.
Result<void> CheckSchemaName(std::string_view schema);

}  // namespace ksana::store_postgres
