#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ksana/codec/json/doc.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::codec {

class Schema;

// A schema that the description defines once and refers to by name. A constant of the codec that
// reads or writes the value.
struct NamedSchema {
    std::string_view name;
    Schema (*make)();
};

// The JSON Schema of a value: its rules in the order in which they were added, and the named
// schemas they refer to. A plain value, made when the description is first requested. Functions
// that add a rule return the new schema, for chaining.
class Schema {
  public:
    // Allows any JSON until rules are added.
    Schema() = default;

    static Schema Text() { return OfType("string"); }
    static Schema Flag() { return OfType("boolean"); }
    static Schema Int() { return OfType("integer"); }
    static Schema Int32();
    static Schema Int64();
    static Schema Count();  // 64 bits, from 0
    static Schema Number() { return OfType("number"); }
    static Schema Time();    // RFC 3339
    static Schema Id();      // a UUID
    static Schema Length();  // a duration such as "1h30m"
    static Schema Texts();   // an object whose members are texts
    static Schema AnyObject() { return OfType("object"); }
    static Schema OneOf(std::span<const std::string_view> words);
    static Schema OneOf(std::initializer_list<std::string_view> words) {
        return OneOf(std::span(words.begin(), words.size()));
    }
    // The names of an enumeration.
    template <class E>
    static Schema Name() {
        return OneOf(model::EnumNames<E>::kNames);
    }
    static Schema ListOf(const Schema& item);
    static Schema MapOf(const Schema& value);
    static Schema Either(const Schema& one, const Schema& other);
    static Schema Ref(const NamedSchema& named);

    Schema Means(std::string_view text) const;
    // Bounds of a number, of the length of a text, or of the number of items.
    Schema AtLeast(std::int64_t bound) const;
    Schema AtMost(std::int64_t bound) const;
    Schema Between(std::int64_t low, std::int64_t high) const { return AtLeast(low).AtMost(high); }
    Schema Pattern(std::string_view expression) const;
    // Values are given as JSON; texts without their quotes.
    Schema Default(std::string_view value) const;
    Schema Examples(std::initializer_list<std::string_view> values) const;
    Schema Example(std::string_view value) const { return Examples({value}); }
    Schema OrNull() const;
    // Adds the rules of a Doc, except the schema that Doc::As sets.
    Schema With(const Doc& doc) const;

    std::string ToJson() const;
    const std::vector<const NamedSchema*>& uses() const { return uses_; }

  private:
    friend class ObjectSchema;

    static Schema OfType(std::string_view type);
    // Sets a rule, replacing the one of the same name.
    void Rule(std::string_view name, std::string json);
    void Use(const Schema& part);
    std::string ValueText(std::string_view value) const;
    std::string_view BoundName(bool least) const;

    // JSON type of the value, also behind a reference; empty: unknown.
    std::string_view type_;
    std::vector<std::pair<std::string_view, std::string>> rules_;
    std::vector<const NamedSchema*> uses_;
};

// Builds the schema of an object member by member. Members that are not named are refused. A plain
// value.
class ObjectSchema {
  public:
    explicit ObjectSchema(std::string_view means = {}) : means_(means) {}

    // Adds a member that is always present.
    ObjectSchema& Need(std::string_view name, const Schema& schema) {
        return Add(name, schema, true);
    }
    // Adds a member that may be absent.
    ObjectSchema& May(std::string_view name, const Schema& schema) {
        return Add(name, schema, false);
    }
    ObjectSchema& Add(std::string_view name, const Schema& schema, bool needed);
    ObjectSchema& Example(std::string_view json);

    // Returns the schema of a member, for use in another object.
    Schema Member(std::string_view name) const;
    // Adds members of `other`, in the order of `names`.
    ObjectSchema& NeedOf(const ObjectSchema& other, std::initializer_list<std::string_view> names);
    ObjectSchema& MayOf(const ObjectSchema& other, std::initializer_list<std::string_view> names);
    ObjectSchema& AllOf(const ObjectSchema& other);
    // Removes a member if it exists.
    ObjectSchema& Without(std::string_view name);
    // Returns the schema of a merge patch (RFC 7396) of the object: every member may be absent or
    // null.
    ObjectSchema AsPatch(std::string_view means) const;

    operator Schema() const;  // NOLINT(google-explicit-constructor)

  private:
    struct Part {
        std::string name;
        Schema schema;
        bool needed;
    };
    std::string means_;
    std::vector<Part> parts_;
    std::vector<std::string> examples_;
};

}  // namespace ksana::codec
