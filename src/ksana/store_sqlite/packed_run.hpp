#pragma once

#include <string>
#include <string_view>

#include "ksana/base/result.hpp"
#include "ksana/model/run.hpp"

// The fields of a run that no query asks for, as two short blobs instead of twenty columns: SQLite
// takes longer for the columns of a row than for finding it. A blob is a version, a set of bits
// that says which fields are not their default, and these fields in turn. A new field gets the next
// bit.

namespace ksana::store_sqlite {

// selector, unique. Empty when both are their default.
std::string PackFixed(const model::Run& run);
Result<void> UnpackFixed(std::string_view blob, model::Run& run);

// Of RunStatus all that has no column of its own. `out` is replaced.
void PackStatus(const model::RunStatus& status, std::string& out);
Result<void> UnpackStatus(std::string_view blob, model::RunStatus& status);

}  // namespace ksana::store_sqlite
