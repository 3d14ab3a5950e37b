#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::store_kit {

// Returns the part of a job that a user writes, without bookkeeping, as text that SQL drivers keep
// in one column. Reading it returns every byte unchanged (JSON inside a job keeps its spelling).
std::string DefinitionText(const model::Job& job);
// Returns kDataLoss if the text cannot be read.
Result<model::Job> DefinitionFromText(std::string_view text);

}  // namespace ksana::store_kit
