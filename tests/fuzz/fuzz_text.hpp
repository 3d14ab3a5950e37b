#pragma once

#include <cstdint>
#include <string_view>

namespace ksana::fuzz {

// Returns libFuzzer's input as text.
inline std::string_view AsText(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace ksana::fuzz
