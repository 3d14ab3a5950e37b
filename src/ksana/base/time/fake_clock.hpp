#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana {

// A clock that stands still until a test moves it; then wall time, steady time and every wait move
// together. Thread-safe.
class FakeClock final : public Clock {
  public:
    explicit FakeClock(TimePoint start = DefaultStart());

    // 2026-01-01T00:00:00Z
    static TimePoint DefaultStart();

    TimePoint Now() const override;
    SteadyPoint SteadyNow() const override;
    WaitOutcome Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) override;

    // Time passes: ends the waits whose deadline this reaches.
    void Advance(Duration by);

    // Somebody sets the wall clock; no time passes, and no wait ends.
    void JumpWall(Duration by);

    // Blocks until `count` threads wait for something that has not come: how a test knows that a
    // loop has gone to sleep before it moves the clock. A waiter that Advance or Notify has woken
    // does not count, also while it has not yet run.
    void AwaitWaiters(std::size_t count);

  private:
    // A thread inside Wait; lives on its stack.
    struct Waiter {
        Wakeup& wakeup;
        SteadyPoint deadline;
        bool over KSANA_GUARDED_BY(wakeup.mutex_) = false;  // the wait has ended, the list not yet
    };

    // The clock readings are atomics because Wait reads them under a Wakeup's lock, while Advance
    // takes Wakeup locks under mutex_: a lock here would close the circle.
    std::atomic<std::int64_t> wall_us_;
    std::atomic<std::int64_t> steady_us_{0};

    Mutex mutex_;
    CondVar waiters_changed_;
    std::vector<Waiter*> waiters_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana
