#pragma once

#include "ksana/base/result.hpp"
#include "ksana/engine/step.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Ends the attempts whose owner is silent or whose time is over, whoever the owner was. Every node
// has one; they do not disturb each other. One thread.
class Reaper {
  public:
    struct Options {
        std::size_t batch = 500;
        store::FollowUp follow_up;  // may be empty
    };

    // The store must outlive it.
    Reaper(store::Store& store, Options options) : store_(store), options_(std::move(options)) {}

    struct Answer {
        Step step;
        std::vector<model::Run> runs;  // as they are now
    };

    Result<Answer> RunOnce();

  private:
    store::Store& store_;
    const Options options_;
};

}  // namespace ksana::engine
