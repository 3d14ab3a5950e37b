#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana {

// A clock that stands still until a test advances it: wall time, steady time and all waits then
// move together. Thread-safe.
class FakeClock final : public Clock {
  public:
    explicit FakeClock(TimePoint start = DefaultStart());

    // 2026-01-01T00:00:00Z
    static TimePoint DefaultStart();

    TimePoint Now() const override;
    SteadyPoint SteadyNow() const override;
    WaitOutcome Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) override;

    // Advances wall and steady time and ends the waits whose deadline is reached.
    void Advance(Duration by);

    // Sets the wall clock forward or back. No time passes, and no wait ends.
    void JumpWall(Duration by);

    // Blocks until `count` threads are blocked in Wait. Tests use it to be sure that a loop is
    // asleep before they advance the clock. A waiter that Advance or Notify has woken does not
    // count, even if its thread has not run yet.
    void AwaitWaiters(std::size_t count);

  private:
    // A thread inside Wait; lives on that thread's stack.
    struct Waiter {
        Wakeup& wakeup;
        SteadyPoint deadline;
        // The wait has ended, but the waiter is still in `waiters_`.
        bool over KSANA_GUARDED_BY(wakeup.mutex_) = false;
    };

    // Atomics, because Wait reads them under a Wakeup's lock, while Advance takes Wakeup locks
    // under mutex_: guarding them with mutex_ would cause a deadlock.
    std::atomic<std::int64_t> wall_us_;
    std::atomic<std::int64_t> steady_us_{0};

    Mutex mutex_;
    CondVar waiters_changed_;
    std::vector<Waiter*> waiters_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana
