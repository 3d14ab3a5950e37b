#pragma once

#include <memory>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop_runner.hpp"
#include "ksana/engine/node.hpp"

namespace ksana::engine {

// Runs every loop of a node on its own thread. The server owns it. Start and Stop may be called
// from any thread and serialize on a mutex. Start fails if Node::Prepare fails (the store cannot be
// read), and then no loop runs. A failing loop retries with backoff and never stops the engine.
class Engine final : public Service {
  public:
    struct Options {
        // How long Stop lets running attempts finish. After that it asks them to stop and waits for
        // `stop_patience`.
        Duration drain = std::chrono::seconds(30);
        Duration stop_patience = std::chrono::seconds(2);
    };

    // `node`, `store`, `clock` and `observer` must outlive the engine. `observer` may be null.
    Engine(Node& node, store::Store& store, Clock& clock, Observer* observer, Options options);
    ~Engine() override { Stop(); }

    std::string_view name() const override { return "engine"; }
    Result<void> Start() override;
    // Shuts down (K-18): starts nothing new, lets running attempts finish within `drain`, stops the
    // rest and gives their runs back without using up an attempt, and reports every known outcome.
    void Stop() override { StopWithin(options_.drain); }
    // Stop with another time for running attempts.
    void StopWithin(Duration drain);

    // Returns the time since the last sign of life of the loop that has been silent longest.
    // Thread-safe.
    Duration LongestSilence() const;

  private:
    bool AwaitIdle(Duration patience);

    Node& node_;
    store::Store& store_;
    Clock& clock_;
    const Options options_;
    Wakeup stepped_;  // signaled after each step of a dispatcher
    std::vector<std::unique_ptr<LoopRunner>> runners_;
    Mutex mutex_;
    bool running_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::engine
