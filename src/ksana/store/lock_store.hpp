#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/document.hpp"
#include "ksana/store/page.hpp"

namespace ksana::store {

struct LockParams {
    std::string name;
    std::string owner;
    Duration ttl = std::chrono::seconds(30);
    std::optional<TimePoint> now;
    // TryAcquire is refused unless the stamp is larger than the one stored in the row, and stores
    // it; none: stamps do not matter.
    std::optional<std::int64_t> stamp;
};

struct LockAnswer {
    bool granted = false;
    model::Lock lock;  // the row after the call; if refused, that of its holder or of the stamp
};

// Named locks with a time to live, stored as rows (G-06). A lock is free once its time has passed.
// The fence grows with every acquisition, so that the resource behind a lock can refuse an earlier
// holder. Owned by the Store. Thread-safe. Each call is one transaction.
class LockStore {
  public:
    virtual ~LockStore() = default;
    // Grants the lock unless another owner holds it or the stamp was used before. The current
    // holder acquires it again, with a new fence.
    virtual Result<LockAnswer> TryAcquire(const LockParams& params) = 0;
    // Extends the lock by `ttl` from now; never shortens it. Returns kLeaseLost if `owner` does not
    // hold it under this fence.
    virtual Result<model::Lock> Renew(const LockParams& params, std::int64_t fence) = 0;
    // Frees the lock; its row stays and keeps the fence and the stamp. Returns kLeaseLost if
    // `owner` does not hold it under this fence.
    virtual Result<void> Release(const LockParams& params, std::int64_t fence) = 0;
    // Includes locks that are free.
    virtual Result<Page<model::Lock>> List(const ListParams& params) = 0;
};

}  // namespace ksana::store
