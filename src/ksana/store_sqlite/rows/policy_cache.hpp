#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/shared_mutex.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/store_kit/driver/stored_policy.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {

// Cache of the policies of runs by number. A policy is stored once, and runs refer to its number,
// because there are few policies and very many runs. The cache has only committed policies. Shared
// by all connections of a backend. Thread-safe.
class PolicyCache {
  public:
    // Loads the policies that exist when the database is opened, up to the size of the cache.
    Result<void> Fill(Connection& connection);
    // Returns the policy of this number, from the cache or the database. kDataLoss if it does not
    // exist.
    Result<model::RunPolicy> Load(Connection& connection, std::int64_t id);

  private:
    friend class PolicyWriter;
    void Add(std::int64_t id, const model::RunPolicy& policy);

    SharedMutex mutex_;
    std::unordered_map<std::int64_t, model::RunPolicy> by_id_ KSANA_GUARDED_BY(mutex_);
};

// Finds the number of a policy, or stores the policy and gives it a number. Part of the
// WriteSession; only the writer thread calls it.
class PolicyWriter {
  public:
    Result<std::int64_t> IdOf(Connection& connection, const model::RunPolicy& policy);
    // Call after each commit or rollback. A rollback forgets the numbers given since the last of
    // these calls, because SQLite will give them again.
    void Committed(PolicyCache& cache);
    void RolledBack();

  private:
    std::unordered_map<model::RunPolicy, std::int64_t, store_kit::PolicyHash> ids_;
    // Numbers given in the current transaction.
    std::vector<std::pair<std::int64_t, model::RunPolicy>> fresh_;
};

}  // namespace ksana::store_sqlite
