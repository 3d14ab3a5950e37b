#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/shared_mutex.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/store_kit/driver/stored_policy.hpp"
#include "ksana/store_postgres/wire/session.hpp"

namespace ksana::store_postgres {

// Stores the policies of runs, each once and with a number, and caches them: thousands of runs
// share a few policies. A policy is committed before a run refers to it and is never changed or
// deleted, so every visible run has its policy, and a cached entry stays valid. Owned by
// PostgresBackend. Thread-safe.
class PolicyCache {
  public:
    using Policies = std::unordered_set<model::RunPolicy, store_kit::PolicyHash>;

    // Returns the number of the policy, or none if it is not cached: Store it before a run refers
    // to it.
    std::optional<std::int32_t> IdOf(const model::RunPolicy& policy) const;
    // Stores the policies that are missing in the database, commits the session, which must be new,
    // and caches all of them.
    Result<void> Store(const Policies& policies, Session& session);
    // Returns the policy of each number, in order. Reads the uncached ones in this session;
    // kDataLoss if one does not exist.
    Result<std::vector<model::RunPolicy>> Find(const std::vector<std::int32_t>& ids,
                                               Session& session);

  private:
    using ById = std::unordered_map<std::int32_t, model::RunPolicy>;

    Result<void> Load(const std::vector<std::int32_t>& ids, Session& session);
    void Remember(const ById& policies);

    mutable SharedMutex mutex_;
    std::unordered_map<model::RunPolicy, std::int32_t, store_kit::PolicyHash> ids_
        KSANA_GUARDED_BY(mutex_);
    ById policies_ KSANA_GUARDED_BY(mutex_);
};

// Error of a transaction that has to run again after its policies are stored. A caller sees it only
// if the cache evicts these policies again and again.
inline Error UnknownPolicies() {
    return {Code::kUnavailable, "PostgreSQL: too many policies at once"};
}

}  // namespace ksana::store_postgres
