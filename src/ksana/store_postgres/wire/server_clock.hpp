#pragma once

#include <optional>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::store_postgres {

// What the server's clock says, from its last reading and the time since: never ahead of it, and
// behind by no more than that reading was on its way and waited to be taken. Good enough for when a
// run was made, where asking would cost a round trip; leases and due times go by Session::Now.
// Thread-safe.
class ServerClock {
  public:
    explicit ServerClock(const Clock& clock) : clock_(clock) {}

    void Note(TimePoint server_time) {
        const SteadyPoint now = clock_.SteadyNow();
        const MutexLock lock(mutex_);
        last_ = server_time;
        read_at_ = now;
    }

    // Nothing when the last reading is too old: somebody may have set the server's clock.
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
