#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/process/service.hpp"

namespace ksana {

// A thread that runs `body` until it is stopped; the loops of the engine run on these. The body
// gets a stop token and must return soon after stop is requested; it must not throw (that aborts).
// Declare the members that the body uses before the LoopThread, so that they outlive it. After the
// body has returned by itself, Start runs it again. Thread-safe.
class LoopThread final : public Service {
  public:
    using Body = std::function<void(std::stop_token)>;

    // `name` is shown by debuggers and `top -H`, cut to 15 characters.
    LoopThread(std::string name, Body body);
    ~LoopThread() override;
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;

    std::string_view name() const override { return name_; }
    // Returns kExhausted if the thread cannot be created.
    Result<void> Start() override;

    // Blocks until the body has returned. Called from the body, it only requests the stop, as a
    // thread cannot wait for itself.
    void Stop() override;

  private:
    enum class State { kIdle, kRunning, kStopping };

    void Run(const std::stop_token& stop);

    const std::string name_;
    const Body body_;
    Mutex mutex_;
    CondVar changed_;
    State state_ KSANA_GUARDED_BY(mutex_) = State::kIdle;
    std::jthread thread_ KSANA_GUARDED_BY(mutex_);
    // The body has returned, whether asked to or not.
    bool body_ended_ KSANA_GUARDED_BY(mutex_) = false;
    // Stays set while thread_ is being joined.
    std::thread::id running_id_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana
