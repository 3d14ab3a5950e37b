#pragma once

#include <chrono>
#include <condition_variable>
#include <stop_token>
#include <utility>

#include "ksana/base/process/mutex.hpp"

namespace ksana {

// std::condition_variable for a MutexLock. The predicate runs with the lock held and must be
// annotated:
//   changed_.Wait(lock, [this]() KSANA_REQUIRES(mutex_) { return done_; });
class CondVar {
  public:
    void NotifyOne() { changed_.notify_one(); }
    void NotifyAll() { changed_.notify_all(); }

    template <typename Predicate>
    void Wait(MutexLock& lock, Predicate predicate) {
        changed_.wait(lock.lock_, std::move(predicate));
    }

    // Returns false if the time has passed and the predicate still does not hold. For limits in
    // real time, such as that of a connection attempt; other timed waits use the Clock.
    template <typename Rep, typename Period, typename Predicate>
    bool WaitFor(MutexLock& lock, std::chrono::duration<Rep, Period> time, Predicate predicate) {
        return changed_.wait_for(lock.lock_, time, std::move(predicate));
    }

  private:
    std::condition_variable changed_;
};

// std::condition_variable_any: a CondVar whose waits a stop token can end. Slower than CondVar,
// because it has an internal mutex.
class StopCondVar {
  public:
    void NotifyOne() { changed_.notify_one(); }
    void NotifyAll() { changed_.notify_all(); }

    // Returns false if stop was requested and the predicate does not hold.
    template <typename Predicate>
    bool Wait(MutexLock& lock, std::stop_token stop, Predicate predicate) {
        return changed_.wait(lock.lock_, std::move(stop), std::move(predicate));
    }

    // As Wait, and also returns false if the deadline has passed and the predicate does not hold.
    template <typename Deadline, typename Predicate>
    bool WaitUntil(MutexLock& lock, std::stop_token stop, const Deadline& deadline,
                   Predicate predicate) {
        return changed_.wait_until(lock.lock_, std::move(stop), deadline, std::move(predicate));
    }

  private:
    std::condition_variable_any changed_;
};

}  // namespace ksana
