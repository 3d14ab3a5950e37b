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

// Policies of runs, each stored once. Runs have a number instead, as there are few of them and
// very many runs. What is in here is committed; it is shared by all connections. Thread-safe.
class PolicyCache {
  public:
    // Reads what was there when the database was opened.
    Result<void> Fill(Connection& connection);
    // What the row of this number says.
    Result<model::RunPolicy> Load(Connection& connection, std::int64_t id);

  private:
    friend class PolicyWriter;
    void Add(std::int64_t id, const model::RunPolicy& policy);

    SharedMutex mutex_;
    std::unordered_map<std::int64_t, model::RunPolicy> by_id_ KSANA_GUARDED_BY(mutex_);
};

// Finds the number of a policy or gives it one. Of the writer thread.
class PolicyWriter {
  public:
    Result<std::int64_t> IdOf(Connection& connection, const model::RunPolicy& policy);
    // The numbers given since the last of these two are forgotten with a rollback: SQLite will
    // give them again.
    void Committed(PolicyCache& cache);
    void RolledBack();

  private:
    std::unordered_map<model::RunPolicy, std::int64_t, store_kit::PolicyHash> ids_;
    std::vector<std::pair<std::int64_t, model::RunPolicy>> fresh_;
};

}  // namespace ksana::store_sqlite
