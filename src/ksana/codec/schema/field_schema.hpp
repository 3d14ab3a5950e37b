#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_form.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::codec {

// Schemas of the structures that FieldsOf lists: made from the same list that readers and writers
// use, with the Doc of each member.

template <HasFields T>
constexpr SchemaDoc SchemaDocOf() {
    if constexpr (requires { FieldsOf<T>::kSchema; }) {
        return FieldsOf<T>::kSchema;
    } else {
        return {};
    }
}

// Returns the schema of T with all members of FieldsOf<T>::Visit.
template <HasFields T>
ObjectSchema ObjectOf();

template <HasFields T>
Schema MakeFieldSchema() {
    return ObjectOf<T>();
}

template <HasFields T>
inline constexpr NamedSchema kSchemaOf{SchemaDocOf<T>().name, &MakeFieldSchema<T>};

// Makes the schema of a member of type M.
template <class M>
struct SchemaFor {
    static Schema Make() {
        if constexpr (std::is_enum_v<M>) {
            return Schema::Name<M>();
        } else if constexpr (SchemaDocOf<M>().name.empty()) {
            return ObjectOf<M>();
        } else {
            return Schema::Ref(kSchemaOf<M>);
        }
    }
};
template <class M>
struct SchemaFor<std::optional<M>> : SchemaFor<M> {};
template <class M>
struct SchemaFor<std::vector<M>> {
    static Schema Make() { return Schema::ListOf(SchemaFor<M>::Make()); }
};
template <>
struct SchemaFor<bool> {
    static Schema Make() { return Schema::Flag(); }
};
template <>
struct SchemaFor<std::int32_t> {
    static Schema Make() { return Schema::Int32(); }
};
template <>
struct SchemaFor<std::int64_t> {
    static Schema Make() { return Schema::Int64(); }
};
template <>
struct SchemaFor<double> {
    static Schema Make() { return Schema::Number(); }
};
template <>
struct SchemaFor<std::string> {
    static Schema Make() { return Schema::Text(); }
};
template <>
struct SchemaFor<Duration> {
    static Schema Make() { return Schema::Length(); }
};
template <>
struct SchemaFor<TimePoint> {
    static Schema Make() { return Schema::Time(); }
};
template <>
struct SchemaFor<Uuid> {
    static Schema Make() { return Schema::Id(); }
};
template <>
struct SchemaFor<TextMap> {
    static Schema Make() { return Schema::Texts(); }
};
template <>
struct SchemaFor<model::RunStates> {
    static Schema Make() { return Schema::ListOf(Schema::Name<model::RunState>()); }
};

template <class M>
inline constexpr bool kIsOptional = false;
template <class M>
inline constexpr bool kIsOptional<std::optional<M>> = true;

// Adds the members that FieldsOf<T> lists to an object schema: the visitor of ObjectOf and
// DescribeMembers. `out` must outlive it.
template <class T>
class FieldDescriber {
  public:
    // `answer`: the server writes the object, with all its members.
    FieldDescriber(ObjectSchema& out, bool answer) : out_(out), answer_(answer) {}

    JsonForm form() const { return JsonForm::kDefinition; }

    template <class M, class C>
    void operator()(std::string_view key, M C::*member, const Doc& doc = {}) {
        Put(key, member, doc, answer_ && !kIsOptional<M>);
    }
    template <class M, class C>
    void Required(std::string_view key, M C::* /*member*/, const Doc& doc = {}) {
        out_.Add(key, SchemaOf<M>(doc).With(doc), !in_a_kind_);
    }
    template <class M, class C>
    void Rare(std::string_view key, M C::*member, const Doc& doc = {}) {
        Put(key, member, doc, false);
    }
    template <class M, class C>
    void Key(std::string_view key, M C::*member, const Doc& doc = {}) {
        Put(key, member, doc, answer_ && !kIsOptional<M>);
    }
    template <class C>
    void Json(std::string_view key, std::string C::* /*member*/, const Doc& doc = {}) {
        out_.May(key, (doc.schema != nullptr ? doc.schema() : Schema()).With(doc));
    }
    template <class Part, class C>
    void Flat(Part C::* /*part*/) {
        FieldDescriber<Part> describer(out_, answer_ && !in_a_kind_);
        FieldsOf<Part>::Visit(describer);
    }
    template <class B>
    void Base() {
        FieldDescriber<B> describer(out_, answer_);
        FieldsOf<B>::Visit(describer);
    }
    // Describes the members of every kind. From here on all members may be absent.
    template <class Kind, class C>
    bool Is(Kind C::* /*kind*/, Kind /*value*/) {
        in_a_kind_ = true;
        return true;
    }
    template <class Kind, class C, class... Parts>
    void Choice(std::string_view key, std::variant<Parts...> C::* /*member*/, const Doc& doc = {}) {
        out_.Add(key, Schema::Name<Kind>().With(doc), answer_);
        std::size_t kind = 0;
        (out_.May(model::NameOf(static_cast<Kind>(kind++)), SchemaFor<Parts>::Make()), ...);
    }

  private:
    template <class M>
    static Schema SchemaOf(const Doc& doc) {
        return doc.schema != nullptr ? doc.schema() : SchemaFor<M>::Make();
    }

    template <class M, class C>
    void Put(std::string_view key, M C::*member, const Doc& doc, bool needed) {
        static const T defaults{};
        Schema schema = SchemaOf<M>(doc);
        const bool shows_default = !answer_ && !SchemaDocOf<T>().answer;
        const std::string text = shows_default ? DefaultText(defaults.*member) : std::string();
        if (!text.empty()) schema = schema.Default(text);
        out_.Add(key, schema.With(doc), needed && !in_a_kind_);
    }

    // Returns the default as Schema::Default expects it; empty: not worth mentioning.
    template <class M>
    static std::string DefaultText(const M& value) {
        if constexpr (std::is_same_v<M, bool>) {
            return value ? "true" : "false";
        } else if constexpr (std::is_same_v<M, std::int32_t> || std::is_same_v<M, std::int64_t>) {
            return std::to_string(value);
        } else if constexpr (std::is_same_v<M, std::string>) {
            return value;
        } else if constexpr (std::is_same_v<M, Duration>) {
            return FormatDuration(value);
        } else if constexpr (std::is_enum_v<M>) {
            return std::string(model::NameOf(value));
        } else {
            return {};
        }
    }

    ObjectSchema& out_;
    const bool answer_;
    bool in_a_kind_ = false;
};

// Returns a schema of the members that visit(describer) names, which are part of T, as a body or as
// an answer.
template <HasFields T, class F>
ObjectSchema DescribeMembers(bool answer, const F& visit) {
    ObjectSchema object;
    FieldDescriber<T> describer(object, answer);
    visit(describer);
    return object;
}

// Does the same for all members of T.
template <HasFields T>
ObjectSchema DescribeAll(bool answer) {
    return DescribeMembers<T>(answer, [](auto& v) { FieldsOf<T>::Visit(v); });
}

template <HasFields T>
ObjectSchema ObjectOf() {
    constexpr SchemaDoc kDoc = SchemaDocOf<T>();
    ObjectSchema object(kDoc.means);
    FieldDescriber<T> describer(object, kDoc.answer);
    FieldsOf<T>::Visit(describer);
    object.Example(kDoc.example);
    return object;
}

}  // namespace ksana::codec
