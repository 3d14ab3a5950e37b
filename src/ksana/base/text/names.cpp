#include "ksana/base/text/names.hpp"

#include <algorithm>
#include <vector>

namespace ksana {

std::string LowerText(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = Lower(c);
    return lower;
}

bool IsIdentifierChar(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
}

bool IsIdentifier(std::string_view text) {
    return !text.empty() && text.size() <= kMaxIdentifierLength && text != "." && text != ".." &&
           std::ranges::all_of(text, IsIdentifierChar);
}

namespace {

constexpr std::size_t kMaxSlips = 2;
constexpr std::size_t kMaxWord = 64;

// Damerau-Levenshtein distance (optimal string alignment); keeps three rows of the table.
std::size_t Distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
            if (i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
                Lower(a[i - 2]) == Lower(b[j - 1])) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above[b.size()];
}

}  // namespace

std::optional<std::string_view> Nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
    if (word.size() > kMaxWord) return std::nullopt;
    std::optional<std::string_view> best;
    std::size_t best_distance = kMaxSlips + 1;
    for (const std::string_view candidate : candidates) {
        const std::size_t longer = std::max(word.size(), candidate.size());
        const std::size_t shorter = std::min(word.size(), candidate.size());
        if (longer > kMaxWord || longer - shorter > kMaxSlips) continue;
        const std::size_t distance = Distance(word, candidate);
        // Two slips turn a three-letter word into almost any other.
        if (distance * 2 > longer) continue;
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace ksana
