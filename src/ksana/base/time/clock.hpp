#pragma once

#include <stop_token>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana {

// A flag that ends a Clock::Wait. It latches: a Notify that comes before the wait is not lost, and
// the wait that sees it clears it. Any thread may notify; one thread waits.
class Wakeup {
  public:
    void Notify();

  private:
    friend class SystemClock;
    friend class FakeClock;

    Mutex mutex_;
    StopCondVar changed_;
    bool notified_ KSANA_GUARDED_BY(mutex_) = false;
};

enum class WaitOutcome { kNotified, kDeadline, kStopped };

// Time and waiting for it, injected together: whoever gets a Clock never asks the system itself,
// so a FakeClock can move a whole engine. Thread-safe.
class Clock {
  public:
    virtual ~Clock() = default;

    virtual TimePoint Now() const = 0;
    virtual SteadyPoint SteadyNow() const = 0;

    // Blocks until `wakeup` is notified, the deadline has passed or stop is requested; of several,
    // stopped wins, then notified.
    virtual WaitOutcome Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) = 0;

    // The same up to a wall-clock instant. Looks at the wall clock at least once every
    // kJumpNotice, so that a clock set forward or back is noticed that soon.
    WaitOutcome WaitUntil(Wakeup& wakeup, TimePoint instant, const std::stop_token& stop);

    static constexpr std::chrono::milliseconds kJumpNotice{1000};
};

class SystemClock final : public Clock {
  public:
    TimePoint Now() const override;
    SteadyPoint SteadyNow() const override;
    WaitOutcome Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) override;
};

}  // namespace ksana
