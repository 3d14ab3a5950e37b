#include "ksana/codec/toml_parse.hpp"

#include <fmt/core.h>
#include <toml++/toml.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <optional>
#include <sstream>

#include "ksana/base/json_pointer.hpp"
#include "ksana/base/utf8.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;

class Converter {
  public:
    json::value Convert(const toml::node& node, const std::string& path) {
        lines_[path] = static_cast<int>(node.source().begin.line);
        if (const auto* table = node.as_table()) return ConvertTable(*table, path);
        if (const auto* array = node.as_array()) return ConvertArray(*array, path);
        if (const auto* text = node.as_string()) return json::value(json::string(text->get()));
        if (const auto* number = node.as_integer()) return number->get();
        if (const auto* flag = node.as_boolean()) return flag->get();
        if (const auto* number = node.as_floating_point()) {
            // inf and nan exist in TOML only; null makes the reader say what it wanted.
            return std::isfinite(number->get()) ? json::value(number->get()) : json::value();
        }
        std::ostringstream text;
        if (const auto* date = node.as_date()) text << date->get();
        if (const auto* time = node.as_time()) text << time->get();
        if (const auto* instant = node.as_date_time()) text << instant->get();
        return json::value(json::string(text.str()));
    }

    std::map<std::string, int> TakeLines() { return std::move(lines_); }

  private:
    json::value ConvertTable(const toml::table& table, const std::string& path) {
        json::object object;
        for (const auto& [key, value] : table) {
            const std::string name(key.str());
            object[name] = Convert(value, path + PointerStep(name));
        }
        return object;
    }
    json::value ConvertArray(const toml::array& array, const std::string& path) {
        json::array out;
        for (std::size_t i = 0; i < array.size(); ++i) {
            out.push_back(Convert(array[i], path + "/" + std::to_string(i)));
        }
        return out;
    }

    std::map<std::string, int> lines_;
};

}  // namespace

Result<TomlDocument> ParseToml(std::string_view text, std::size_t max_bytes) {
    if (text.size() > max_bytes) {
        return Error(Code::kInvalidArgument,
                     fmt::format("the TOML document is larger than {} bytes", max_bytes));
    }
    if (!IsUtf8(text)) return Error(Code::kInvalidArgument, "not TOML: it is not UTF-8");
    toml::table table;
    try {
        table = toml::parse(text);
    } catch (const toml::parse_error& error) {
        const auto& at = error.source().begin;
        return Error(Code::kInvalidArgument,
                     fmt::format("not TOML: {}, line {}, column {}",
                                 Excerpt(error.description(), 200), at.line, at.column));
    }
    Converter converter;
    TomlDocument document;
    document.value = converter.Convert(table, "");
    document.lines = converter.TakeLines();
    return document;
}

}  // namespace ksana::codec
