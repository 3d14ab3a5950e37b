#pragma once

#include <cstddef>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// Limits the starts of overdue runs: a token bucket, so that a node that comes back after an outage
// does not call every target at once. While the bucket is empty, its rate doubles every kDoubling:
// targets see a ramp, and a node that merely fell behind catches up. Runs on time do not count. Not
// thread-safe: Dispatcher guards it with a mutex.
class LateStarts {
  public:
    // The lateness from which a run counts.
    static constexpr Duration kLate = std::chrono::seconds(1);

    static constexpr Duration kDoubling = std::chrono::seconds(2);
    // After this long without a late start, the rate is reset to the first one.
    static constexpr Duration kCalm = std::chrono::seconds(10);

    // `rate`: late starts per second at first. One second's worth can be saved up. 0: no limit.
    explicit LateStarts(std::size_t rate);

    // Refills the bucket. Returns the number of late starts allowed now.
    std::size_t Allowed(SteadyPoint now);
    void Spend(std::size_t starts);
    // Returns whether no late start is allowed now. Does not change the bucket.
    bool UsedUp(SteadyPoint now) const;
    // Returns the time until at least one late start is allowed.
    Duration UntilOne(SteadyPoint now);

  private:
    void Fill(SteadyPoint now);

    const double first_rate_;
    double rate_;
    double tokens_;
    bool used_up_ = false;  // a caller found the bucket empty since the last Fill
    SteadyPoint filled_at_{};
    SteadyPoint last_late_{};
};

}  // namespace ksana::engine
