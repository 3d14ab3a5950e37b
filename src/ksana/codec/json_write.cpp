#include "ksana/codec/json_write.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include <boost/json/serialize.hpp>

namespace ksana::codec {
namespace {

namespace json = boost::json;

class Writer {
  public:
    explicit Writer(JsonStyle style) : pretty_(style == JsonStyle::kPretty) {}

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
                text_ += json::serialize(value.get_string());
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
            text_ += json::serialize(member.key());
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
