#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "ksana/lock/lock_driver.hpp"

namespace ksana::test {

// Locks that do not lock: the engine must be right without them. Thread-safe.
class LyingLocks final : public lock::LockDriver {
  public:
    enum class Lie : std::uint8_t { kGrantsToEverybody, kGrantsToNobody, kFails };

    explicit LyingLocks(Lie lie) : lie_(lie) {}

    Result<lock::TryAnswer> Try(const lock::LockRequest& request) override {
        if (lie_ == Lie::kFails) return Down();
        lock::TryAnswer answer;
        if (lie_ == Lie::kGrantsToEverybody) {
            answer.grant = lock::Grant{.fence = ++fence_, .valid_for = request.ttl};
        }
        return answer;
    }
    Result<lock::Grant> Renew(const lock::LockRequest& request, std::int64_t fence) override {
        if (lie_ != Lie::kGrantsToEverybody) return Down();
        return lock::Grant{.fence = fence, .valid_for = request.ttl};
    }
    Result<void> Release(const lock::LockRequest&, std::int64_t) override {
        if (lie_ != Lie::kGrantsToEverybody) return Down();
        return {};
    }
    std::string Location() const override { return "lies:"; }

  private:
    static Error Down() { return {Code::kUnavailable, "the lock server is down"}; }

    const Lie lie_;
    std::atomic<std::int64_t> fence_{0};
};

}  // namespace ksana::test
