#pragma once

#include <vector>

#include "ksana/store/job_store.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_kit/runs/run_source.hpp"

namespace ksana::store_kit {

// Writes jobs and returns one outcome per write (JobStore::Write).
Result<std::vector<Result<model::Job>>> WriteJobs(Transaction& tx, TimePoint now,
                                                  const std::vector<store::JobWrite>& writes,
                                                  RunSource& ids);

// JobStore::Delete.
Result<void> DeleteJob(Transaction& tx, TimePoint now, const store::DeleteJobParams& params,
                       RunSource& ids);

}  // namespace ksana::store_kit
