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

// The result of one call of a loop: when to call it again. The caller (LoopRunner in production,
// the simulator in tests) calls earlier if a commit touches the loop's topics.
struct Step {
    std::optional<TimePoint> next;   // on this node's wall clock; none: no time is known
    std::optional<Duration> within;  // after this much steady time, whatever the wall clock does
    bool again = false;              // call again at once: more work is ready

    void NotLaterThan(TimePoint time) { next = std::min(next.value_or(time), time); }
    void NotAfter(Duration delay) {
        within = std::min(within.value_or(delay), std::max(delay, Duration::zero()));
    }
};

// Converts a time on the store's clock to this node's wall clock. The two clocks may differ.
inline TimePoint OnThisNode(TimePoint when, TimePoint store_now, const Clock& clock) {
    return when - (store_now - clock.Now());
}

// One loop of a node. Its runner (LoopRunner, or the simulator in tests) calls `run_once` when its
// time has come, when a commit touches its topics, or when Node's wake function names it. Calls of
// `run_once` never overlap.
struct Loop {
    std::string name;
    store::Topics topics;
    // Called on the committing thread. Returns false if the commit needs no `run_once`. May be
    // empty.
    std::function<bool(store::Topics)> hint;
    std::function<Result<Step>()> run_once;
    // Whether it goes on at a stop until the attempts under way have ended.
    bool while_draining = false;
};

}  // namespace ksana::engine
