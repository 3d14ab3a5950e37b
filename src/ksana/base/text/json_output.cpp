#include "ksana/base/text/json_output.hpp"

#include <cmath>
#include <cstring>

#include "ksana/base/text/number_text.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana {
namespace {

// Large enough for most jobs, and below the kilobyte up to which malloc takes its fast path.
constexpr std::size_t kUsualSize = 960;

constexpr bool NeedsEscape(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

// Returns the length of the prefix that needs no escape. Checks eight bytes at a time: a byte below
// 0x20, or one that the exclusive or turns to zero, borrows from its highest bit.
std::size_t PlainPrefix(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    constexpr std::uint64_t kHigh = 0x8080808080808080;
    const auto below = [](std::uint64_t word, std::uint64_t limit) {
        return (word - kOnes * limit) & ~word & kHigh;
    };
    std::size_t n = 0;
    for (; n + 8 <= text.size(); n += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + n, sizeof word);
        if ((below(word, 0x20) | below(word ^ kOnes * '"', 1) | below(word ^ kOnes * '\\', 1)) !=
            0) {
            break;
        }
    }
    while (n < text.size() && !NeedsEscape(text[n])) ++n;
    return n;
}

}  // namespace

JsonOutput::JsonOutput(JsonStyle style) : pretty_(style == JsonStyle::kPretty) {
    text_.reserve(kUsualSize);
}

void JsonOutput::Begin(char bracket) {
    Separate();
    text_ += bracket;
    ++depth_;
    first_ = true;
}

void JsonOutput::End(char bracket) {
    --depth_;
    if (!first_) NewLine();
    text_ += bracket;
    first_ = false;
}

void JsonOutput::Separate() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (depth_ == 0) return;
    if (!first_) text_ += ',';
    first_ = false;
    NewLine();
}

void JsonOutput::NewLine() {
    if (!pretty_) return;
    text_ += '\n';
    text_.append(depth_ * 2, ' ');
}

void JsonOutput::Key(std::string_view key) {
    Separate();
    Quote(key);
    text_ += ':';
    if (pretty_) text_ += ' ';
    after_key_ = true;
}

void JsonOutput::Text(std::string_view text) {
    Separate();
    Quote(text);
}

void JsonOutput::PrintableText(std::string_view text) {
    if (IsUtf8(text)) return Text(text);
    Text(Printable(text));
}

void JsonOutput::Bool(bool value) {
    Separate();
    text_ += value ? "true" : "false";
}

void JsonOutput::Int(std::int64_t value) {
    Separate();
    AppendNumber(text_, value);
}

void JsonOutput::Unsigned(std::uint64_t value) {
    Separate();
    AppendNumber(text_, value);
}

void JsonOutput::Double(double value) {
    if (!std::isfinite(value)) {
        Null();
        return;
    }
    Separate();
    const std::size_t start = text_.size();
    AppendNumber(text_, value);
    // Keeps the number a fraction when it is read again: -0.0 and 1.0 are not the integers 0 and 1.
    if (text_.find_first_of(".e", start) == std::string::npos) text_ += ".0";
}

void JsonOutput::Null() {
    Separate();
    text_ += "null";
}

void JsonOutput::Raw(std::string_view json) {
    Separate();
    text_ += json;
}

// Appends stretches without escapes as a whole.
void JsonOutput::Quote(std::string_view text) {
    text_ += '"';
    for (std::size_t n = PlainPrefix(text); n < text.size(); n = PlainPrefix(text)) {
        text_.append(text, 0, n);
        Escape(text[n]);
        text.remove_prefix(n + 1);
    }
    text_.append(text);
    text_ += '"';
}

void JsonOutput::Escape(char c) {
    static constexpr std::string_view kSpecial = "\"\\\b\f\n\r\t";
    static constexpr std::string_view kLetters = "\"\\bfnrt";
    static constexpr std::string_view kDigits = "0123456789abcdef";
    text_ += '\\';
    if (const std::size_t i = kSpecial.find(c); i != std::string_view::npos) {
        text_ += kLetters[i];
        return;
    }
    const auto byte = static_cast<unsigned char>(c);
    text_ += "u00";
    text_ += kDigits[byte >> 4U];
    text_ += kDigits[byte & 0xFU];
}

}  // namespace ksana
