#include "ksana/base/time/clock.hpp"

#include <algorithm>
#include <utility>

namespace ksana {

void Wakeup::Notify() {
    {
        const MutexLock lock(mutex_);
        notified_ = true;
    }
    changed_.NotifyAll();
}

WaitOutcome Clock::WaitUntil(Wakeup& wakeup, TimePoint instant, const std::stop_token& stop) {
    for (;;) {
        const TimePoint now = Now();
        const bool due = now >= instant;
        // Even if the instant has passed, Wait must check for stop and notification first.
        const Duration step =
            due ? Duration::zero() : std::min<Duration>(instant - now, kJumpNotice);
        const WaitOutcome outcome = Wait(wakeup, SteadyNow() + step, stop);
        if (outcome != WaitOutcome::kDeadline || due) return outcome;
    }
}

TimePoint SystemClock::Now() const {
    return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

SteadyPoint SystemClock::SteadyNow() const { return std::chrono::steady_clock::now(); }

WaitOutcome SystemClock::Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) {
    MutexLock lock(wakeup.mutex_);
    const bool notified = wakeup.changed_.WaitUntil(
        lock, stop, deadline,
        [&wakeup]() KSANA_REQUIRES(wakeup.mutex_) { return wakeup.notified_; });
    if (stop.stop_requested()) return WaitOutcome::kStopped;
    if (!notified) return WaitOutcome::kDeadline;
    wakeup.notified_ = false;
    return WaitOutcome::kNotified;
}

}  // namespace ksana
