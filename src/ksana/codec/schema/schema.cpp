#include "ksana/codec/schema/schema.hpp"

#include <algorithm>

#include "ksana/base/error/check.hpp"
#include "ksana/codec/json/json_text.hpp"

namespace ksana::codec {
namespace {

constexpr std::string_view kText = "string";

Schema MakeDuration() {
    return Schema::Text()
        .Means(
            "A duration as Go writes them: 1h30m, 250ms, 1.5s, 0s. Units h, m, s, ms, us and ns.")
        .Example("1h30m");
}
Schema MakeTextMap() { return Schema::MapOf(Schema::Text()); }

constexpr NamedSchema kDuration{"Duration", &MakeDuration};
constexpr NamedSchema kTextMap{"TextMap", &MakeTextMap};

template <class Items, class Text>
std::string Join(const Items& items, const Text& text_of) {
    std::string text;
    for (const auto& item : items) {
        if (!text.empty()) text += ',';
        text += text_of(item);
    }
    return text;
}

}  // namespace

Schema Schema::OfType(std::string_view type) {
    Schema schema;
    schema.type_ = type;
    schema.Rule("type", QuoteJson(type));
    return schema;
}

Schema Schema::Int32() {
    Schema schema = Int();
    schema.Rule("format", QuoteJson("int32"));
    return schema;
}

Schema Schema::Int64() {
    Schema schema = Int();
    schema.Rule("format", QuoteJson("int64"));
    return schema;
}

Schema Schema::Count() { return Int64().AtLeast(0); }

Schema Schema::Time() {
    Schema schema = Text();
    schema.Rule("format", QuoteJson("date-time"));
    return schema;
}

Schema Schema::Id() {
    Schema schema = Text();
    schema.Rule("format", QuoteJson("uuid"));
    return schema;
}

Schema Schema::Length() {
    Schema schema = Ref(kDuration);
    schema.type_ = kText;
    return schema;
}

Schema Schema::Texts() { return Ref(kTextMap); }

Schema Schema::OneOf(std::span<const std::string_view> words) {
    Schema schema = Text();
    schema.Rule("enum", "[" + Join(words, [](auto word) { return QuoteJson(word); }) + "]");
    return schema;
}

Schema Schema::ListOf(const Schema& item) {
    Schema schema = OfType("array");
    schema.Rule("items", item.ToJson());
    schema.Use(item);
    return schema;
}

Schema Schema::MapOf(const Schema& value) {
    Schema schema = OfType("object");
    schema.Rule("additionalProperties", value.ToJson());
    schema.Use(value);
    return schema;
}

Schema Schema::Either(const Schema& one, const Schema& other) {
    Schema schema;
    schema.Rule("oneOf", "[" + one.ToJson() + "," + other.ToJson() + "]");
    schema.Use(one);
    schema.Use(other);
    return schema;
}

Schema Schema::Ref(const NamedSchema& named) {
    Schema schema;
    schema.Rule("$ref", QuoteJson("#/components/schemas/" + std::string(named.name)));
    schema.uses_.push_back(&named);
    return schema;
}

Schema Schema::Means(std::string_view text) const {
    Schema schema = *this;
    schema.Rule("description", QuoteJson(text));
    return schema;
}

std::string_view Schema::BoundName(bool least) const {
    if (type_ == kText) return least ? "minLength" : "maxLength";
    if (type_ == "array") return least ? "minItems" : "maxItems";
    return least ? "minimum" : "maximum";
}

Schema Schema::AtLeast(std::int64_t bound) const {
    Schema schema = *this;
    schema.Rule(BoundName(true), std::to_string(bound));
    return schema;
}

Schema Schema::AtMost(std::int64_t bound) const {
    Schema schema = *this;
    schema.Rule(BoundName(false), std::to_string(bound));
    return schema;
}

Schema Schema::Pattern(std::string_view expression) const {
    Schema schema = *this;
    schema.Rule("pattern", QuoteJson(expression));
    return schema;
}

std::string Schema::ValueText(std::string_view value) const {
    return type_ == kText ? QuoteJson(value) : std::string(value);
}

Schema Schema::Default(std::string_view value) const {
    Schema schema = *this;
    schema.Rule("default", ValueText(value));
    return schema;
}

Schema Schema::Examples(std::initializer_list<std::string_view> values) const {
    Schema schema = *this;
    const auto text_of = [this](std::string_view value) { return ValueText(value); };
    schema.Rule("examples", "[" + Join(values, text_of) + "]");
    return schema;
}

Schema Schema::OrNull() const {
    Schema schema = *this;
    for (auto& [name, json] : schema.rules_) {
        if (name != "type") continue;
        json = "[" + json + ",\"null\"]";
        return schema;
    }
    return Either(schema, OfType("null"));
}

Schema Schema::With(const Doc& doc) const {
    Schema schema = *this;
    if (doc.least != Doc::kNoBound) schema = schema.AtLeast(doc.least);
    if (doc.most != Doc::kNoBound) schema = schema.AtMost(doc.most);
    if (doc.pattern != nullptr) schema = schema.Pattern(doc.pattern);
    if (doc.means != nullptr) schema = schema.Means(doc.means);
    if (doc.default_value != nullptr) schema = schema.Default(doc.default_value);
    if (doc.example != nullptr) schema = schema.Example(doc.example);
    return schema;
}

std::string Schema::ToJson() const {
    return "{" +
           Join(rules_,
                [](const auto& rule) { return QuoteJson(rule.first) + ":" + rule.second; }) +
           "}";
}

void Schema::Rule(std::string_view name, std::string json) {
    const auto found =
        std::ranges::find(rules_, name, &std::pair<std::string_view, std::string>::first);
    if (found != rules_.end()) {
        found->second = std::move(json);
    } else {
        rules_.emplace_back(name, std::move(json));
    }
}

void Schema::Use(const Schema& part) {
    uses_.insert(uses_.end(), part.uses_.begin(), part.uses_.end());
}

ObjectSchema& ObjectSchema::Add(std::string_view name, const Schema& schema, bool needed) {
    parts_.push_back({std::string(name), schema, needed});
    return *this;
}

ObjectSchema& ObjectSchema::Example(std::string_view json) {
    if (!json.empty()) examples_.emplace_back(json);
    return *this;
}

Schema ObjectSchema::Member(std::string_view name) const {
    const auto found = std::ranges::find(parts_, name, &Part::name);
    KSANA_CHECK(found != parts_.end(), "a schema has no such member");
    return found->schema;
}

ObjectSchema& ObjectSchema::NeedOf(const ObjectSchema& other,
                                   std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) Need(name, other.Member(name));
    return *this;
}

ObjectSchema& ObjectSchema::MayOf(const ObjectSchema& other,
                                  std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) May(name, other.Member(name));
    return *this;
}

ObjectSchema& ObjectSchema::AllOf(const ObjectSchema& other) {
    parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
    return *this;
}

ObjectSchema& ObjectSchema::Without(std::string_view name) {
    std::erase_if(parts_, [name](const Part& part) { return part.name == name; });
    return *this;
}

ObjectSchema ObjectSchema::AsPatch(std::string_view means) const {
    ObjectSchema patch(means);
    for (const Part& part : parts_) patch.May(part.name, part.schema.OrNull());
    return patch;
}

ObjectSchema::operator Schema() const {
    Schema schema = Schema::OfType("object");
    if (!means_.empty()) schema.Rule("description", QuoteJson(means_));
    std::vector<std::string> needed;
    for (const Part& part : parts_) {
        if (part.needed) needed.push_back(part.name);
        schema.Use(part.schema);
    }
    if (!needed.empty()) {
        schema.Rule("required",
                    "[" + Join(needed, [](const auto& name) { return QuoteJson(name); }) + "]");
    }
    schema.Rule("additionalProperties", "false");
    if (!parts_.empty()) {
        schema.Rule("properties", "{" + Join(parts_, [](const Part& part) {
                                      return QuoteJson(part.name) + ":" + part.schema.ToJson();
                                  }) + "}");
    }
    if (!examples_.empty()) {
        schema.Rule("examples", "[" + Join(examples_, [](const auto& text) { return text; }) + "]");
    }
    return schema;
}

}  // namespace ksana::codec
