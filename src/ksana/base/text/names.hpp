#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ksana {

// Converts ASCII letters only, independent of the locale.
constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
std::string LowerText(std::string_view text);

// The rule for the ids and names of jobs, types, calendars, workers and all other things that have
// a path of their own. They need no quoting in paths, keys and command lines. "." and ".." would be
// taken out of a path by clients and proxies before it is sent: nobody could delete their bearer.
inline constexpr std::size_t kMaxIdentifierLength = 128;
inline constexpr std::string_view kIdentifierRule =
    "1 to 128 letters, digits and - _ . : long, and neither . nor ..";
bool IsIdentifier(std::string_view text);
bool IsIdentifierChar(char c);

// Returns the candidate that `word` most likely stands for, for "did you mean …?": at most two
// typos away (insertion, deletion, substitution, transposition), ignoring case. nullopt if there is
// none.
std::optional<std::string_view> Nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}  // namespace ksana
