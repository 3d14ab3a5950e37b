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

// Returns whether one of eight bytes needs an escape. A byte below 0x20, or one that the exclusive
// or makes zero, borrows from its highest bit.
constexpr bool AnyNeedsEscape(std::uint64_t word) {
    constexpr std::uint64_t kOnes = 0x0101010101010101;
    constexpr std::uint64_t kHigh = 0x8080808080808080;
    const auto below = [](std::uint64_t bytes, std::uint64_t limit) {
        return (bytes - kOnes * limit) & ~bytes & kHigh;
    };
    return (below(word, 0x20) | below(word ^ kOnes * '"', 1) | below(word ^ kOnes * '\\', 1)) != 0;
}

template <class Word>
std::uint64_t Load(const char* bytes) {
    Word word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

// Returns whether no character needs an escape. The last words overlap, so that short texts (most
// keys and names) take a few steps.
bool IsPlain(std::string_view text) {
    const char* const end = text.data() + text.size();
    if (text.size() >= 8) {
        for (const char* at = text.data(); end - at > 8; at += 8) {
            if (AnyNeedsEscape(Load<std::uint64_t>(at))) return false;
        }
        return !AnyNeedsEscape(Load<std::uint64_t>(end - 8));
    }
    if (text.size() >= 4) {
        return !AnyNeedsEscape(Load<std::uint32_t>(text.data()) << 32U |
                               Load<std::uint32_t>(end - 4));
    }
    for (const char c : text) {
        if (NeedsEscape(c)) return false;
    }
    return true;
}

// Returns how many characters from the start need no escape.
std::size_t PlainPrefix(std::string_view text) {
    std::size_t n = 0;
    while (n + 8 <= text.size() && !AnyNeedsEscape(Load<std::uint64_t>(text.data() + n))) n += 8;
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
    for (std::size_t n = IsPlain(text) ? text.size() : PlainPrefix(text); n < text.size();
         n = PlainPrefix(text)) {
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
