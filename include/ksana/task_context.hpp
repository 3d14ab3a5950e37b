#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ksana/base/time/time.hpp"

namespace ksana {

namespace detail {
class Execution;
}

// One attempt at a task, as its handler sees it. Valid until the handler returns. Thread-safe.
class TaskContext {
  public:
    explicit TaskContext(detail::Execution& execution) : execution_(execution) {}
    TaskContext(const TaskContext&) = delete;
    TaskContext& operator=(const TaskContext&) = delete;

    // The id of the task, the same for all attempts: the idempotency key of its work.
    std::string id() const;
    const std::string& exec_id() const;  // of this attempt
    const std::string& type() const;
    const std::string& job_id() const;  // empty: submitted directly
    // The input as JSON; "null" if there was none.
    const std::string& payload() const;
    int attempt() const;  // 1, 2, …
    // Grows with every attempt: a resource can refuse requests with an older number.
    std::int64_t fence() const;
    // W3C trace context of the attempt: a header `traceparent` for what the handler calls.
    const std::string& traceparent() const;

    // Whether the handler is to end: a user cancelled the task, its time is over, its lease is
    // lost, or the worker stops. A handler that looks at this, or waits with Sleep, ends soon; any
    // other is waited for, and is recorded as not stopping after its grace period.
    bool cancelled() const;
    // Throws TaskCancelled if cancelled().
    void Check() const;
    // Waits. Returns false at once when the handler is to end.
    bool Sleep(Duration time);
    std::optional<TimePoint> deadline() const;

    // Tells how far the task is, 0 to 100, and what it does. Sent with the next renewal, soon.
    void Progress(int percent, std::string_view note = {});
    // Keeps a line with the attempt; of too many the oldest are dropped.
    void Log(std::string_view line);

  private:
    detail::Execution& execution_;
};

// What a handler may throw beside any other exception, which is a failure that the policy of the
// task retries.

// Fails the task without a retry.
class PermanentFailure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Fails the attempt: retried as the policy says, but not before `after`.
class RetryAfter : public std::runtime_error {
  public:
    RetryAfter(Duration pause, const std::string& message)
        : std::runtime_error(message), after(pause) {}
    const Duration after;
};

// Wants the task later. No failure: uses up no retry.
class Snooze : public std::exception {
  public:
    explicit Snooze(Duration pause) : after(pause) {}
    const char* what() const noexcept override { return "snoozed"; }
    const Duration after;
};

// Thrown by TaskContext::Check.
class TaskCancelled : public std::exception {
  public:
    const char* what() const noexcept override { return "the task is to end"; }
};

// Carries out tasks of one type. Returns the result as JSON; "" for none.
using TaskHandler = std::function<std::string(TaskContext&)>;

namespace detail {

// Makes a TaskHandler of a function that returns void or JSON.
template <class Function>
TaskHandler MakeTaskHandler(Function function) {
    using Answer = std::invoke_result_t<Function&, TaskContext&>;
    static_assert(std::is_void_v<Answer> || std::is_convertible_v<Answer, std::string>,
                  "a handler returns void, or its result as JSON in a std::string");
    // Shared, so that the function need not be copyable.
    auto shared = std::make_shared<Function>(std::move(function));
    return [shared](TaskContext& task) -> std::string {
        if constexpr (std::is_void_v<Answer>) {
            (*shared)(task);
            return {};
        } else {
            return (*shared)(task);
        }
    };
}

}  // namespace detail
}  // namespace ksana
