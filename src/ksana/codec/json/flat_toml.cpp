#include "ksana/codec/json/flat_toml.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "ksana/base/text/escape.hpp"
#include "ksana/codec/json/toml_parse.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxBytes = 1 << 20;

std::string_view KindOf(const json::value& value) {
    if (value.is_object()) return "a table";
    if (value.is_bool()) return "a boolean";
    if (value.is_array()) return "a list that holds more than texts";
    return "a number with a fraction";
}

decltype(FlatEntry::value) ValueOf(const json::value& value) {
    if (const auto* text = value.if_string()) return std::string(text->data(), text->size());
    if (const auto* number = value.if_int64()) return *number;
    if (const auto* truth = value.if_bool()) {
        return FlatEntry::Other{.kind = KindOf(value), .truth = *truth};
    }
    const auto* list = value.if_array();
    const auto is_text = [](const json::value& item) { return item.is_string(); };
    if (list == nullptr || !std::ranges::all_of(*list, is_text)) {
        return FlatEntry::Other{.kind = KindOf(value)};
    }
    std::vector<std::string> texts;
    for (const json::value& item : *list) texts.emplace_back(item.get_string());
    return texts;
}

}  // namespace

Result<std::vector<FlatEntry>> ParseFlatToml(std::string_view text) {
    KSANA_TRY(const TomlDocument document, ParseToml(text, kMaxBytes));
    std::vector<FlatEntry> entries;
    for (const auto& member : document.value.as_object()) {
        std::string key(member.key());
        const int line = document.line_of(PointerStep(key));
        entries.push_back({std::move(key), line, ValueOf(member.value())});
    }
    std::ranges::stable_sort(entries, {}, &FlatEntry::line);
    return entries;
}

}  // namespace ksana::codec
