#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop.hpp"
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

    // What is given must outlive it.
    Reaper(store::Store& store, const Clock& clock, Options options)
        : store_(store), clock_(clock), options_(std::move(options)) {}

    struct Answer {
        Step step;
        std::vector<model::Run> runs;  // as they are now
    };

    // `lost_owners`: known to be gone, whatever their leases say.
    Result<Answer> RunOnce(const std::vector<std::string>& lost_owners = {});

  private:
    store::Store& store_;
    const Clock& clock_;
    const Options options_;
};

}  // namespace ksana::engine
