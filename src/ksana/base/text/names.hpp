#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace ksana {

// Converts ASCII letters only, independent of the locale.
constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Identifiers need no quoting in paths, keys and command lines: 1 to 128 letters, digits and
// - _ . :
inline constexpr std::size_t kMaxIdentifierLength = 128;
bool IsIdentifier(std::string_view text);

// Returns the candidate that `word` most likely stands for, for "did you mean …?": at most two
// typos away (insertion, deletion, substitution, transposition), ignoring case. nullopt if there is
// none.
std::optional<std::string_view> Nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}  // namespace ksana
