#include "ksana/base/text/escape.hpp"

namespace ksana {

// Letters and digits are those of ASCII, independent of the locale.
std::string PercentEncode(std::string_view text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string encoded;
    encoded.reserve(text.size());
    for (const char c : text) {
        if (kPlain.find(c) != std::string_view::npos) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += kDigits[byte >> 4U];
        encoded += kDigits[byte & 0xFU];
    }
    return encoded;
}

std::string PointerStep(std::string_view key) {
    std::string step = "/";
    for (const char c : key) {
        if (c == '~') {
            step += "~0";
        } else if (c == '/') {
            step += "~1";
        } else {
            step += c;
        }
    }
    return step;
}

std::string UnescapePointerStep(std::string_view step) {
    std::string key;
    for (std::size_t i = 0; i < step.size(); ++i) {
        const bool escaped = step[i] == '~' && i + 1 < step.size();
        if (escaped) ++i;
        key += !escaped ? step[i] : step[i] == '1' ? '/' : '~';
    }
    return key;
}

}  // namespace ksana
