#pragma once

#include <string_view>

#include "ksana/base/error.hpp"

namespace ksana::store_sqlite {

// What a result code of SQLite means to the rest of Ksana. Only the number decides.
Code CodeOf(int rc);

// "doing: SQLite's text (its number)".
Error SqliteError(int rc, std::string_view doing, std::string_view text);

}  // namespace ksana::store_sqlite
