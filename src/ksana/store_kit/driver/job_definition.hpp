#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::store_kit {

// The part of a job that a user writes, as the text that SQL drivers keep in one column: every byte
// comes back as it was (JSON inside a job keeps its spelling). Bookkeeping is not in it.
std::string DefinitionText(const model::Job& job);
// kDataLoss when it cannot be read.
Result<model::Job> DefinitionFromText(std::string_view text);

}  // namespace ksana::store_kit
