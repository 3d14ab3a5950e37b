#include "ksana/codec/json/json_parse.hpp"

#include <fmt/core.h>

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ksana/base/text/utf8.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;

// Builds the value and checks what the library accepts but ParseJson refuses. basic_parser calls it
// during one parse.
class Handler {
  public:
    // NOLINTBEGIN(readability-identifier-naming): the names are the library's
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();
    // NOLINTEND(readability-identifier-naming)

    Handler(std::size_t most_values, std::size_t most_members)
        : most_values_(most_values), most_members_(most_members) {}

    json::value Release() { return stack_.release(); }
    void Reset() { stack_.reset(); }
    const std::optional<std::string>& duplicate() const { return duplicate_; }
    const std::optional<std::string>& bad_number() const { return bad_number_; }
    const std::string& too_much() const { return too_much_; }

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_object_begin(json::error_code& error) {
        keys_.emplace_back();
        return Count(error);
    }
    bool on_object_end(std::size_t n, json::error_code&) {
        members_ -= keys_.back().size();
        keys_.pop_back();
        stack_.push_object(n);
        return true;
    }
    bool on_array_begin(json::error_code& error) { return Count(error); }
    bool on_array_end(std::size_t n, json::error_code&) {
        stack_.push_array(n);
        return true;
    }
    bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
        key_.append(part.data(), part.size());
        stack_.push_chars(part);
        return true;
    }
    bool on_key(json::string_view part, std::size_t, json::error_code& error) {
        key_.append(part.data(), part.size());
        if (!keys_.back().insert(key_).second) {
            duplicate_ = key_;
            error = json::error::not_found;  // any error stops the parser; `duplicate_` tells why
            return false;
        }
        if (++members_ > most_members_) {
            return TooMuch(fmt::format("an object has more than {} members", most_members_), error);
        }
        key_.clear();
        stack_.push_key(part);
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, json::error_code&) {
        stack_.push_chars(part);
        return true;
    }
    bool on_string(json::string_view part, std::size_t, json::error_code& error) {
        stack_.push_string(part);
        return Count(error);
    }
    bool on_number_part(json::string_view part, json::error_code&) {
        number_.append(part.data(), part.size());
        return true;
    }
    bool on_int64(std::int64_t value, json::string_view, json::error_code& error) {
        number_.clear();
        stack_.push_int64(value);
        return Count(error);
    }
    bool on_uint64(std::uint64_t value, json::string_view, json::error_code& error) {
        number_.clear();
        stack_.push_uint64(value);
        return Count(error);
    }
    // Boost.JSON 1.81 rounds some numbers incorrectly and reads 1e999 as infinity. So numbers are
    // parsed again, and those that neither a double nor a 64-bit integer can hold are refused.
    bool on_double(double, json::string_view part, json::error_code& error) {
        number_.append(part.data(), part.size());
        double value = 0;
        const char* end = number_.data() + number_.size();
        const auto read = std::from_chars(number_.data(), end, value);
        const bool whole = number_.find_first_of(".eE") == std::string::npos;
        if (read.ec != std::errc() || read.ptr != end || whole) {
            bad_number_ = number_;
            error = json::error::not_number;
            return false;
        }
        number_.clear();
        stack_.push_double(value);
        return Count(error);
    }
    bool on_bool(bool value, json::error_code& error) {
        stack_.push_bool(value);
        return Count(error);
    }
    bool on_null(json::error_code& error) {
        stack_.push_null();
        return Count(error);
    }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

  private:
    bool Count(json::error_code& error) {
        if (++values_ <= most_values_) return true;
        return TooMuch(fmt::format("it has more than {} values", most_values_), error);
    }
    // Stops the parser.
    bool TooMuch(std::string what, json::error_code& error) {
        too_much_ = std::move(what);
        error = json::error::array_too_large;
        return false;
    }

    const std::size_t most_values_;
    const std::size_t most_members_;
    std::size_t values_ = 0;
    std::size_t members_ = 0;  // of the open objects
    json::value_stack stack_;
    std::vector<std::set<std::string>> keys_;  // of the open objects
    std::string key_;
    std::string number_;
    // Reasons for stopping that are not the library's.
    std::optional<std::string> duplicate_;
    std::optional<std::string> bad_number_;
    std::string too_much_;
};

// Returns how many values a text of this size may have.
std::size_t MostValues(std::string_view text, const JsonLimits& limits) {
    constexpr std::size_t kBytesOfAValue = 16;
    const std::size_t more = text.size() / kBytesOfAValue;
    return limits.values > JsonLimits::kAny - more ? JsonLimits::kAny : limits.values + more;
}

std::string Place(std::string_view text, std::size_t offset) {
    std::size_t line = 1;
    std::size_t column = 1;
    for (const char c : text.substr(0, offset)) {
        column = c == '\n' ? 1 : column + 1;
        line += c == '\n' ? 1 : 0;
    }
    return fmt::format("line {}, column {}", line, column);
}

std::string Reason(const json::error_code& error) {
    if (error == json::error::incomplete) return "it ends too early";
    if (error == json::error::too_deep) return "it is nested too deeply";
    if (error == json::error::extra_data) return "something follows the document";
    return error.message();
}

}  // namespace

Result<json::value> ParseJson(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes) {
        return Error(Code::kInvalidArgument,
                     fmt::format("the JSON document is larger than {} bytes", limits.bytes));
    }
    json::parse_options options;
    options.max_depth = limits.depth;
    json::basic_parser<Handler> parser(options, MostValues(text, limits), limits.members);
    parser.handler().Reset();
    json::error_code error;
    const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
    const Handler& handler = parser.handler();
    if (handler.duplicate()) {
        return Error(Code::kInvalidArgument,
                     fmt::format("not JSON we accept: the key \"{}\" stands twice, {}",
                                 Excerpt(*handler.duplicate(), 80), Place(text, used)));
    }
    if (handler.bad_number()) {
        return Error(Code::kInvalidArgument,
                     fmt::format("not JSON we accept: the number {} is too large to be kept "
                                 "exactly; write it as a string, {}",
                                 Excerpt(*handler.bad_number(), 40), Place(text, used)));
    }
    if (!handler.too_much().empty()) {
        return Error(Code::kInvalidArgument, fmt::format("not JSON we accept: {}, {}",
                                                         handler.too_much(), Place(text, used)));
    }
    if (!error && text.find_first_not_of(" \t\r\n", used) != std::string_view::npos) {
        error = json::error::extra_data;
    }
    if (error) {
        return Error(Code::kInvalidArgument,
                     fmt::format("not JSON: {}, {}", Reason(error), Place(text, used)));
    }
    return parser.handler().Release();
}

void WriteValue(JsonOutput& output, const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            output.Null();
            break;
        case json::kind::bool_:
            output.Bool(value.get_bool());
            break;
        case json::kind::int64:
            output.Int(value.get_int64());
            break;
        case json::kind::uint64:
            output.Unsigned(value.get_uint64());
            break;
        case json::kind::double_:
            output.Double(value.get_double());
            break;
        case json::kind::string:
            output.Text(value.get_string());
            break;
        case json::kind::array:
            output.BeginArray();
            for (const json::value& item : value.get_array()) WriteValue(output, item);
            output.EndArray();
            break;
        case json::kind::object:
            output.BeginObject();
            for (const auto& member : value.get_object()) {
                output.Key(member.key());
                WriteValue(output, member.value());
            }
            output.EndObject();
            break;
    }
}

std::string WriteJson(const json::value& value, JsonStyle style) {
    JsonOutput output(style);
    WriteValue(output, value);
    return output.Take();
}

}  // namespace ksana::codec
