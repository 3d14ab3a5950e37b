#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/json_output.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/json/json_form.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::codec {

// Writes plain structures as JSON, such that JsonReader reads them in the same form. `output` must
// outlive it. For one thread.
class ValueWriter {
  public:
    ValueWriter(JsonForm form, JsonOutput& output) : form_(form), output_(output) {}

    JsonForm form() const { return form_; }
    JsonOutput& output() const { return output_; }

    void Write(bool value) const { output_.Bool(value); }
    void Write(std::int32_t value) const { output_.Int(value); }
    void Write(std::int64_t value) const { output_.Int(value); }
    void Write(double value) const { output_.Double(value); }
    void Write(const std::string& text) const;
    void Write(Duration duration) const;
    void Write(TimePoint instant) const;  // in the years 0000 to 9999
    void Write(const Uuid& id) const;
    void Write(model::RunStates states) const;
    void Write(const TextMap& map) const;

    template <class E>
    requires std::is_enum_v<E>
    void Write(E value) const { output_.Text(model::NameOf(value)); }

    template <class T>
    void Write(const std::vector<T>& items) const {
        output_.BeginArray();
        for (const T& item : items) Write(item);
        output_.EndArray();
    }

    template <HasFields T>
    void Write(const T& in) const {
        WriteFields(in, form_ == JsonForm::kDefinition);
    }

    // Writes the members as an object. `whole`: including those that have their default.
    template <HasFields T>
    void WriteFields(const T& in, bool whole) const;

    // Writes a text that holds JSON: as JSON if the form wants that, as a string if it is not valid
    // JSON.
    void WriteJsonText(const std::string& text) const;

    template <class M>
    void Member(std::string_view key, const M& value) const {
        output_.Key(key);
        Write(value);
    }

  private:
    JsonForm form_;
    JsonOutput& output_;
};

// Writes the members that FieldsOf<T> lists into the open object: the visitor of ValueWriter. The
// arguments must outlive it.
template <class T>
class FieldWriter {
  public:
    FieldWriter(const ValueWriter& writer, const T& in, bool whole)
        : writer_(writer), in_(in), whole_(whole) {}

    JsonForm form() const { return writer_.form(); }

    template <class M>
    [[gnu::always_inline]] void operator()(std::string_view key, M T::*member,
                                           const Doc& /*doc*/ = {}) {
        Put(key, member, whole_);
    }
    template <class M>
    [[gnu::always_inline]] void Required(std::string_view key, M T::*member,
                                         const Doc& /*doc*/ = {}) {
        Put(key, member, whole_ || !IsRecord());
    }
    template <class M>
    [[gnu::always_inline]] void Rare(std::string_view key, M T::*member, const Doc& /*doc*/ = {}) {
        Put(key, member, false);
    }
    template <class M>
    [[gnu::always_inline]] void Key(std::string_view key, M T::*member, const Doc& /*doc*/ = {}) {
        Put(key, member, whole_ || IsRecord());
    }
    [[gnu::always_inline]] void Json(std::string_view key, std::string T::*member,
                                     const Doc& /*doc*/ = {}) {
        if (!whole_ && (in_.*member).empty()) return;
        writer_.output().Key(key);
        writer_.WriteJsonText(in_.*member);
    }
    template <class Part>
    void Flat(Part T::*part) {
        FieldWriter<Part> writer(writer_, in_.*part, whole_);
        FieldsOf<Part>::Visit(writer);
    }
    template <class B>
    void Base() {
        FieldWriter<B> writer(writer_, in_, whole_);
        FieldsOf<B>::Visit(writer);
    }
    template <class Kind>
    bool Is(Kind T::*kind, Kind value) const {
        return IsRecord() || in_.*kind == value;
    }
    template <class Kind, class... Parts>
    [[gnu::always_inline]] void Choice(std::string_view key, std::variant<Parts...> T::*member,
                                       const Doc& /*doc*/ = {}) {
        const auto kind = static_cast<Kind>((in_.*member).index());
        writer_.Member(key, kind);
        writer_.output().Key(model::NameOf(kind));
        std::visit([&](const auto& part) { writer_.WriteFields(part, !IsRecord()); }, in_.*member);
    }

  private:
    bool IsRecord() const { return form() == JsonForm::kRecord; }

    static const T& Defaults() {
        static const T defaults{};
        return defaults;
    }

    template <class M>
    void Put(std::string_view key, M T::*member, bool always) {
        if (always || in_.*member != Defaults().*member) writer_.Member(key, in_.*member);
    }
    template <class M>
    void Put(std::string_view key, std::optional<M> T::*member, bool) {
        if (in_.*member) writer_.Member(key, *(in_.*member));
    }

    const ValueWriter& writer_;
    const T& in_;
    bool whole_;
};

template <HasFields T>
void ValueWriter::WriteFields(const T& in, bool whole) const {
    output_.BeginObject();
    FieldWriter<T> fields(*this, in, whole);
    FieldsOf<T>::Visit(fields);
    output_.EndObject();
}

// Returns one structure as JSON.
template <HasFields T>
std::string FieldsToJson(const T& in, JsonForm form) {
    JsonOutput output;
    ValueWriter(form, output).Write(in);
    return output.Take();
}

}  // namespace ksana::codec
