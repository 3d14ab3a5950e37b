#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/base/error/error.hpp"

namespace ksana {

// Abort: value() was called on an error, or error() on a value.
[[noreturn]] void NoValue();
[[noreturn]] void NoError();

// A value or an Error: the return type of every function that can fail at run time and crosses a
// module boundary. The method names are those of std::expected, which g++ 12 has only in C++23, so
// that Result can become an alias later. Calling value() on an error, or error() on a value,
// aborts.
template <class T>
class [[nodiscard]] Result {
    static_assert(!std::is_same_v<std::remove_cv_t<T>, Error>, "an Error is not a value");

  public:
    using value_type = T;

    Result(T value) : value_(std::move(value)), has_value_(true) {}
    Result(const Error& error) : error_(error), has_value_(false) {}
    Result(Error&& error) : error_(std::move(error)), has_value_(false) {}

    Result(const Result& other) requires std::is_copy_constructible_v<T>
        : has_value_(other.has_value_) {
        has_value_ ? MakeValue(other.value_) : MakeError(other.error_);
    }
    Result(Result&& other) noexcept : has_value_(other.has_value_) {
        has_value_ ? MakeValue(std::move(other.value_)) : MakeError(std::move(other.error_));
    }
    Result& operator=(const Result& other) requires std::is_copy_constructible_v<T> {
        return *this = Result(other);
    }
    Result& operator=(Result&& other) noexcept {
        if (this == &other) return *this;
        End();
        has_value_ = other.has_value_;
        has_value_ ? MakeValue(std::move(other.value_)) : MakeError(std::move(other.error_));
        return *this;
    }
    ~Result() { End(); }

    bool has_value() const { return has_value_; }
    explicit operator bool() const { return has_value(); }

    T& value() & { return Get(*this); }
    const T& value() const& { return Get(*this); }
    T&& value() && { return std::move(Get(*this)); }

    T& operator*() & { return Get(*this); }
    const T& operator*() const& { return Get(*this); }
    T&& operator*() && { return std::move(Get(*this)); }
    T* operator->() { return &Get(*this); }
    const T* operator->() const { return &Get(*this); }

    Error& error() & { return GetError(*this); }
    const Error& error() const& { return GetError(*this); }
    Error&& error() && { return std::move(GetError(*this)); }

    T value_or(T fallback) const& { return has_value() ? Get(*this) : std::move(fallback); }

    // Calls f(value), which must return a Result; passes an error through.
    template <class F>
    auto and_then(F&& f) && -> std::invoke_result_t<F, T&&> {
        if (!has_value()) return std::move(GetError(*this));
        return std::forward<F>(f)(std::move(Get(*this)));
    }

    template <class F>
    auto transform(F&& f) && -> Result<std::invoke_result_t<F, T&&>> {
        if (!has_value()) return std::move(GetError(*this));
        return std::forward<F>(f)(std::move(Get(*this)));
    }

  private:
    template <class Self>
    static auto& Get(Self& self) {
        if (!self.has_value_) [[unlikely]]
            NoValue();
        return self.value_;
    }
    template <class Self>
    static auto& GetError(Self& self) {
        if (self.has_value_) [[unlikely]]
            NoError();
        return self.error_;
    }

    template <class From>
    void MakeValue(From&& from) {
        std::construct_at(std::addressof(value_), std::forward<From>(from));
    }
    template <class From>
    void MakeError(From&& from) {
        std::construct_at(&error_, std::forward<From>(from));
    }
    void End() { has_value_ ? std::destroy_at(std::addressof(value_)) : std::destroy_at(&error_); }

    // A hand-written union instead of std::variant: there are hundreds of Result types, and a
    // variant of each takes three times as long to compile.
    union {
        T value_;
        Error error_;
    };
    bool has_value_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    using value_type = void;

    Result() = default;
    Result(const Error& error) : error_(error) {}
    Result(Error&& error) : error_(std::move(error)) {}

    bool has_value() const { return !error_.has_value(); }
    explicit operator bool() const { return has_value(); }
    void value() const {
        if (!has_value()) [[unlikely]]
            NoValue();
    }

    const Error& error() const& {
        if (has_value()) [[unlikely]]
            NoError();
        return *error_;
    }
    Error&& error() && {
        if (has_value()) [[unlikely]]
            NoError();
        return std::move(*error_);
    }

  private:
    std::optional<Error> error_;
};

#define KSANA_CONCAT_INNER(a, b) a##b
#define KSANA_CONCAT(a, b) KSANA_CONCAT_INNER(a, b)

// KSANA_TRY(auto x, Compute()); declares x with the value, or returns the error from the enclosing
// function. The temporary's name comes from a counter, because a KSANA_TRY may stand inside a
// lambda that is an argument of another one.
#define KSANA_TRY(declaration, expression) \
    KSANA_TRY_IMPL(KSANA_CONCAT(ksana_try_, __COUNTER__), declaration, expression)
#define KSANA_TRY_IMPL(name, declaration, expression) \
    auto name = (expression);                         \
    if (!name) return std::move(name).error();        \
    declaration = std::move(name).value()

// The same for a Result<void>.
#define KSANA_TRY_VOID(expression) \
    KSANA_TRY_VOID_IMPL(KSANA_CONCAT(ksana_try_, __COUNTER__), expression)
#define KSANA_TRY_VOID_IMPL(name, expression)      \
    do {                                           \
        auto name = (expression);                  \
        if (!name) return std::move(name).error(); \
    } while (false)

}  // namespace ksana
