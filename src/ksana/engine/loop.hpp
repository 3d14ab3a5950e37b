#pragma once

#include <functional>
#include <string>

#include "ksana/base/result.hpp"
#include "ksana/engine/step.hpp"
#include "ksana/store/topics.hpp"

namespace ksana::engine {

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
