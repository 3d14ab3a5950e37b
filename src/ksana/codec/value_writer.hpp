#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "ksana/base/text_map.hpp"
#include "ksana/base/time.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/codec/json_form.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/run.hpp"

namespace ksana::codec {

// Makes JSON values of plain structures: what JsonReader reads in the same form. The values live in
// `storage`.
class ValueWriter {
  public:
    explicit ValueWriter(JsonForm form, boost::json::storage_ptr storage = {})
        : form_(form), storage_(std::move(storage)) {}

    JsonForm form() const { return form_; }

    boost::json::value Make(bool value) const { return boost::json::value(value, storage_); }
    boost::json::value Make(std::int32_t value) const {
        return boost::json::value(value, storage_);
    }
    boost::json::value Make(std::int64_t value) const {
        return boost::json::value(value, storage_);
    }
    boost::json::value Make(double value) const { return boost::json::value(value, storage_); }
    boost::json::value Make(const std::string& text) const;
    boost::json::value Make(Duration duration) const;
    boost::json::value Make(TimePoint instant) const;  // in the years 0000 to 9999
    boost::json::value Make(const Uuid& id) const;
    boost::json::value Make(model::RunStates states) const;
    boost::json::value Make(const TextMap& map) const;

    template <class E>
    requires std::is_enum_v<E> boost::json::value Make(E value)
    const { return Plain(model::NameOf(value)); }

    template <class T>
    boost::json::value Make(const std::vector<T>& items) const {
        boost::json::array array(storage_);
        array.reserve(items.size());
        for (const T& item : items) array.push_back(Make(item));
        return array;
    }

    template <HasFields T>
    boost::json::value Make(const T& in) const {
        return Fields(in, form_ == JsonForm::kDefinition);
    }

    // The members of a structure; `whole`: also those that have their default.
    template <HasFields T>
    boost::json::object Fields(const T& in, bool whole) const;

    // JSON kept as text: as JSON where the form wants that, and as a string where it is none.
    boost::json::value MakeJson(const std::string& text) const;

    // A text that is known to be UTF-8.
    boost::json::value Plain(std::string_view text) const {
        return boost::json::value(boost::json::string_view(text.data(), text.size()), storage_);
    }

  private:
    JsonForm form_;
    boost::json::storage_ptr storage_;
};

// Writes the members that FieldsOf<T> names. The arguments must outlive it.
template <class T>
class FieldWriter {
  public:
    FieldWriter(const ValueWriter& writer, boost::json::object& object, const T& in, bool whole)
        : writer_(writer), object_(object), in_(in), whole_(whole) {}

    JsonForm form() const { return writer_.form(); }

    template <class M>
    void operator()(std::string_view key, M T::*member) {
        Put(key, member, whole_);
    }
    template <class M>
    void Required(std::string_view key, M T::*member) {
        Put(key, member, whole_ || !IsRecord());
    }
    template <class M>
    void Rare(std::string_view key, M T::*member) {
        Put(key, member, false);
    }
    template <class M>
    void Key(std::string_view key, M T::*member) {
        Put(key, member, whole_ || IsRecord());
    }
    void Json(std::string_view key, std::string T::*member) {
        if (whole_ || !(in_.*member).empty()) Add(key, writer_.MakeJson(in_.*member));
    }
    template <class Part>
    void Flat(Part T::*part) {
        FieldWriter<Part> writer(writer_, object_, in_.*part, whole_);
        FieldsOf<Part>::Visit(writer);
    }
    template <class Kind>
    bool Is(Kind T::*kind, Kind value) const {
        return IsRecord() || in_.*kind == value;
    }
    template <class Kind, class... Parts>
    void Choice(std::string_view key, std::variant<Parts...> T::*member) {
        const auto kind = static_cast<Kind>((in_.*member).index());
        Add(key, writer_.Make(kind));
        std::visit(
            [&](const auto& part) { Add(model::NameOf(kind), writer_.Fields(part, !IsRecord())); },
            in_.*member);
    }

  private:
    bool IsRecord() const { return form() == JsonForm::kRecord; }

    static const T& Defaults() {
        static const T defaults{};
        return defaults;
    }

    template <class M>
    void Put(std::string_view key, M T::*member, bool always) {
        if (always || in_.*member != Defaults().*member) Add(key, writer_.Make(in_.*member));
    }
    template <class M>
    void Put(std::string_view key, std::optional<M> T::*member, bool) {
        if (in_.*member) Add(key, writer_.Make(*(in_.*member)));
    }
    void Add(std::string_view key, boost::json::value&& value) {
        object_.emplace(boost::json::string_view(key.data(), key.size()), std::move(value));
    }

    const ValueWriter& writer_;
    boost::json::object& object_;
    const T& in_;
    bool whole_;
};

template <HasFields T>
boost::json::object ValueWriter::Fields(const T& in, bool whole) const {
    boost::json::object object(storage_);
    object.reserve(16);  // instead of growing to it in steps
    FieldWriter<T> fields(*this, object, in, whole);
    FieldsOf<T>::Visit(fields);
    return object;
}

}  // namespace ksana::codec
