#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Ends attempts whose lease or deadline has passed, whichever node owns them, and logs each. The
// store also unblocks runs whose blocking run is gone. Owned by Node. Every node runs one; the
// store makes sure that each attempt is reaped once. Keeps no state between calls, so any thread
// may call it. Returns the store's error if reaping fails.
class Reaper {
  public:
    struct Options {
        std::size_t batch = 500;
        store::FollowUp follow_up;  // may be empty
    };

    // `store` and `clock` must outlive the reaper.
    Reaper(store::Store& store, const Clock& clock, Options options)
        : store_(store), clock_(clock), options_(std::move(options)) {}

    struct Answer {
        Step step;
        std::vector<model::Run> runs;  // as stored after reaping
    };

    // Reaps one batch. Runs of `lost_owners` are reaped whatever their leases say.
    Result<Answer> RunOnce(const std::vector<std::string>& lost_owners = {});

  private:
    store::Store& store_;
    const Clock& clock_;
    const Options options_;
};

}  // namespace ksana::engine
