#pragma once

#include <cstdint>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "ksana/store/lock_store.hpp"

namespace ksana::engine {

// Locks as rows of the store: what an installation has without another server. The store's clock
// decides when a lock expires. Stamps are remembered for ever. Thread-safe. Returns the store's
// error.
class StoreLocks final : public lock::LockDriver {
  public:
    // `locks` must outlive the driver.
    explicit StoreLocks(store::LockStore& locks) : locks_(locks) {}

    Result<lock::TryAnswer> Try(const lock::LockRequest& request) override;
    Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t fence) override;
    Result<void> Release(const lock::LockRequest& request, std::int64_t fence) override;
    std::string Location() const override { return "store"; }

  private:
    store::LockStore& locks_;
};

}  // namespace ksana::engine
