#include "ksana/base/identifier.hpp"

#include <algorithm>

namespace ksana {

bool IsIdentifier(std::string_view text) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.' || c == ':';
    };
    return !text.empty() && text.size() <= kMaxIdentifierLength &&
           std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace ksana
