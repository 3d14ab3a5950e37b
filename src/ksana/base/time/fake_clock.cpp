#include "ksana/base/time/fake_clock.hpp"

#include <algorithm>
#include <utility>

#include "ksana/base/error/check.hpp"

namespace ksana {

FakeClock::FakeClock(TimePoint start) : wall_us_(start.time_since_epoch().count()) {}

TimePoint FakeClock::DefaultStart() {
    return TimePoint(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1));
}

TimePoint FakeClock::Now() const { return TimePoint(Duration(wall_us_.load())); }

SteadyPoint FakeClock::SteadyNow() const { return SteadyPoint(Duration(steady_us_.load())); }

WaitOutcome FakeClock::Wait(Wakeup& wakeup, SteadyPoint deadline, const std::stop_token& stop) {
    Waiter waiter{wakeup, deadline};
    {
        const MutexLock lock(mutex_);
        waiters_.push_back(&waiter);
    }
    waiters_changed_.NotifyAll();

    WaitOutcome outcome = WaitOutcome::kDeadline;
    {
        MutexLock lock(waiter.wakeup.mutex_);
        const auto over = [this, &waiter]() KSANA_REQUIRES(waiter.wakeup.mutex_) {
            return waiter.wakeup.notified_ || SteadyNow() >= waiter.deadline;
        };
        wakeup.changed_.Wait(lock, stop, over);
        if (stop.stop_requested()) {
            outcome = WaitOutcome::kStopped;
        } else if (waiter.wakeup.notified_) {
            waiter.wakeup.notified_ = false;
            outcome = WaitOutcome::kNotified;
        }
        waiter.over = true;
    }

    const MutexLock lock(mutex_);
    waiters_.erase(std::find(waiters_.begin(), waiters_.end(), &waiter));
    return outcome;
}

void FakeClock::Advance(Duration by) {
    KSANA_CHECK(by >= Duration::zero(), "time does not run backwards; JumpWall sets the wall");
    wall_us_ += by.count();
    steady_us_ += by.count();
    const MutexLock lock(mutex_);
    for (const Waiter* waiter : waiters_) {
        // Taking the lock ensures that the waiter is either blocked or yet to evaluate its
        // predicate.
        { const MutexLock waiter_lock(waiter->wakeup.mutex_); }
        waiter->wakeup.changed_.NotifyAll();
    }
}

void FakeClock::JumpWall(Duration by) { wall_us_ += by.count(); }

void FakeClock::AwaitWaiters(std::size_t count) {
    const auto asleep = [this](const Waiter* waiter) {
        const MutexLock waiter_lock(waiter->wakeup.mutex_);
        return !waiter->over && !waiter->wakeup.notified_ && SteadyNow() < waiter->deadline;
    };
    MutexLock lock(mutex_);
    waiters_changed_.Wait(lock, [this, count, &asleep]() KSANA_REQUIRES(mutex_) {
        const auto sleeping = std::count_if(waiters_.begin(), waiters_.end(), asleep);
        return static_cast<std::size_t>(sleeping) >= count;
    });
}

}  // namespace ksana
