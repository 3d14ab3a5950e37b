#include "ksana/codec/json/json_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/json/json_parse.hpp"

namespace ksana::codec {

namespace json = boost::json;

bool IsJson(std::string_view text) { return ParseJson(text).has_value(); }

std::string QuoteJson(std::string_view text) {
    JsonOutput output;
    output.Text(text);
    return output.Take();
}

Result<std::vector<JsonMember>> JsonMembers(std::string_view object) {
    KSANA_TRY(const json::value parsed, ParseJson(object, LimitsOfStoredJson(object)));
    if (!parsed.is_object()) return Error(Code::kInvalidArgument, "not a JSON object");
    std::vector<JsonMember> members;
    members.reserve(parsed.get_object().size());
    for (const auto& member : parsed.get_object()) {
        const json::value& value = member.value();
        const auto key = member.key();
        JsonMember& made = members.emplace_back();
        made.name.assign(key.data(), key.size());
        made.json = WriteJson(value);
        if (value.is_string()) {
            made.text.assign(value.get_string().data(), value.get_string().size());
        } else if (!value.is_null()) {
            made.text = made.json;
        }
    }
    return members;
}

std::string WithoutNul(std::string text, std::size_t most) {
    if (text.find('\0') == std::string::npos) return text;
    std::string out;
    for (const char c : text) {
        if (c == '\0') {
            out += "\xEF\xBF\xBD";
        } else {
            out += c;
        }
    }
    return std::string(CutText(out, most));
}

}  // namespace ksana::codec
