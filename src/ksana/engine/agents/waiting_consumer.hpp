#pragma once

#include <functional>
#include <memory>

#include "ksana/model/run/run.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {

// A reserved consumer (a parked poll of an agent) that a run is about to be stored for: the run is
// stored as started by that consumer, one commit instead of two. The caller owns it. While
// reserved, the consumer gets no other run; destroying it without Give puts the consumer back in
// line. Used by one thread.
class WaitingConsumer {
  public:
    WaitingConsumer() = default;
    WaitingConsumer(const WaitingConsumer&) = delete;
    WaitingConsumer& operator=(const WaitingConsumer&) = delete;
    virtual ~WaitingConsumer() = default;

    virtual store::StartAs start() const = 0;
    // Hands over the run as stored, started by this consumer. Call at most once.
    virtual void Give(model::Run run) = 0;
};

// Reserves a consumer for the run. Returns null if no consumer waits for such a run, or if an older
// run comes first. Thread-safe.
using FindWaitingConsumer = std::function<std::unique_ptr<WaitingConsumer>(const model::Run& run)>;

}  // namespace ksana::engine
