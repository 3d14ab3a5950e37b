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
        const std::lock_guard lock(mutex_);
        waiters_.push_back(&waiter);
    }
    waiters_changed_.notify_all();

    WaitOutcome outcome = WaitOutcome::kDeadline;
    {
        std::unique_lock lock(wakeup.mutex_);
        wakeup.changed_.wait(lock, stop, [this, &wakeup, deadline] {
            return wakeup.notified_ || SteadyNow() >= deadline;
        });
        if (stop.stop_requested()) {
            outcome = WaitOutcome::kStopped;
        } else if (wakeup.notified_) {
            wakeup.notified_ = false;
            outcome = WaitOutcome::kNotified;
        }
        waiter.over = true;
    }

    const std::lock_guard lock(mutex_);
    waiters_.erase(std::find(waiters_.begin(), waiters_.end(), &waiter));
    return outcome;
}

void FakeClock::Advance(Duration by) {
    KSANA_CHECK(by >= Duration::zero(), "time does not run backwards; JumpWall sets the wall");
    wall_us_ += by.count();
    steady_us_ += by.count();
    const std::lock_guard lock(mutex_);
    for (const Waiter* waiter : waiters_) {
        // Taking the lock makes sure that the waiter is either asleep or about to look again.
        { const std::lock_guard waiter_lock(waiter->wakeup.mutex_); }
        waiter->wakeup.changed_.notify_all();
    }
}

void FakeClock::JumpWall(Duration by) { wall_us_ += by.count(); }

void FakeClock::AwaitWaiters(std::size_t count) {
    const auto asleep = [this](const Waiter* waiter) {
        const std::lock_guard waiter_lock(waiter->wakeup.mutex_);
        return !waiter->over && !waiter->wakeup.notified_ && SteadyNow() < waiter->deadline;
    };
    std::unique_lock lock(mutex_);
    waiters_changed_.wait(lock, [this, count, &asleep] {
        const auto sleeping = std::count_if(waiters_.begin(), waiters_.end(), asleep);
        return static_cast<std::size_t>(sleeping) >= count;
    });
}

}  // namespace ksana
