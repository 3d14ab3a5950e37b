#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"

// What a user wrote of a job, as a short text of bytes: a fire reads its job, and reading JSON took
// longer than storing the run. Bookkeeping is not in it.

namespace ksana::store_sqlite {

std::string PackJob(const model::Job& job);
// Into a new job. Reads the JSON of earlier schemas, too. kDataLoss when it cannot be read: then
// what is in the job means nothing.
Result<void> UnpackJob(std::string_view packed, model::Job& job);

}  // namespace ksana::store_sqlite
