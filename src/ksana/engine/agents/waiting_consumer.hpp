#pragma once

#include <functional>
#include <memory>

#include "ksana/model/run/run.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// Somebody who waits for a run such as one that is about to be stored: it is stored as started by
// him, one commit instead of two. He waits for nothing else until he is given the run; whoever is
// destroyed without one waits again, as he did before.
class WaitingConsumer {
  public:
    WaitingConsumer() = default;
    WaitingConsumer(const WaitingConsumer&) = delete;
    WaitingConsumer& operator=(const WaitingConsumer&) = delete;
    virtual ~WaitingConsumer() = default;

    virtual store::StartAs start() const = 0;
    // The run as it was stored, started by him. Once.
    virtual void Give(model::Run run) = 0;
};

// Null: nobody waits for such a run, or something that has waited for longer comes first.
using FindWaitingConsumer = std::function<std::unique_ptr<WaitingConsumer>(const model::Run& run)>;

}  // namespace ksana::engine
