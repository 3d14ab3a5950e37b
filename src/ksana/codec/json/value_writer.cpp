#include "ksana/codec/json/value_writer.hpp"

#include <algorithm>

#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_parse.hpp"

namespace ksana::codec {
namespace {

std::string Hex(std::string_view bytes) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += kDigits[byte >> 4U];
        text += kDigits[byte & 0xFU];
    }
    return text;
}

}  // namespace

// JSON must be UTF-8, and the parser insists on it: a single invalid byte in an error text would
// make a whole file unreadable.
void ValueWriter::Write(const std::string& text) const {
    if (form_ == JsonForm::kDefinition || IsUtf8(text)) {
        output_.Text(text);
        return;
    }
    output_.BeginObject();
    output_.Key("hex");
    output_.Text(Hex(text));
    output_.EndObject();
}

void ValueWriter::Write(Duration duration) const { output_.Text(FormatDuration(duration)); }

void ValueWriter::Write(TimePoint instant) const { output_.Text(FormatTime(instant)); }

void ValueWriter::Write(const Uuid& id) const { output_.Text(id.ToString()); }

void ValueWriter::Write(model::RunStates states) const {
    output_.BeginArray();
    for (std::size_t i = 0; i < model::kEnumCount<model::RunState>; ++i) {
        const auto state = static_cast<model::RunState>(i);
        if ((states & model::SetOf(state)) != 0) Write(state);
    }
    output_.EndArray();
}

void ValueWriter::Write(const TextMap& map) const {
    const bool plain_keys =
        form_ == JsonForm::kDefinition ||
        std::all_of(map.begin(), map.end(), [](const auto& entry) { return IsUtf8(entry.first); });
    if (plain_keys) {
        output_.BeginObject();
        for (const auto& [key, value] : map) Member(key, value);
        output_.EndObject();
        return;
    }
    // A member name cannot be {"hex": …}, so the map is written as pairs.
    output_.BeginArray();
    for (const auto& [key, value] : map) {
        output_.BeginArray();
        Write(key);
        Write(value);
        output_.EndArray();
    }
    output_.EndArray();
}

void ValueWriter::WriteJsonText(const std::string& text) const {
    if (form_ == JsonForm::kRecord) return Write(text);
    if (text.empty()) return output_.Null();
    const auto parsed = ParseJson(text, LimitsOfStoredJson(text));
    if (!parsed) return Write(text);
    WriteValue(output_, *parsed);
}

}  // namespace ksana::codec
