#pragma once

#include <stop_token>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/time.hpp"

namespace ksana {

// A flag that ends a Clock::Wait. The flag latches: a Notify before the wait is not lost, and the
// wait that sees it clears it. Any thread may notify; only one thread may wait.
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

// The source of time and of timed waits. Components take an injected Clock and never read the
// system's clock themselves, so that a FakeClock can drive a whole engine. Thread-safe.
class Clock {
  public:
    virtual ~Clock() = default;

    virtual TimePoint Now() const = 0;
    virtual SteadyPoint SteadyNow() const = 0;

    // Blocks until `wakeup` is notified, the deadline has passed or stop is requested. If several
    // apply, kStopped takes precedence, then kNotified.
    virtual WaitOutcome Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) = 0;

    // As Wait, but until a wall-clock time. Rereads the wall clock at least every kJumpNotice, so
    // that a clock set forward or back is noticed within that time.
    WaitOutcome WaitUntil(Wakeup& wakeup, TimePoint instant, const std::stop_token& stop);

    static constexpr std::chrono::milliseconds kJumpNotice{1000};
};

// The clocks of the operating system. Stateless, thread-safe.
class SystemClock final : public Clock {
  public:
    TimePoint Now() const override;
    SteadyPoint SteadyNow() const override;
    WaitOutcome Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) override;
};

}  // namespace ksana
