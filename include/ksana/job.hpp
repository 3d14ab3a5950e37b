#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "ksana/base/time/time.hpp"
#include "ksana/context.hpp"
#include "ksana/logger.hpp"
#include "ksana/task.hpp"
#include "ksana/work_item.hpp"

namespace ksana {

// What a trigger hands to a run: names and values.
using Parameters = std::map<std::string, std::string, std::less<>>;

class JobContext;

namespace detail {

class Execution;
struct JobContextAccess;

// co_await context.Sleep(d): true after the whole time, false if the run was cancelled meanwhile.
class [[nodiscard]] SleepAwaiter : private WorkItem {
  public:
    SleepAwaiter(Execution& execution, Duration time);

    bool await_ready() const noexcept;
    bool await_suspend(std::coroutine_handle<> caller);
    bool await_resume() const noexcept { return due; }

  private:
    friend class Execution;
    static void Resume(WorkItem& item);

    Execution& execution_;
    const Duration time_;
    std::coroutine_handle<> caller_;
};

// Runs `call` on a thread where it may block, and resumes the coroutine afterwards.
class BlockingCall : private WorkItem {
  protected:
    explicit BlockingCall(Execution& execution);
    ~BlockingCall() = default;

    void Suspend(std::coroutine_handle<> caller);
    virtual void Call() noexcept = 0;

  private:
    static void RunCall(WorkItem& item);
    static void Resume(WorkItem& item);

    struct Resumption : WorkItem {
        explicit Resumption(BlockingCall& owner) : WorkItem(&BlockingCall::Resume), call(owner) {}
        BlockingCall& call;
    };

    Execution& execution_;
    Resumption resumption_{*this};
    std::coroutine_handle<> caller_;
};

template <class Function>
class [[nodiscard]] BlockingAwaiter final : BlockingCall {
  public:
    using Value = std::invoke_result_t<std::remove_reference_t<Function>&>;

    BlockingAwaiter(Execution& execution, Function&& function)
        : BlockingCall(execution), function_(std::forward<Function>(function)) {}

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> caller) { Suspend(caller); }
    Value await_resume() {
        if (failure_) std::rethrow_exception(failure_);
        if constexpr (!std::is_void_v<Value>) return std::move(*value_);
    }

  private:
    struct Nothing {};
    using Stored = std::conditional_t<std::is_void_v<Value>, Nothing, Value>;

    void Call() noexcept override {
        try {
            if constexpr (std::is_void_v<Value>) {
                function_();
            } else {
                value_.emplace(function_());
            }
        } catch (...) {
            failure_ = std::current_exception();
        }
    }

    Function function_;
    std::optional<Stored> value_;
    std::exception_ptr failure_;
};

}  // namespace detail

// One run of a job, as the job sees it. Made by the scheduler; valid until Run has ended. Any
// thread may call the const members.
class JobContext {
  public:
    explicit JobContext(detail::Execution& execution) : execution_(execution) {}
    JobContext(const JobContext&) = delete;
    JobContext& operator=(const JobContext&) = delete;

    const std::string& job_id() const;
    // The services of the application.
    Context& context() const;
    // The time that the schedule decided on, in UTC epoch milliseconds; not the time of the start,
    // which may be later. For a trigger, the time of the trigger.
    std::int64_t fire_time() const;
    // Named "ksana.jobs.ID".
    const Logger& logger() const;
    // What the trigger gave; empty for a fire of the schedule.
    const Parameters& parameters() const;
    // The number of the attempt: 1, and one more with each retry.
    int attempt() const;

    // A number that is larger than that of every earlier run of this job that held its lock: a
    // resource can use it to refuse a run that was thought to be over. 0: the run holds no lock.
    std::int64_t fence() const;
    // W3C trace context of the attempt: a header `traceparent` for what the run calls. Empty
    // without a store.
    const std::string& traceparent() const;

    // Whether the run is to end: its time is over, the scheduler shuts down, its lock was lost, or
    // a user cancelled it. A run that looks at this, or sleeps with Sleep, ends soon; any other is
    // waited for.
    bool cancelled() const;
    // When the run is cancelled because of its timeout; none: never.
    std::optional<TimePoint> deadline() const;

    // co_await context.Sleep(10ms): no thread waits meanwhile. Ends early, with false, when the run
    // is cancelled.
    detail::SleepAwaiter Sleep(Duration time) { return {execution_, time}; }
    // The same for a plain job; the thread waits.
    bool SleepOnThread(Duration time);

    // co_await context.Blocking([&] { return ReadFile(path); }): calls the function on a thread
    // that is meant for waiting, and returns its result or throws its exception.
    template <class Function>
    detail::BlockingAwaiter<Function> Blocking(Function&& function) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
        static_assert(
            std::is_lvalue_reference_v<Function> || std::is_trivially_destructible_v<Function>,
            "g++ destroys captures twice in a statement with co_await: give the lambda a "
            "name in a statement of its own, then co_await context.Blocking(name)");
#endif
        return {execution_, std::forward<Function>(function)};
    }

  private:
    friend struct detail::JobContextAccess;

    detail::Execution& execution_;
};

// A job as a coroutine: one class is one job. Its constructor gets what it asks for from the
// Context, by type. One object serves all runs; runs of one job never overlap. An exception that
// leaves Run is a failure of that run and of nothing else.
class JobExecutor {
  public:
    virtual ~JobExecutor() = default;
    virtual Task<> Run(JobContext& context) = 0;
};

// A job as a plain function. It occupies a thread of the scheduler while it runs.
class PlainJob {
  public:
    virtual ~PlainJob() = default;
    virtual void Run(JobContext& context) = 0;
};

}  // namespace ksana
