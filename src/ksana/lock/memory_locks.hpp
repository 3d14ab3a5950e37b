#pragma once

#include <map>
#include <string>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock {

// The longest TTL. Servers and clocks can still add it to a time.
inline constexpr Duration kMaxTtl = std::chrono::hours(24 * 30);

// Returns the fault of a request that no driver can carry out.
Result<void> CheckRequest(const LockRequest& request);

// Locks among the threads of one process, on its steady clock. Nothing outlives the process.
// Thread-safe.
class MemoryLocks final : public LockDriver {
  public:
    // `clock` must outlive the driver.
    explicit MemoryLocks(const Clock& clock) : clock_(clock) {}

    Result<TryAnswer> Try(const LockRequest& request) override;
    Result<Grant> Renew(const LockRequest& request, std::int64_t fence) override;
    Result<void> Release(const LockRequest& request, std::int64_t fence) override;
    std::string Location() const override { return "memory:"; }

  private:
    // A key that was held at least once; kept for its fence and stamp.
    struct Row {
        std::string token;  // empty: free
        std::int64_t fence = 0;
        std::optional<std::int64_t> stamp;
        SteadyPoint until{};
    };

    bool Holds(const Row& row, const LockRequest& request) const;

    const Clock& clock_;
    Mutex mutex_;
    std::map<std::string, Row> rows_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::lock
