#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "ksana/base/error/check.hpp"
#include "ksana/base/error/error.hpp"

namespace ksana {

// A value or an Error: what every call returns that can fail at run time and crosses a module
// boundary. Method names are those of std::expected, which g++ 12 has only in C++23, so that this
// can become an alias one day. Asking for the side that is not there is a programmer error.
template <class T>
class [[nodiscard]] Result {
    static_assert(!std::is_same_v<std::remove_cv_t<T>, Error>, "an Error is not a value");

  public:
    using value_type = T;

    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return state_.index() == 0; }
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

    // f(value) must return a Result; an error passes through.
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
        auto* value = std::get_if<0>(&self.state_);
        KSANA_CHECK(value != nullptr, "value() of a Result that holds an error");
        return *value;
    }
    template <class Self>
    static auto& GetError(Self& self) {
        auto* error = std::get_if<1>(&self.state_);
        KSANA_CHECK(error != nullptr, "error() of a Result that holds a value");
        return *error;
    }

    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    using value_type = void;

    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool has_value() const { return !error_.has_value(); }
    explicit operator bool() const { return has_value(); }
    void value() const { KSANA_CHECK(has_value(), "value() of a Result that holds an error"); }

    const Error& error() const& {
        KSANA_CHECK(error_.has_value(), "error() of a Result that holds a value");
        return *error_;
    }
    Error&& error() && {
        KSANA_CHECK(error_.has_value(), "error() of a Result that holds a value");
        return std::move(*error_);
    }

  private:
    std::optional<Error> error_;
};

#define KSANA_CONCAT_INNER(a, b) a##b
#define KSANA_CONCAT(a, b) KSANA_CONCAT_INNER(a, b)

// KSANA_TRY(auto x, Compute()); returns the error from the enclosing function, or declares x.
// Names come from a counter, because one may stand inside a lambda that is another's argument.
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
