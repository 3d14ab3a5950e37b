#pragma once

#include <memory>
#include <string>
#include <utility>

#include "ksana/lock/lock_driver.hpp"

namespace ksana::lock {

// A driver whose keys get a prefix, so that several installations can share a lock server.
// Thread-safe.
class PrefixedLocks final : public LockDriver {
  public:
    PrefixedLocks(std::unique_ptr<LockDriver> driver, std::string prefix)
        : driver_(std::move(driver)), prefix_(std::move(prefix)) {}

    Result<TryAnswer> Try(const LockRequest& request) override {
        return driver_->Try(Prefixed(request));
    }
    Result<Grant> Renew(const LockRequest& request, std::int64_t fence) override {
        return driver_->Renew(Prefixed(request), fence);
    }
    Result<void> Release(const LockRequest& request, std::int64_t fence) override {
        return driver_->Release(Prefixed(request), fence);
    }
    std::string Location() const override { return driver_->Location(); }

  private:
    LockRequest Prefixed(LockRequest request) const {
        request.key.insert(0, prefix_);
        return request;
    }

    const std::unique_ptr<LockDriver> driver_;
    const std::string prefix_;
};

}  // namespace ksana::lock
