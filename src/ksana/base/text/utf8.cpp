#include "ksana/base/text/utf8.hpp"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>

namespace ksana {
namespace {

struct Character {
    std::size_t bytes = 0;  // 0: malformed
    std::uint32_t code = 0;
};

Character Decode(std::string_view text) {
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) return {1, lead};
    std::size_t size = 0;
    std::uint32_t code = 0;
    if (lead >= 0xC2 && lead <= 0xDF) {
        size = 2;
        code = lead & 0x1FU;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        size = 3;
        code = lead & 0x0FU;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        size = 4;
        code = lead & 0x07U;
    }
    if (size == 0 || text.size() < size) return {};
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) return {};
        code = code << 6U | (byte(i) & 0x3FU);
    }
    const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (overlong || surrogate || code > 0x10FFFF) return {};
    return {size, code};
}

// C0, DEL and C1, and the two separators that some terminals and log readers treat as line breaks.
bool IsControl(std::uint32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029;
}

std::string Escape(std::uint32_t code) {
    if (code == '\n') return "\\n";
    if (code == '\r') return "\\r";
    if (code == '\t') return "\\t";
    return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

bool IsUtf8(std::string_view text) {
    while (!text.empty()) {
        // Most text is ASCII: skip eight bytes at a time.
        while (text.size() >= sizeof(std::uint64_t)) {
            std::uint64_t bytes = 0;
            std::memcpy(&bytes, text.data(), sizeof bytes);
            if ((bytes & 0x8080808080808080U) != 0) break;
            text.remove_prefix(sizeof bytes);
        }
        if (text.empty()) break;
        const Character character = Decode(text);
        if (character.bytes == 0) return false;
        text.remove_prefix(character.bytes);
    }
    return true;
}

std::string Printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const Character character = Decode(text);
        if (character.bytes == 0) {
            out += Escape(static_cast<unsigned char>(text[0]));
            text.remove_prefix(1);
            continue;
        }
        if (IsControl(character.code)) {
            out += Escape(character.code);
        } else {
            out.append(text.substr(0, character.bytes));
        }
        text.remove_prefix(character.bytes);
    }
    return out;
}

std::string_view CutText(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    std::size_t end = max_bytes;
    // Step back over continuation bytes, so as not to cut a character in two.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end);
}

std::string Excerpt(std::string_view text, std::size_t max_bytes) {
    const std::string_view cut = CutText(text, max_bytes);
    return cut.size() == text.size() ? Printable(text) : Printable(cut) + "...";
}

}  // namespace ksana
