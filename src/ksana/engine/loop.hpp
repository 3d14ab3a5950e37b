#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/store/topics.hpp"

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

// One of the loops that together are a node. The shell around it (LoopRunner, or the simulator)
// calls `run_once` when its time has come, when a commit has touched its topics, or when the loop
// itself asked to be called. Never two at a time.
struct Loop {
    std::string name;
    store::Topics topics;
    // On whatever thread committed. False: it need not be called for this. May be empty.
    std::function<bool(store::Topics)> hint;
    std::function<Result<Step>()> run_once;
};

}  // namespace ksana::engine
