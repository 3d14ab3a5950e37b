#pragma once

#include <cstddef>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// How many runs whose time is long past may still be started now: a bucket that fills at a rate, so
// that a node that comes back after an outage does not call everything at once. While it is used
// up the rate doubles every few seconds: targets see a ramp, and a node that has only fallen behind
// catches up. Runs that are on time do not count. One thread, or under the owner's lock.
class LateStarts {
  public:
    // How late a run must be to count.
    static constexpr Duration kLate = std::chrono::seconds(1);

    static constexpr Duration kDoubling = std::chrono::seconds(2);
    // Without a late start for so long the rate is the first one again.
    static constexpr Duration kCalm = std::chrono::seconds(10);

    // Per second at first; a second's worth can be saved up. 0: no limit.
    explicit LateStarts(std::size_t rate);

    std::size_t Allowed(SteadyPoint now);
    void Spend(std::size_t starts);
    // Whether none is allowed now. Asking changes nothing.
    bool UsedUp(SteadyPoint now) const;
    // Until at least one is allowed.
    Duration UntilOne(SteadyPoint now);

  private:
    void Fill(SteadyPoint now);

    const double first_rate_;
    double rate_;
    double tokens_;
    bool used_up_ = false;  // since the last Fill
    SteadyPoint filled_at_{};
    SteadyPoint last_late_{};
};

}  // namespace ksana::engine
