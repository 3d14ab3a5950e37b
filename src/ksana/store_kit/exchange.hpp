#pragma once

#include "ksana/base/uuid.hpp"
#include "ksana/store/run_store.hpp"
#include "ksana/store_kit/run_changes.hpp"
#include "ksana/store_kit/transaction.hpp"

namespace ksana::store_kit {

// Reports, each on what the one before it left.
Result<std::vector<store::Applied>> ApplyEvents(Transaction& tx, RunChanges& changes,
                                                const std::vector<store::RunEvent>& events);

Result<store::Claimed> ClaimRuns(Transaction& tx, RunChanges& changes,
                                 const store::ClaimParams& params, UuidGenerator& ids);

// One after the other; one with the filter of the claim before it only where that one was filled.
Result<std::vector<store::Claimed>> ClaimMore(Transaction& tx, RunChanges& changes,
                                              const std::vector<store::ClaimParams>& claims,
                                              UuidGenerator& ids);

// Ends attempts without a live owner, and lets go of runs that wait for nobody.
Result<store::Reaped> ReapRuns(Transaction& tx, RunChanges& changes,
                               const store::ReapParams& params);

}  // namespace ksana::store_kit
