#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "ksana/telemetry/registry.hpp"

namespace ksana::server {

// Forwards every call to another driver, and counts by outcome and measures it. Owned by
// Application. Thread-safe.
class MeteredLocks final : public lock::LockDriver {
  public:
    // `registry` and `clock` must outlive this object.
    MeteredLocks(std::unique_ptr<lock::LockDriver> driver, telemetry::Registry& registry,
                 const Clock& clock);

    Result<lock::TryAnswer> Try(const lock::LockRequest& request) override;
    Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t fence) override;
    Result<void> Release(const lock::LockRequest& request, std::int64_t fence) override;
    std::string Location() const override { return driver_->Location(); }

  private:
    template <class F>
    auto Measure(std::string_view operation, const F& call) -> decltype(call());
    void Count(std::string_view operation, std::string_view outcome);

    const std::unique_ptr<lock::LockDriver> driver_;
    const Clock& clock_;
    telemetry::Family<telemetry::Counter>& calls_;
    telemetry::Family<telemetry::Histogram>& waits_;
};

}  // namespace ksana::server
