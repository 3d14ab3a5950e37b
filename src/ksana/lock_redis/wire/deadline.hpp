#pragma once

#include <algorithm>
#include <chrono>

#include "ksana/base/time/clock.hpp"

namespace ksana::lock_redis {

// The time by which an exchange with a server has to end. `clock` must outlive it.
class Deadline {
  public:
    Deadline(const Clock& clock, Duration timeout)
        : clock_(&clock), at_(clock.SteadyNow() + timeout) {}

    // For poll(). Rounded up, so that the last fraction of a millisecond is waited for too.
    int RemainingMs() const {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(at_ - clock_->SteadyNow());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 86'400'000));
    }

  private:
    const Clock* clock_;
    SteadyPoint at_;
};

}  // namespace ksana::lock_redis
