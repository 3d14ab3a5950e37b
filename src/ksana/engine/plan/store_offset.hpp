#pragma once

#include <algorithm>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// Estimates how far the store's clock is ahead of this node's. One answer of the store bounds the
// offset only within its round-trip time, so the bounds of several answers are intersected. Not
// thread-safe.
class StoreOffset {
  public:
    // Adds a measurement: the query was sent at `asked` and answered at `answered` on this node's
    // clock, and the store's clock showed `store_now` in between.
    void Note(TimePoint asked, TimePoint answered, TimePoint store_now) {
        if (answered < asked) return;  // this node's clock was set meanwhile
        const Duration least = store_now - answered;
        const Duration most = store_now - asked;
        const bool fits = least <= most_ && most >= least_;
        // If the bounds do not overlap, one of the clocks was set or they drifted apart: start
        // over.
        least_ = fits ? std::max(least_, least) : least;
        most_ = fits ? std::min(most_, most) : most;
    }

    // Returns the lower bound, so that nothing starts early. Valid after the first Note.
    Duration Least() const { return least_; }

  private:
    Duration least_ = Duration::min();
    Duration most_ = Duration::max();
};

}  // namespace ksana::engine
