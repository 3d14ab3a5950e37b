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

// A thread around one loop. It sleeps until there is something to do; an error of the store makes
// it wait and try again, longer each time.
class LoopRunner final : public Service {
  public:
    // The longest sleep: the net under wake-ups that were lost on the way.
    static constexpr Duration kLongestSleep = std::chrono::seconds(5);
    static constexpr Duration kFirstBackoff = std::chrono::milliseconds(50);
    static constexpr Duration kLongestBackoff = std::chrono::seconds(5);

    // What is given must outlive it. The observer may be null.
    LoopRunner(Loop loop, Clock& clock, store::ChangeFeed& changes, Observer* observer);

    std::string_view name() const override { return loop_.name; }
    Result<void> Start() override;
    void Stop() override;

    // There is something to do. Any thread.
    void Wake() { wakeup_.Notify(); }

    // When the loop was last seen to be alive: between two steps.
    SteadyPoint last_step() const { return SteadyPoint(std::chrono::nanoseconds(last_step_)); }

  private:
    void Run(const std::stop_token& stop);
    void WaitFor(const Step& step, const std::stop_token& stop);
    void PauseAfter(const Error& error, const std::stop_token& stop);

    const Loop loop_;
    Clock& clock_;
    store::ChangeFeed& changes_;
    Observer* const observer_;
    Wakeup wakeup_;
    std::atomic<std::int64_t> last_step_{0};
    Duration backoff_{};  // only the thread; zero: the last step went well
    Mutex mutex_;
    std::optional<store::ChangeFeed::Subscription> subscription_ KSANA_GUARDED_BY(mutex_);
    LoopThread thread_;
};

}  // namespace ksana::engine
