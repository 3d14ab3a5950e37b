#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace ksana::http_client {

// An immutable set of bytes. Has is one table lookup.
class CharSet {
  public:
    constexpr CharSet() = default;

    constexpr CharSet With(std::string_view characters) const {
        CharSet set = *this;
        for (const char c : characters) set.has_[static_cast<unsigned char>(c)] = true;
        return set;
    }

    // Adds the bytes from `first` to `last`, both included.
    constexpr CharSet With(unsigned char first, unsigned char last) const {
        CharSet set = *this;
        for (int c = first; c <= last; ++c) set.has_[static_cast<std::size_t>(c)] = true;
        return set;
    }

    constexpr bool Has(char c) const { return has_[static_cast<unsigned char>(c)]; }

    constexpr bool HasAll(std::string_view text) const {
        return std::ranges::all_of(text, [this](char c) { return Has(c); });
    }

  private:
    std::array<bool, 256> has_{};
};

}  // namespace ksana::http_client
