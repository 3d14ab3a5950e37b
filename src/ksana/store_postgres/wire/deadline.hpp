#pragma once

#include <algorithm>
#include <chrono>
#include <stop_token>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

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

// Waits between tries, with jitter, so that those whom one cause has stopped do not come back as
// one. Thread-safe; clock and random must outlive it.
class Backoff {
  public:
    Backoff(Clock& clock, Random& random) : clock_(clock), random_(random) {}

    // Before try number `tries` (the second is 1): doubles from `first` up to `most`, and no longer
    // than the deadline. False: there is no time left, or stop was requested.
    struct Range {
        Duration first;
        Duration most;
    };
    bool Wait(int tries, Range range, const Deadline& deadline, const std::stop_token& stop = {});

    std::uint64_t Draw();

  private:
    Clock& clock_;
    Mutex mutex_;
    Random& random_ KSANA_GUARDED_BY(mutex_);
};

inline constexpr Backoff::Range kConflictBackoff{std::chrono::milliseconds(1),
                                                 std::chrono::milliseconds(100)};
inline constexpr Backoff::Range kConnectBackoff{std::chrono::milliseconds(10),
                                                std::chrono::seconds(1)};

}  // namespace ksana::store_postgres
