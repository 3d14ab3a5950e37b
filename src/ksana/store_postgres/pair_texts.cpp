#include "ksana/store_postgres/pair_texts.hpp"

#include <fmt/core.h>

#include <charconv>

namespace ksana::store_postgres {

std::vector<std::string> PairTexts(const TextMap& pairs) {
    std::vector<std::string> texts;
    texts.reserve(pairs.size());
    for (const auto& [key, value] : pairs) {
        texts.push_back(fmt::format("{}:{}{}", key.size(), key, value));
    }
    return texts;
}

TextMap PairsOf(const std::vector<std::string>& texts) {
    TextMap pairs;
    for (const std::string_view text : texts) {
        const std::size_t colon = text.find(':');
        if (colon == std::string_view::npos) continue;
        std::size_t length = 0;
        std::from_chars(text.data(), text.data() + colon, length);
        const std::string_view rest = text.substr(colon + 1);
        if (length > rest.size()) continue;
        pairs.Add(std::string(rest.substr(0, length)), std::string(rest.substr(length)));
    }
    return pairs;
}

std::string ArrayText(const std::vector<std::string>& texts) {
    std::string out = "{";
    for (const std::string& text : texts) {
        if (out.size() > 1) out.push_back(',');
        out.push_back('"');
        for (const char c : text) {
            if (c == '"' || c == '\\') out.push_back('\\');
            out.push_back(c);
        }
        out.push_back('"');
    }
    out.push_back('}');
    return out;
}

}  // namespace ksana::store_postgres
