#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/engine/dispatch/attempt.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/model/run/decide.hpp"

namespace ksana::engine {

// Executes attempts of one action kind. It knows neither stores nor leases: it starts an attempt,
// stops it on request, and reports how it ended. The server owns it; dispatchers call it.
// Implementations must be thread-safe and report every failure through `done`.
class Executor {
  public:
    // Receives how the attempt ended: kSuccess, kRetryableFailure, kPermanentFailure, kTimeout or
    // kCancelled, with the fields of that event. The receiver fills in exec_id.
    using Done = std::function<void(model::Event)>;

    virtual ~Executor() = default;

    virtual model::ActionKind kind() const = 0;
    // Returns the types whose runs it can execute; empty: any. Runs of other types are left to
    // other processes. Any thread.
    virtual std::vector<std::string> types() const { return {}; }

    // Returns whether it calls ActiveAttempt::tell, which is set only then.
    virtual bool tells_news() const { return false; }

    // Starts the attempt and returns at once. Calls `done` exactly once, on any thread, possibly
    // before Start returns. `done` returns quickly and does not call the executor.
    virtual void Start(std::shared_ptr<const ActiveAttempt> attempt, Done done) = 0;

    // Asks the attempt to stop now. Its `done` reports how it ended, which may be a success. Does
    // nothing if the attempt is over.
    virtual void Cancel(std::string_view exec_id) = 0;
};

}  // namespace ksana::engine
