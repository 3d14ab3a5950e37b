#pragma once

#include <optional>

#include "ksana/base/time.hpp"

namespace ksana::engine {

// What a loop of the engine answers when it was called once. A thread in production and the
// simulator in tests call it again at that time, or earlier when a commit touches its topics.
struct Step {
    std::optional<TimePoint> next;  // none: only when told
    bool again = false;             // there is more to do right now
};

}  // namespace ksana::engine
