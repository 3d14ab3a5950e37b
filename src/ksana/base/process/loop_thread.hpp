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

// One thread that runs a body until told to stop: what the loops of the engine stand on. The body
// gets a stop token and returns soon after it is triggered; it must not throw. Members that the
// body uses are declared before the LoopThread, so that they outlive it. One whose body has
// returned by itself can be started again.
class LoopThread final : public Service {
  public:
    using Body = std::function<void(std::stop_token)>;

    // The name shows up in debuggers and `top -H`, cut to 15 characters.
    LoopThread(std::string name, Body body);
    ~LoopThread() override;
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;

    std::string_view name() const override { return name_; }
    Result<void> Start() override;

    // From inside the body this only asks to stop: a thread cannot wait for itself.
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
    bool body_ended_ KSANA_GUARDED_BY(mutex_) = false;     // the body returned of its own accord
    std::thread::id running_id_ KSANA_GUARDED_BY(mutex_);  // also while thread_ is being joined
};

}  // namespace ksana
