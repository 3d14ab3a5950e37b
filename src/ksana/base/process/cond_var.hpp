#pragma once

#include <chrono>
#include <condition_variable>
#include <stop_token>
#include <utility>

#include "ksana/base/process/mutex.hpp"

namespace ksana {

// std::condition_variable for a MutexLock. The predicate runs with the lock held and says so:
//   changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return done_; });
class CondVar {
  public:
    void NotifyOne() { changed_.notify_one(); }
    void NotifyAll() { changed_.notify_all(); }

    template <typename Predicate>
    void Wait(MutexLock& lock, Predicate predicate) {
        changed_.wait(lock.lock_, std::move(predicate));
    }

    // False when the time is over and the predicate still does not hold. For limits of the real
    // world, such as how long a connection may take; other waits for a time go through the Clock.
    template <typename Rep, typename Period, typename Predicate>
    bool WaitFor(MutexLock& lock, std::chrono::duration<Rep, Period> time, Predicate predicate) {
        return changed_.wait_for(lock.lock_, time, std::move(predicate));
    }

  private:
    std::condition_variable changed_;
};

// std::condition_variable_any: the same for waits that a stop token ends. Slower than CondVar, as
// it has a mutex of its own.
class StopCondVar {
  public:
    void NotifyOne() { changed_.notify_one(); }
    void NotifyAll() { changed_.notify_all(); }

    // False when stop was requested and the predicate does not hold.
    template <typename Predicate>
    bool Wait(MutexLock& lock, std::stop_token stop, Predicate predicate) {
        return changed_.wait(lock.lock_, std::move(stop), std::move(predicate));
    }

    // The same, and when the deadline has passed.
    template <typename Deadline, typename Predicate>
    bool WaitUntil(MutexLock& lock, std::stop_token stop, const Deadline& deadline,
                   Predicate predicate) {
        return changed_.wait_until(lock.lock_, std::move(stop), deadline, std::move(predicate));
    }

  private:
    std::condition_variable_any changed_;
};

}  // namespace ksana
