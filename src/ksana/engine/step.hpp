#pragma once

#include <algorithm>
#include <optional>

#include "ksana/base/clock.hpp"
#include "ksana/base/time.hpp"

namespace ksana::engine {

// What a loop of the engine answers when it was called once. A thread in production and the
// simulator in tests call it again at that time, or earlier when a commit touches its topics.
struct Step {
    std::optional<TimePoint> next;   // by this node's wall clock; none: only when told
    std::optional<Duration> within;  // after so much time, whatever any wall clock says
    bool again = false;              // there is more to do right now

    void NotLaterThan(TimePoint time) { next = std::min(next.value_or(time), time); }
    void NotAfter(Duration delay) {
        within = std::min(within.value_or(delay), std::max(delay, Duration::zero()));
    }
};

// A time of the store as this node's wall clock will show it: the two may differ.
inline TimePoint OnThisNode(TimePoint when, TimePoint store_now, const Clock& clock) {
    return when - (store_now - clock.Now());
}

}  // namespace ksana::engine
