#pragma once

#include <array>
#include <charconv>
#include <string>

namespace ksana {

// Appends the shortest decimal text that reads back as the same number.
template <class T>
void AppendNumber(std::string& out, T value) {
    std::array<char, 32> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    out.append(buffer.data(), end);
}

}  // namespace ksana
