#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ksana::store {

// A search text matches, on every store, if each of its words occurs in at least one field, also
// inside a longer word. Only the ASCII letters A-Z are equal to a-z. Words after the first
// kMaxSearchWords are ignored.
inline constexpr std::size_t kMaxSearchWords = 8;

// Returns the first kMaxSearchWords words in lower case.
std::vector<std::string> SearchWords(std::string_view text);

// Returns whether every word (in lower case) occurs in at least one of the fields.
bool ContainsWords(std::span<const std::string> words,
                   std::initializer_list<std::string_view> fields);

}  // namespace ksana::store
