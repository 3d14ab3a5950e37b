#include "ksana/codec/json_write.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace ksana::codec {
namespace {

namespace json = boost::json;

constexpr bool NeedsEscape(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

// How many characters from the start need no escape. Eight at a time: a byte below 0x20, or one
// that the exclusive or makes zero, borrows from its highest bit.
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

class Writer {
  public:
    explicit Writer(JsonStyle style) : pretty_(style == JsonStyle::kPretty) { text_.reserve(512); }

    void Write(const json::value& value, int depth) {
        switch (value.kind()) {
            case json::kind::null:
                text_ += "null";
                break;
            case json::kind::bool_:
                text_ += value.get_bool() ? "true" : "false";
                break;
            case json::kind::int64:
                text_ += std::to_string(value.get_int64());
                break;
            case json::kind::uint64:
                text_ += std::to_string(value.get_uint64());
                break;
            case json::kind::double_:
                WriteDouble(value.get_double());
                break;
            case json::kind::string:
                Quote(value.get_string());
                break;
            case json::kind::array:
                WriteArray(value.get_array(), depth);
                break;
            case json::kind::object:
                WriteObject(value.get_object(), depth);
                break;
        }
    }

    std::string Take() { return std::move(text_); }

  private:
    // Whole stretches that need no escape go out at once.
    void Quote(std::string_view text) {
        text_ += '"';
        for (std::size_t n = PlainPrefix(text); n < text.size(); n = PlainPrefix(text)) {
            text_.append(text, 0, n);
            Escape(text[n]);
            text.remove_prefix(n + 1);
        }
        text_.append(text);
        text_ += '"';
    }

    void Escape(char c) {
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

    void WriteDouble(double number) {
        // JSON has no word for these, and none of our readers makes them.
        if (!std::isfinite(number)) {
            text_ += "null";
            return;
        }
        std::array<char, 32> buffer{};
        const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
        const std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
        text_ += digits;
        // Stays a fraction when it is read again: -0.0 and 1.0 are not the integers 0 and 1.
        if (digits.find_first_of(".e") == std::string_view::npos) text_ += ".0";
    }

    void NewLine(int depth) {
        if (!pretty_) return;
        text_ += '\n';
        text_.append(static_cast<std::size_t>(depth) * 2, ' ');
    }

    void WriteArray(const json::array& array, int depth) {
        text_ += '[';
        for (std::size_t i = 0; i < array.size(); ++i) {
            if (i > 0) text_ += ',';
            NewLine(depth + 1);
            Write(array[i], depth + 1);
        }
        if (!array.empty()) NewLine(depth);
        text_ += ']';
    }

    void WriteObject(const json::object& object, int depth) {
        text_ += '{';
        bool first = true;
        for (const auto& member : object) {
            if (!first) text_ += ',';
            first = false;
            NewLine(depth + 1);
            Quote(member.key());
            text_ += pretty_ ? ": " : ":";
            Write(member.value(), depth + 1);
        }
        if (!object.empty()) NewLine(depth);
        text_ += '}';
    }

    bool pretty_;
    std::string text_;
};

}  // namespace

std::string WriteJson(const json::value& value, JsonStyle style) {
    Writer writer(style);
    writer.Write(value, 0);
    return writer.Take();
}

}  // namespace ksana::codec
