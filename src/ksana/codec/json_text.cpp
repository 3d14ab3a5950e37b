#include "ksana/codec/json_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "ksana/codec/json_output.hpp"
#include "ksana/codec/json_parse.hpp"
#include "ksana/codec/json_write.hpp"

namespace ksana::codec {

namespace json = boost::json;

bool IsJson(std::string_view text) { return ParseJson(text).has_value(); }

std::string QuoteJson(std::string_view text) {
    JsonOutput output;
    output.Text(text);
    return output.Take();
}

Result<std::vector<JsonMember>> JsonMembers(std::string_view object) {
    KSANA_TRY(const json::value parsed, ParseJson(object));
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

}  // namespace ksana::codec
