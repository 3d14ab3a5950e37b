#pragma once

#include <algorithm>

#include "ksana/base/time/time.hpp"

namespace ksana::engine {

// How far the store's clock is ahead of this node's. An answer of the store tells it only to within
// the time that the answer took, so the bounds of several are put together. One thread.
class StoreOffset {
  public:
    // By this node's clock the question went out at `asked` and its answer came at `answered`;
    // meanwhile the store's showed `store_now`.
    void Note(TimePoint asked, TimePoint answered, TimePoint store_now) {
        if (answered < asked) return;  // this node's clock was set meanwhile
        const Duration least = store_now - answered;
        const Duration most = store_now - asked;
        const bool fits = least <= most_ && most >= least_;
        // One of the clocks was set, or they have drifted apart.
        least_ = fits ? std::max(least_, least) : least;
        most_ = fits ? std::min(most_, most) : most;
    }

    // Never more than it is, so that nothing is early. After the first Note.
    Duration Least() const { return least_; }

  private:
    Duration least_ = Duration::min();
    Duration most_ = Duration::max();
};

}  // namespace ksana::engine
