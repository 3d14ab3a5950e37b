#pragma once

#include <memory>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop_runner.hpp"
#include "ksana/engine/node.hpp"

namespace ksana::engine {

// The loops of a node, each on a thread of its own.
class Engine final : public Service {
  public:
    struct Options {
        // How long a stop lets running attempts finish, and how long it then waits for those that
        // it asked to stop.
        Duration drain = std::chrono::seconds(30);
        Duration stop_patience = std::chrono::seconds(2);
    };

    // What is given must outlive it.
    Engine(Node& node, store::Store& store, Clock& clock, Observer* observer, Options options);
    ~Engine() override { Stop(); }

    std::string_view name() const override { return "engine"; }
    Result<void> Start() override;
    // K-18: nothing new is started; what runs may finish; what does not is stopped and given back,
    // without using up an attempt; everything known is written.
    void Stop() override;

    // How long ago the slowest loop was last alive.
    Duration LongestSilence() const;

  private:
    bool AwaitIdle(Duration patience);

    Node& node_;
    store::Store& store_;
    Clock& clock_;
    const Options options_;
    Wakeup stepped_;  // a dispatcher has made a step
    std::vector<std::unique_ptr<LoopRunner>> runners_;
    Mutex mutex_;
    bool running_ KSANA_GUARDED_BY(mutex_) = false;
};

}  // namespace ksana::engine
