#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "ksana/lock/lock_driver.hpp"

namespace ksana::testing {

// A process of its own that takes a lock and then does nothing, until the test ends or stops it.
// Made by fork(), so the test must not have threads yet. Owned by the test; the destructor kills
// the process.
class LockHolder {
  public:
    // `open` is called in the new process. Returns when that has the lock.
    LockHolder(const std::function<std::unique_ptr<lock::LockDriver>()>& open,
               const lock::LockRequest& request);
    ~LockHolder();
    LockHolder(const LockHolder&) = delete;
    LockHolder& operator=(const LockHolder&) = delete;

    // 0: the process did not get the lock.
    std::int64_t fence() const { return fence_; }
    void Kill();  // SIGKILL; returns when the process has ended
    void Stop();  // SIGSTOP

  private:
    pid_t pid_ = -1;
    std::int64_t fence_ = 0;
};

}  // namespace ksana::testing
