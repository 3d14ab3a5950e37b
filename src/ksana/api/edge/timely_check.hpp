#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/loop_thread.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"

namespace ksana::api {

// A check that may hang (a store whose server no longer answers), for those who must have an answer
// in time: one thread carries it out, once for all who ask meanwhile, and another tells those who
// have waited for `patience` that nothing has come. While a check is overdue already, everybody is
// told so at once. Thread-safe.
class TimelyCheck {
  public:
    using Check = std::function<Result<void>()>;
    // Called once, on any thread, also on the one that asks; must not block.
    using Answer = std::function<void(Result<void>)>;

    // What `check` uses must outlive this. The name ("store") is for what is said about it.
    TimelyCheck(std::string name, Check check, Clock& clock, Duration patience);
    ~TimelyCheck();
    TimelyCheck(const TimelyCheck&) = delete;
    TimelyCheck& operator=(const TimelyCheck&) = delete;

    // Before the start and after the stop the answer is an error, at once.
    Result<void> Start();
    // Waits for the check under way, and answers whoever still waits.
    void Stop();

    void Ask(Answer answer);

    const std::string& name() const { return name_; }

  private:
    struct Waiting {
        Answer answer;
        SteadyPoint until;
    };
    using Line = std::deque<Waiting>;

    std::optional<Error> Join(Answer& answer);
    void CarryOut(const std::stop_token& stop);
    void Watch(const std::stop_token& stop);
    SteadyPoint NextDeadline();
    Line TakeLate();
    static Error Late(Duration silent);

    const std::string name_;
    const Check check_;
    Clock& clock_;
    const Duration patience_;
    Wakeup asked_;
    Wakeup joined_;
    Mutex mutex_;
    bool open_ KSANA_GUARDED_BY(mutex_) = false;
    Line waiting_ KSANA_GUARDED_BY(mutex_);                      // who came first stands first
    std::optional<SteadyPoint> since_ KSANA_GUARDED_BY(mutex_);  // a check is wanted or under way
    LoopThread carrier_;
    LoopThread watcher_;
};

}  // namespace ksana::api
