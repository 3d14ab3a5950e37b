#pragma once

#include <algorithm>
#include <chrono>

#include "ksana/base/clock.hpp"

namespace ksana::store_postgres {

// When a call has to be over. The clock must outlive it.
class Deadline {
  public:
    Deadline(const Clock& clock, Duration timeout)
        : clock_(clock), at_(clock.SteadyNow() + timeout) {}

    SteadyPoint at() const { return at_; }
    bool Passed() const { return clock_.SteadyNow() >= at_; }
    Duration Remaining() const {
        const auto left = std::chrono::duration_cast<Duration>(at_ - clock_.SteadyNow());
        return std::max(left, Duration::zero());
    }
    // For poll(); rounded up, so that it is not asked again for the last fraction.
    int RemainingMs() const {
        return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(Remaining()).count());
    }
    // The earlier of this one and `timeout` from now.
    Deadline Sooner(Duration timeout) const { return {clock_, std::min(timeout, Remaining())}; }

  private:
    const Clock& clock_;
    SteadyPoint at_;
};

}  // namespace ksana::store_postgres
