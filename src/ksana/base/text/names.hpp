#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace ksana {

// Letters have no locale here: only those of ASCII have a lower case.
constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Something that goes into paths, keys and command lines without quoting: 1 to 128 letters, digits
// and - _ . :
inline constexpr std::size_t kMaxIdentifierLength = 128;
bool IsIdentifier(std::string_view text);

// The candidate that `word` was most likely meant to be: at most two typing slips away (insert,
// delete, change, swap of neighbours), upper and lower case taken as equal. For "did you mean …?".
std::optional<std::string_view> Nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}  // namespace ksana
