#include "ksana/store/text_search.hpp"

#include <algorithm>

#include "ksana/base/text/names.hpp"

namespace ksana::store {

std::vector<std::string> SearchWords(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    std::vector<std::string> words;
    while (words.size() < kMaxSearchWords) {
        const std::size_t begin = text.find_first_not_of(kBlanks);
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
        words.push_back(LowerText(text.substr(0, end)));
        text.remove_prefix(end);
    }
    return words;
}

bool ContainsWords(std::span<const std::string> words,
                   std::initializer_list<std::string_view> fields) {
    if (words.empty()) return true;
    std::vector<std::string> lower;
    for (const std::string_view field : fields) lower.push_back(LowerText(field));
    return std::ranges::all_of(words, [&](const std::string& word) {
        return std::ranges::any_of(
            lower, [&](const std::string& field) { return field.find(word) != std::string::npos; });
    });
}

}  // namespace ksana::store
