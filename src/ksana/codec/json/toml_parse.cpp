#include "ksana/codec/json/toml_parse.hpp"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <charconv>
#include <cmath>
#include <memory>
#include <sstream>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;

// Converts TOML nodes to JSON values. Lives in one call of ParseToml.
class Converter {
  public:
    json::value Convert(const toml::node& node) {
        if (const auto* table = node.as_table()) {
            json::object object;
            for (const auto& [key, value] : *table) object[std::string(key.str())] = Convert(value);
            return object;
        }
        if (const auto* array = node.as_array()) {
            json::array out;
            for (const toml::node& item : *array) out.push_back(Convert(item));
            return out;
        }
        if (const auto* text = node.as_string()) return json::value(json::string(text->get()));
        if (const auto* number = node.as_integer()) return number->get();
        if (const auto* flag = node.as_boolean()) return flag->get();
        if (const auto* number = node.as_floating_point()) return Finite(number->get(), node);
        std::ostringstream text;
        if (const auto* date = node.as_date()) text << date->get();
        if (const auto* time = node.as_time()) text << time->get();
        if (const auto* instant = node.as_date_time()) text << instant->get();
        return json::value(json::string(text.str()));
    }

    // Returns the line of the first number that is not finite, or 0.
    toml::source_index bad_line() const { return bad_line_; }

  private:
    // Only TOML has inf and nan. Such a number becomes null, and bad_line() reports it.
    json::value Finite(double number, const toml::node& node) {
        if (std::isfinite(number)) return number;
        if (bad_line_ == 0) bad_line_ = node.source().begin.line;
        return nullptr;
    }

    toml::source_index bad_line_ = 0;
};

int LineOf(const toml::table& root, std::string_view pointer) {
    const toml::node* at = &root;
    while (pointer.starts_with('/')) {
        pointer.remove_prefix(1);
        const std::string step = UnescapePointerStep(pointer.substr(0, pointer.find('/')));
        const toml::node* below = nullptr;
        if (const auto* table = at->as_table()) {
            below = table->get(step);
        } else if (const auto* array = at->as_array()) {
            std::size_t index = 0;
            const auto read = std::from_chars(step.data(), step.data() + step.size(), index);
            if (read.ec == std::errc()) below = array->get(index);
        }
        if (below == nullptr) break;
        at = below;
        pointer.remove_prefix(std::min(pointer.find('/'), pointer.size()));
    }
    return std::max(static_cast<int>(at->source().begin.line), 1);
}

}  // namespace

Result<TomlDocument> ParseToml(std::string_view text, std::size_t max_bytes) {
    if (text.size() > max_bytes) {
        return Error(Code::kInvalidArgument,
                     fmt::format("the TOML document is larger than {} bytes", max_bytes));
    }
    if (!IsUtf8(text)) return Error(Code::kInvalidArgument, "not TOML: it is not UTF-8");
    auto table = std::make_shared<toml::table>();
    try {
        *table = toml::parse(text);
    } catch (const toml::parse_error& error) {
        const auto& at = error.source().begin;
        return Error(Code::kInvalidArgument,
                     fmt::format("not TOML: {}, line {}, column {}",
                                 Excerpt(error.description(), 200), at.line, at.column));
    }
    Converter converter;
    TomlDocument document;
    document.value = converter.Convert(*table);
    if (converter.bad_line() != 0) {
        return Error(Code::kInvalidArgument,
                     fmt::format("inf and nan are no numbers here, line {}", converter.bad_line()));
    }
    document.line_of = [table](std::string_view pointer) { return LineOf(*table, pointer); };
    return document;
}

}  // namespace ksana::codec
