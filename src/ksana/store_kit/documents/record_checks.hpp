#pragma once

#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/model/record.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"

namespace ksana::store_kit {

// Checks a record that is imported as it is, perhaps from a file that a user has edited. Adds a
// problem for everything that no store could have made; it names the record and the field.
void CheckRecord(const model::Record& record, const Path& path, std::vector<Problem>& problems);

}  // namespace ksana::store_kit
