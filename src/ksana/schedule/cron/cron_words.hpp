#pragma once

#include <array>
#include <string_view>

// Characters, names and macros of cron expressions.

namespace ksana::schedule::internal {

constexpr bool IsBlank(char c) { return c == ' ' || c == '\t'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr bool IsLetter(char c) { return Upper(c) >= 'A' && Upper(c) <= 'Z'; }

constexpr std::string_view kMonthNames = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
constexpr std::string_view kWeekdayNames = "SUNMONTUEWEDTHUFRISAT";

// Returns the index of a three-letter name in a concatenation of such names, or -1.
constexpr int FindName(std::string_view names, std::string_view word) {
    if (word.size() != 3) return -1;
    for (std::size_t i = 0; i < names.size(); i += 3) {
        if (names[i] == Upper(word[0]) && names[i + 1] == Upper(word[1]) &&
            names[i + 2] == Upper(word[2])) {
            return static_cast<int>(i / 3);
        }
    }
    return -1;
}

struct Macro {
    std::string_view name;
    std::string_view meaning;
};

constexpr std::array<Macro, 7> kMacros = {{{"@yearly", "0 0 1 1 *"},
                                           {"@annually", "0 0 1 1 *"},
                                           {"@monthly", "0 0 1 * *"},
                                           {"@weekly", "0 0 * * 0"},
                                           {"@daily", "0 0 * * *"},
                                           {"@midnight", "0 0 * * *"},
                                           {"@hourly", "0 * * * *"}}};

constexpr bool EqualIgnoringCase(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (Upper(a[i]) != Upper(b[i])) return false;
    }
    return true;
}

}  // namespace ksana::schedule::internal
