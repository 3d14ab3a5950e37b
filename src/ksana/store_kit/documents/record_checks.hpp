#pragma once

#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/model/record.hpp"
#include "ksana/store_kit/documents/text_checks.hpp"

namespace ksana::store_kit {

// A record that is added as it is may come from a file that somebody has edited: what no store
// could have made is found here. Adds problems that name the record and the field.
void CheckRecord(const model::Record& record, const Path& path, std::vector<Problem>& problems);

}  // namespace ksana::store_kit
