#pragma once

#include <vector>

#include "ksana/store/job_store.hpp"
#include "ksana/store_kit/driver/transaction.hpp"

namespace ksana::store_kit {

// Writes jobs and returns one outcome per write (JobStore::Write).
Result<std::vector<Result<model::Job>>> WriteJobs(Transaction& tx, TimePoint now,
                                                  const std::vector<store::JobWrite>& writes,
                                                  UuidGenerator& ids);

// JobStore::Delete.
Result<void> DeleteJob(Transaction& tx, TimePoint now, const store::DeleteJobParams& params,
                       UuidGenerator& ids);

}  // namespace ksana::store_kit
