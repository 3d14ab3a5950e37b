#pragma once

#include <mutex>
#include <stop_token>

#include "ksana/base/clock.hpp"
#include "ksana/base/random.hpp"
#include "ksana/store_postgres/deadline.hpp"

namespace ksana::store_postgres {

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
    std::mutex mutex_;
    Random& random_;  // guarded by mutex_
};

inline constexpr Backoff::Range kConflictBackoff{std::chrono::milliseconds(1),
                                                 std::chrono::milliseconds(100)};
inline constexpr Backoff::Range kConnectBackoff{std::chrono::milliseconds(10),
                                                std::chrono::seconds(1)};

}  // namespace ksana::store_postgres
