#pragma once

#include <cstddef>

#include "ksana/base/time.hpp"

namespace ksana::engine {

// How many runs whose time is long past may still be started now: a bucket that fills at a fixed
// rate, so that a node that comes back after an outage does not call everything at once. Runs that
// are on time do not count. One thread, or under the owner's lock.
class LateStarts {
  public:
    // How late a run must be to count.
    static constexpr Duration kLate = std::chrono::seconds(1);

    // Per second, which is also the most that can be saved up; 0: no limit.
    explicit LateStarts(std::size_t rate);

    std::size_t Allowed(SteadyPoint now);
    void Spend(std::size_t starts);
    // Until at least one is allowed.
    Duration UntilOne(SteadyPoint now);

  private:
    void Fill(SteadyPoint now);

    const double rate_;
    double tokens_;
    SteadyPoint filled_at_{};
};

}  // namespace ksana::engine
