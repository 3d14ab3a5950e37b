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

// Runs a check that may hang (a store whose server no longer answers) for callers that need an
// answer in time. One thread runs the check, once for all callers that ask meanwhile. Another
// thread answers callers that have waited for `patience` with kDeadlineExceeded. While a check is
// overdue, further callers get that error at once. Owned by the application. Thread-safe.
class TimedCheck {
  public:
    using Check = std::function<Result<void>()>;
    // Called exactly once, on any thread, possibly within Ask. Must not block.
    using Answer = std::function<void(Result<void>)>;

    // What `check` uses must outlive the object. `name` ("store") appears in reports and thread
    // names.
    TimedCheck(std::string name, Check check, Clock& clock, Duration patience);
    ~TimedCheck();
    TimedCheck(const TimedCheck&) = delete;
    TimedCheck& operator=(const TimedCheck&) = delete;

    // Starts both threads. Before Start and after Stop, Ask answers kUnavailable at once.
    Result<void> Start();
    // Answers all waiting callers with kUnavailable, then waits for the check in progress.
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
    Line waiting_ KSANA_GUARDED_BY(mutex_);                      // ordered by deadline
    std::optional<SteadyPoint> since_ KSANA_GUARDED_BY(mutex_);  // start of the check in progress
    LoopThread carrier_;
    LoopThread watcher_;
};

}  // namespace ksana::api
