#pragma once

#include <optional>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::store_postgres {

// Estimates the server's clock from its last reading and the time since. The estimate is never
// ahead of the server's clock, and behind it at most by the time that the reading took to arrive
// and be processed. Good enough for the creation time of a run, where asking would cost a round
// trip; leases and due times use Session::Now. Owned by PostgresBackend. Thread-safe.
class ServerClock {
  public:
    explicit ServerClock(const Clock& clock) : clock_(clock) {}

    // Records a reading that has just arrived.
    void Note(TimePoint server_time) {
        const SteadyPoint now = clock_.SteadyNow();
        const MutexLock lock(mutex_);
        last_ = server_time;
        read_at_ = now;
    }

    // Returns none when the last reading is older than kMaxAge, as the server's clock may have been
    // set.
    std::optional<TimePoint> Estimate() const {
        const SteadyPoint now = clock_.SteadyNow();
        const MutexLock lock(mutex_);
        if (!last_ || now - read_at_ > kMaxAge) return std::nullopt;
        return *last_ + std::chrono::duration_cast<Duration>(now - read_at_);
    }

  private:
    static constexpr auto kMaxAge = std::chrono::seconds(1);

    const Clock& clock_;
    mutable Mutex mutex_;
    std::optional<TimePoint> last_ KSANA_GUARDED_BY(mutex_);
    SteadyPoint read_at_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store_postgres
