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

// The policies of runs, each stored once and known by its number: thousands of runs share a few.
// They are committed before a run names them, and never deleted: who sees a run finds its policy,
// and what was read once holds. Thread-safe.
class PolicyCache {
  public:
    using Policies = std::unordered_set<model::RunPolicy, store_kit::PolicyHash>;

    // None: unknown here. It has to be stored before a run can name it.
    std::optional<std::int32_t> IdOf(const model::RunPolicy& policy) const;
    // Stores those that are not there, and commits the session, which must be a new one.
    Result<void> Store(const Policies& policies, Session& session);
    // One for each number, in order; what is not known is read in this session.
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

// Of a transaction that is to be run again when its policies are stored; a caller sees it only if
// these are pushed out of memory again and again.
inline Error UnknownPolicies() {
    return {Code::kUnavailable, "PostgreSQL: too many policies at once"};
}

}  // namespace ksana::store_postgres
