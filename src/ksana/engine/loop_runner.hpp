#pragma once

#include <atomic>
#include <optional>
#include <string_view>

#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/engine/observer.hpp"
#include "ksana/store/change_feed.hpp"

namespace ksana::engine {

// Owns a thread that runs one loop. The thread sleeps until the loop has work. If a step fails, the
// thread waits with exponential backoff, tells the observer, and tries again. Thread-safe.
class LoopRunner final : public Service {
  public:
    // The longest sleep, which bounds the damage of a lost wake-up.
    static constexpr Duration kLongestSleep = std::chrono::seconds(5);
    static constexpr Duration kFirstBackoff = std::chrono::milliseconds(50);
    static constexpr Duration kLongestBackoff = std::chrono::seconds(5);

    // `clock`, `changes` and `observer` must outlive the runner. `observer` may be null.
    LoopRunner(Loop loop, Clock& clock, store::ChangeFeed& changes, Observer* observer);

    std::string_view name() const override { return loop_.name; }
    Result<void> Start() override;
    void Stop() override;

    // Makes the loop run as soon as possible. Any thread.
    void Wake() { wakeup_.Notify(); }

    bool while_draining() const { return loop_.while_draining; }

    // Returns when the thread was last between two steps, or asleep. Any thread.
    SteadyPoint last_step() const { return SteadyPoint(std::chrono::nanoseconds(last_step_)); }

  private:
    void Run(const std::stop_token& stop);
    // Returns how late the step is that follows; none: the loop was woken, or has slept enough.
    std::optional<Duration> WaitFor(const Step& step, const std::stop_token& stop);
    Result<Step> RunOnce();
    void NoteStep(std::optional<Duration> late, SteadyPoint began);
    void PauseAfter(const Error& error, const std::stop_token& stop);

    const Loop loop_;
    Clock& clock_;
    store::ChangeFeed& changes_;
    Observer* const observer_;
    Wakeup wakeup_;
    std::atomic<std::int64_t> last_step_{0};
    Duration backoff_{};  // used by the loop's thread only; zero: the last step succeeded
    Mutex mutex_;
    std::optional<store::ChangeFeed::Subscription> subscription_ KSANA_GUARDED_BY(mutex_);
    LoopThread thread_;
};

}  // namespace ksana::engine
