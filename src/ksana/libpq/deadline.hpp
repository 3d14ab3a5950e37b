#pragma once

#include <algorithm>
#include <chrono>
#include <stop_token>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::libpq {

// The time by which a call has to end. `clock` must outlive it.
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
    // For poll(). Rounded up, so that the last fraction of a millisecond does not cause another
    // poll.
    int RemainingMs() const {
        return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(Remaining()).count());
    }
    // Returns the earlier of this deadline and `timeout` from now.
    Deadline Sooner(Duration timeout) const { return {clock_, std::min(timeout, Remaining())}; }

  private:
    const Clock& clock_;
    SteadyPoint at_;
};

// Waits between retries, with jitter, so that callers that failed together do not retry together.
// `clock` and `random` must outlive it. Thread-safe; `random` need not be.
class Backoff {
  public:
    Backoff(Clock& clock, Random& random) : clock_(clock), random_(random) {}

    // Waits after `tries` tries: between half and all of a time that doubles from `first` up to
    // `most`, but not beyond the deadline. Returns false if the deadline had passed or a stop was
    // requested.
    struct Range {
        Duration first;
        Duration most;
    };
    bool Wait(int tries, Range range, const Deadline& deadline, const std::stop_token& stop = {});

    // Returns a random number.
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

}  // namespace ksana::libpq
