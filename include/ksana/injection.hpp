#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "ksana/context.hpp"
#include "ksana/logger.hpp"

// How a job gets the arguments of its constructor. Internal to the library.

namespace ksana::detail {

// The name of a type as it is written in C++.
std::string NameOfType(const std::type_info& type);

// Thrown when arguments are missing; `types` names all of them.
struct MissingDependencies {
    std::vector<std::string> types;
};

// Finds the arguments of one constructor call, in order.
class Dependencies {
  public:
    Dependencies(Context& context, const std::type_info& owner)
        : context_(context), logger_(NameOfType(owner)) {}

    // Returns the bound object of the type. `last`: no other argument follows. `reference`: the
    // constructor takes it by reference to non-const.
    template <class T>
    T& Find(bool last, bool reference) {
        T* const found = Look(static_cast<T*>(nullptr));
        if (found == nullptr) missing_.push_back(NameOfType(typeid(T)));
        const bool is_over = last || (found == nullptr && !reference);
        if (is_over && !missing_.empty()) throw MissingDependencies{std::move(missing_)};
        // All missing types are to be named, so the search goes on with a reference that nothing
        // uses: it throws after the last argument, before the constructor is entered. An argument
        // that may be copied cannot be stood in for; there the search ends early.
        return found != nullptr ? *found : *static_cast<T*>(StandIn());
    }

  private:
    static void* StandIn();

    template <class T>
    T* Look(T*) {
        return context_.Find<T>();
    }
    Context* Look(Context*) { return &context_; }
    Logger* Look(Logger*) { return &logger_; }
    template <class T>
    std::shared_ptr<T>* Look(std::shared_ptr<T>*) {
        auto shared = std::make_shared<std::shared_ptr<T>>(context_.Share<T>());
        if (!*shared) return nullptr;
        kept_.push_back(shared);
        return shared.get();
    }

    Context& context_;
    Logger logger_;
    std::vector<std::string> missing_;
    std::deque<std::shared_ptr<void>> kept_;
};

// Converts to the parameter of Owner's constructor at its place.
template <class Owner>
struct Argument {
    Dependencies* from;
    bool last;
    bool reference;

    template <class T>
    requires(!std::is_same_v<std::remove_cv_t<T>, Owner>) operator T&() const {
        return from->template Find<std::remove_cv_t<T>>(last, reference);
    }
};

// The same for every parameter but a reference to non-const. Never called.
template <class Owner>
struct CopyableArgument {
    template <class T>
    requires(!std::is_same_v<std::remove_cv_t<T>, Owner>) operator T&&() const;
};

inline constexpr std::size_t kMostArguments = 12;

template <class Owner, std::size_t Place, std::size_t Copyable>
using ArgumentAt = std::conditional_t<Place == Copyable, CopyableArgument<Owner>, Argument<Owner>>;

template <class Owner, std::size_t Copyable, std::size_t... I>
constexpr bool TakesArguments(std::index_sequence<I...>) {
    return requires { Owner{std::declval<ArgumentAt<Owner, I, Copyable>>()...}; };
}

// The number of arguments of the constructor with the most of them; kMostArguments + 1: there is
// none that can be called.
template <class Owner, std::size_t Count = kMostArguments>
constexpr std::size_t ArgumentCount() {
    if constexpr (TakesArguments<Owner, kMostArguments>(std::make_index_sequence<Count>{})) {
        return Count;
    } else if constexpr (Count == 0) {
        return kMostArguments + 1;
    } else {
        return ArgumentCount<Owner, Count - 1>();
    }
}

template <class Owner, std::size_t... I>
std::unique_ptr<Owner> MakeWith(Dependencies& from, std::index_sequence<I...> all) {
    // Braces: the arguments are found from left to right.
    return std::unique_ptr<Owner>(new Owner{Argument<Owner>{
        &from, I + 1 == sizeof...(I), !TakesArguments<Owner, I>(decltype(all){})}...});
}

// Constructs an Owner with services of the context. Throws MissingDependencies, or what the
// constructor throws.
template <class Owner>
std::unique_ptr<Owner> Make(Context& context) {
    constexpr std::size_t kCount = ArgumentCount<Owner>();
    static_assert(kCount <= kMostArguments,
                  "the job needs a public constructor whose parameters are references, shared_ptrs "
                  "or a Logger");
    Dependencies from(context, typeid(Owner));
    return MakeWith<Owner>(from, std::make_index_sequence<kCount>{});
}

}  // namespace ksana::detail
