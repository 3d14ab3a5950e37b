#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace ksana {

template <class T = void>
class Task;

namespace detail {

// The part of a promise that does not depend on the result. `continuation` is the coroutine that
// awaits this one; none for the outermost.
struct TaskPromiseBase {
    std::coroutine_handle<> continuation;
    std::exception_ptr failure;

    struct FinalAwaiter {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
            const std::coroutine_handle<> next = ended.promise().continuation;
            return next ? next : std::noop_coroutine();
        }
        void await_resume() const noexcept {}
    };

    std::suspend_always initial_suspend() const noexcept { return {}; }
    FinalAwaiter final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { failure = std::current_exception(); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
    std::optional<T> value;

    Task<T> get_return_object() noexcept;
    template <class Value>
    void return_value(Value&& given) {
        value.emplace(std::forward<Value>(given));
    }
    T Take() {
        if (failure) std::rethrow_exception(failure);
        return std::move(*value);
    }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
    Task<void> get_return_object() noexcept;
    void return_void() const noexcept {}
    void Take() const {
        if (failure) std::rethrow_exception(failure);
    }
};

}  // namespace detail

// A coroutine that starts when it is awaited and returns a T. The scheduler awaits the task of a
// job; a task may await others. Owns the coroutine: destroying a task that has not ended destroys
// its frame. An exception that leaves the coroutine is thrown again where it is awaited.
//
// A task must be awaited at most once. It runs on the scheduler's threads, possibly on another one
// after each co_await.
template <class T>
class [[nodiscard]] Task {
  public:
    using promise_type = detail::TaskPromise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    Task() noexcept = default;
    explicit Task(Handle handle) noexcept : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&& other) noexcept {
        if (this != &other) {
            Destroy();
            handle_ = std::exchange(other.handle_, {});
        }
        return *this;
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() { Destroy(); }

    struct Awaiter {
        Handle awaited;
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
            awaited.promise().continuation = caller;
            return awaited;
        }
        T await_resume() const { return awaited.promise().Take(); }
    };
    Awaiter operator co_await() const noexcept { return Awaiter{handle_}; }

    // For the scheduler and for tests that run a coroutine without one.
    Handle handle() const noexcept { return handle_; }

  private:
    void Destroy() noexcept {
        if (handle_) handle_.destroy();
    }

    Handle handle_;
};

namespace detail {

template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
    return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}

inline Task<void> TaskPromise<void>::get_return_object() noexcept {
    return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}

}  // namespace detail

}  // namespace ksana
