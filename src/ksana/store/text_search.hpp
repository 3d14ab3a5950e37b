#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ksana::store {

// What the text of a search means on every store: every word must occur somewhere in the fields,
// as a part of a word too; A–Z equal a–z, all other characters only themselves.
inline constexpr std::size_t kMaxSearchWords = 8;

// The words of a search in lower case; what is beyond kMaxSearchWords is not looked for.
std::vector<std::string> SearchWords(std::string_view text);

std::string LowerAscii(std::string_view text);

bool ContainsWords(std::span<const std::string> words,
                   std::initializer_list<std::string_view> fields);

}  // namespace ksana::store
