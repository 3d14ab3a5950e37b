#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "ksana/engine/dispatch/attempt.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::engine {

// Carries out attempts of one action kind. It knows nothing of stores and leases: it starts, it
// stops when asked, and it says how the attempt ended. Thread-safe.
class Executor {
  public:
    // How the attempt ended: kSuccess, kRetryableFailure, kPermanentFailure, kTimeout or
    // kCancelled, with what the event speaks of; exec_id is filled in by the caller.
    using Done = std::function<void(model::Event)>;

    virtual ~Executor() = default;

    virtual model::ActionKind kind() const = 0;

    // Returns at once. `done` is called exactly once, on any thread, also before Start returns; it
    // returns soon and does not call the executor.
    virtual void Start(std::shared_ptr<const ActiveAttempt> attempt, Done done) = 0;

    // Asks the attempt to stop now; its `done` tells how it ended, perhaps well. Nothing happens
    // for one that is over.
    virtual void Cancel(std::string_view exec_id) = 0;
};

}  // namespace ksana::engine
