#include "ksana/codec/json/json_tree.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <charconv>

#include "ksana/base/error/check.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/toml_parse.hpp"

namespace ksana::codec {

namespace json = boost::json;

namespace {

std::vector<std::string> StepsOf(std::string_view pointer) {
    std::vector<std::string> steps;
    while (!pointer.empty()) {
        KSANA_CHECK(pointer[0] == '/', "a JSON Pointer begins with /");
        const std::size_t end = std::min(pointer.find('/', 1), pointer.size());
        steps.push_back(UnescapePointerStep(pointer.substr(1, end - 1)));
        pointer.remove_prefix(end);
    }
    return steps;
}

const json::value* Step(const json::value& value, const std::string& step) {
    if (const json::object* object = value.if_object()) return object->if_contains(step);
    const json::array* array = value.if_array();
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    const bool is_index = error == std::errc() && end == step.data() + step.size();
    return array != nullptr && is_index ? array->if_contains(index) : nullptr;
}

std::string_view StdView(json::string_view text) { return {text.data(), text.size()}; }

}  // namespace

Json::Json() : value_(std::make_shared<const json::value>()) {}

Json Json::Make(json::value value) {
    return Json(std::make_shared<const json::value>(std::move(value)));
}

Result<Json> Json::Parse(std::string_view text, std::size_t max_bytes) {
    KSANA_TRY(json::value value, ParseJson(text, {.bytes = max_bytes,
                                                  .depth = 128,
                                                  .values = JsonLimits::kAny,
                                                  .members = JsonLimits::kAny}));
    return Make(std::move(value));
}

Result<Json> Json::ParseToml(std::string_view text,
                             std::function<int(std::string_view pointer)>* line_of) {
    KSANA_TRY(TomlDocument document, codec::ParseToml(text));
    if (line_of != nullptr) *line_of = std::move(document.line_of);
    return Make(std::move(document.value));
}

Json Json::Of(std::string_view text) { return Make(json::value(json::string(text))); }
Json Json::Of(std::int64_t number) { return Make(json::value(number)); }
Json Json::OfFlag(bool flag) { return Make(json::value(flag)); }

Json Json::Object() { return Make(json::value(json::object())); }

Json Json::Array(const std::vector<Json>& items) {
    json::array array;
    array.reserve(items.size());
    for (const Json& item : items) array.push_back(*item.value_);
    return Make(json::value(std::move(array)));
}

bool Json::IsNull() const { return value_->is_null(); }
bool Json::IsObject() const { return value_->is_object(); }
bool Json::IsArray() const { return value_->is_array(); }
bool Json::IsText() const { return value_->is_string(); }

Json Json::At(std::string_view pointer) const {
    const json::value* found = value_.get();
    for (const std::string& step : StepsOf(pointer)) {
        found = Step(*found, step);
        if (found == nullptr) return {};
    }
    return Json(std::shared_ptr<const json::value>(value_, found));
}

bool Json::Has(std::string_view pointer) const {
    const json::value* found = value_.get();
    for (const std::string& step : StepsOf(pointer)) {
        found = Step(*found, step);
        if (found == nullptr) return false;
    }
    return true;
}

std::string Json::Text() const {
    if (value_->is_null()) return "";
    if (const json::string* text = value_->if_string()) return {text->data(), text->size()};
    return WriteJson(*value_);
}

std::optional<std::int64_t> Json::Int() const {
    boost::system::error_code error;
    const auto number = value_->to_number<std::int64_t>(error);
    if (error) return std::nullopt;
    return number;
}

std::optional<double> Json::Number() const {
    boost::system::error_code error;
    const auto number = value_->to_number<double>(error);
    if (error) return std::nullopt;
    return number;
}

bool Json::True() const { return value_->is_bool() && value_->get_bool(); }

std::vector<Json> Json::Items() const {
    std::vector<Json> items;
    if (const json::array* array = value_->if_array()) {
        items.reserve(array->size());
        for (const json::value& item : *array) {
            items.push_back(Json(std::shared_ptr<const json::value>(value_, &item)));
        }
    }
    return items;
}

std::vector<std::pair<std::string, Json>> Json::Members() const {
    std::vector<std::pair<std::string, Json>> members;
    if (const json::object* object = value_->if_object()) {
        for (const auto& member : *object) {
            members.emplace_back(std::string(StdView(member.key())),
                                 Json(std::shared_ptr<const json::value>(value_, &member.value())));
        }
    }
    return members;
}

Json Json::With(std::string_view pointer, const Json& value) const {
    json::value copy = *value_;
    json::value* place = &copy;
    for (const std::string& step : StepsOf(pointer)) {
        if (!place->is_object()) *place = json::object();
        place = &place->get_object()[step];
    }
    *place = *value.value_;
    return Make(std::move(copy));
}

Json Json::Without(std::string_view pointer) const {
    json::value copy = *value_;
    json::value* place = &copy;
    const std::vector<std::string> steps = StepsOf(pointer);
    KSANA_CHECK(!steps.empty(), "a document without itself");
    for (std::size_t i = 0; i + 1 < steps.size() && place != nullptr; ++i) {
        place = place->is_object() ? place->get_object().if_contains(steps[i]) : nullptr;
    }
    if (place != nullptr && place->is_object()) place->get_object().erase(steps.back());
    return Make(std::move(copy));
}

std::string Json::Compact() const { return WriteJson(*value_); }
std::string Json::Pretty() const { return WriteJson(*value_, JsonStyle::kPretty); }

bool operator==(const Json& a, const Json& b) { return *a.value_ == *b.value_; }

}  // namespace ksana::codec
