#pragma once

#include <cstdint>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/result.hpp"
#include "ksana/model/policy.hpp"
#include "ksana/store_postgres/connection_pool.hpp"

namespace ksana::store_postgres {

// The policies of runs, each stored once and known by its number: thousands of runs share a few.
// They are written in a transaction of their own before a run names them, and never deleted, so
// that what was read once holds. Uses a connection beside the pool: whoever asks has one of the
// pool already. Thread-safe.
class PolicyBook {
  public:
    explicit PolicyBook(const ConnectionPool& pool) : pool_(pool) {}

    Result<std::int32_t> IdOf(const model::RunPolicy& policy, const Deadline& deadline);
    // One for each number, in order.
    Result<std::vector<model::RunPolicy>> Find(const std::vector<std::int32_t>& ids,
                                               const Deadline& deadline);

  private:
    struct Hash {
        std::size_t operator()(const model::RunPolicy& policy) const;
    };

    Result<std::int32_t> Store(const model::RunPolicy& policy, const Deadline& deadline);
    Result<void> Load(const std::vector<std::int32_t>& ids, const Deadline& deadline);
    void Remember(std::int32_t id, const model::RunPolicy& policy);

    const ConnectionPool& pool_;
    std::shared_mutex mutex_;
    std::unordered_map<model::RunPolicy, std::int32_t, Hash> ids_;  // guarded by mutex_
    std::unordered_map<std::int32_t, model::RunPolicy> policies_;   // guarded by mutex_
};

}  // namespace ksana::store_postgres
