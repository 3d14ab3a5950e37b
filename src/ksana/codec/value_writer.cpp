#include "ksana/codec/value_writer.hpp"

#include <algorithm>

#include "ksana/base/duration_text.hpp"
#include "ksana/base/time_text.hpp"
#include "ksana/base/utf8.hpp"
#include "ksana/codec/json_parse.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;

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

// JSON is UTF-8 and the parser insists on it: one stray byte in an error text would make a whole
// file unreadable.
json::value ValueWriter::Make(const std::string& text) const {
    if (form_ == JsonForm::kDefinition || IsUtf8(text)) return Plain(text);
    json::object object(storage_);
    object.emplace("hex", Plain(Hex(text)));
    return object;
}

json::value ValueWriter::Make(Duration duration) const { return Plain(FormatDuration(duration)); }

json::value ValueWriter::Make(TimePoint instant) const { return Plain(FormatTime(instant)); }

json::value ValueWriter::Make(const Uuid& id) const { return Plain(id.ToString()); }

json::value ValueWriter::Make(model::RunStates states) const {
    json::array names(storage_);
    for (std::size_t i = 0; i < model::kEnumCount<model::RunState>; ++i) {
        const auto state = static_cast<model::RunState>(i);
        if ((states & model::SetOf(state)) != 0) names.push_back(Make(state));
    }
    return names;
}

json::value ValueWriter::Make(const TextMap& map) const {
    const bool plain_keys =
        form_ == JsonForm::kDefinition ||
        std::all_of(map.begin(), map.end(), [](const auto& entry) { return IsUtf8(entry.first); });
    if (plain_keys) {
        json::object object(storage_);
        object.reserve(map.size());
        for (const auto& [key, value] : map) object.emplace(key, Make(value));
        return object;
    }
    // A member's name cannot be {"hex": …}: pairs instead.
    json::array pairs(storage_);
    for (const auto& [key, value] : map) {
        json::array pair(storage_);
        pair.push_back(Make(key));
        pair.push_back(Make(value));
        pairs.push_back(std::move(pair));
    }
    return pairs;
}

json::value ValueWriter::MakeJson(const std::string& text) const {
    if (form_ == JsonForm::kRecord) return Make(text);
    if (text.empty()) return json::value(nullptr, storage_);
    const auto parsed = ParseJson(text);
    return parsed ? json::value(*parsed, storage_) : Make(text);
}

}  // namespace ksana::codec
