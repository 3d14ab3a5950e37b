#pragma once

#include <atomic>

#include "ksana/base/time/clock.hpp"

namespace ksana::library {

// Lets a test wait for what jobs do on other threads: for a number of calls of Note, a minute at
// most. One thread may wait.
class Signal {
  public:
    void Note() {
        ++count_;
        wakeup_.Notify();
    }
    [[nodiscard]] bool Await(int count) {
        const SteadyPoint until = clock_.SteadyNow() + std::chrono::minutes(1);
        while (count_ < count) {
            if (clock_.Wait(wakeup_, until, {}) == WaitOutcome::kDeadline) return count_ >= count;
        }
        return true;
    }

  private:
    SystemClock clock_;
    Wakeup wakeup_;
    std::atomic<int> count_{0};
};

}  // namespace ksana::library
