#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace ksana::model {

// The stable names of an enumeration's values, used in JSON, SQL, logs and on the command line. A
// specialisation defines `kNames` in the order of the enumerators, which must count from 0.
template <class E>
struct EnumNames;

// Returns the name of a value.
template <class E>
constexpr std::string_view NameOf(E value) {
    return EnumNames<E>::kNames[static_cast<std::size_t>(value)];
}

// Returns the value with this name, or nullopt.
template <class E>
constexpr std::optional<E> FromName(std::string_view name) {
    for (std::size_t i = 0; i < EnumNames<E>::kNames.size(); ++i) {
        if (EnumNames<E>::kNames[i] == name) return static_cast<E>(i);
    }
    return std::nullopt;
}

template <class E>
inline constexpr std::size_t kEnumCount = EnumNames<E>::kNames.size();

}  // namespace ksana::model
