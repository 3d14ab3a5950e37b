#pragma once

#include <string>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"

// Packs the definition of a job, the part that a user writes, into a short byte string: every fire
// reads its job, and parsing JSON took longer than storing the run. Bookkeeping is not in it.

namespace ksana::store_sqlite {

std::string PackJob(const model::Job& job);
// Unpacks into `job`, which must be new. Also reads the JSON that earlier schemas stored. On
// kDataLoss the contents of `job` are meaningless.
Result<void> UnpackJob(std::string_view packed, model::Job& job);

}  // namespace ksana::store_sqlite
