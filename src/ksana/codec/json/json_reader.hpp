#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ksana/base/error/error.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_form.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::codec {

// A JSON value and its place in the document, for messages. `value` must outlive it.
struct Node {
    const boost::json::value& value;
    std::string path;  // JSON Pointer
};

// Reads plain structures from JSON and collects all faults instead of stopping at the first one.
// Where there is a fault, `out` keeps its value. Lives during the reading of one document, on one
// thread.
class JsonReader {
  public:
    explicit JsonReader(JsonForm form = JsonForm::kDefinition) : form_(form) {}

    JsonForm form() const { return form_; }
    // Switches to another form and returns the previous one.
    JsonForm SwitchTo(JsonForm form) { return std::exchange(form_, form); }

    // Keeps the first kMostProblems faults and counts the others.
    void Fault(const std::string& path, std::string message, std::string_view code = "invalid",
               std::vector<std::string> allowed = {}) {
        if (Full()) return CountFaults(1);
        problems_.push_back({path, std::move(message), code, std::move(allowed)});
    }
    // Counts faults that Fault would not keep, without the cost of describing them.
    void CountFaults(std::size_t faults) { untold_ += faults; }
    bool Full() const { return problems_.size() >= kMostProblems; }

    // For callers that add problems of their own, and pass UntoldProblems to Error.
    std::size_t UntoldProblems() const { return untold_; }
    std::vector<Problem> TakeProblems() { return std::move(problems_); }
    // Returns all faults as one error. There must be one (Clean).
    Error TakeError() { return Error(std::move(problems_), untold_); }
    bool Clean() const { return problems_.empty(); }
    std::size_t ProblemCount() const { return problems_.size() + untold_; }

    void Read(const Node& node, bool& out);
    void Read(const Node& node, std::int32_t& out);
    void Read(const Node& node, std::int64_t& out);
    void Read(const Node& node, double& out);
    void Read(const Node& node, std::string& out);
    void Read(const Node& node, Duration& out);   // "1h30m"
    void Read(const Node& node, TimePoint& out);  // RFC 3339
    void Read(const Node& node, Uuid& out);
    void Read(const Node& node, model::RunStates& out);  // an array of names
    void Read(const Node& node, TextMap& out);

    // Reads any JSON and keeps it as text.
    void ReadRaw(const Node& node, std::string& out) { out = WriteJson(node.value); }

    template <class E>
    requires std::is_enum_v<E>
    void Read(const Node& node, E& out) {
        std::string name;
        if (!ReadText(node, name)) return;
        if (const auto value = model::FromName<E>(name)) {
            out = *value;
        } else {
            FaultUnknownName(node.path, name, model::EnumNames<E>::kNames);
        }
    }

    template <class T>
    void Read(const Node& node, std::optional<T>& out) {
        T value = out.value_or(T{});
        const std::size_t before = ProblemCount();
        Read(node, value);
        if (ProblemCount() == before) out = std::move(value);
    }

    template <class T>
    void Read(const Node& node, std::vector<T>& out) {
        ReadEach(node, out, [this](const Node& item, T& value) { Read(item, value); });
    }

    // Reads an object with the members of T and no others.
    template <HasFields T>
    void Read(const Node& node, T& out);

    template <class T, class F>
    void ReadEach(const Node& node, std::vector<T>& out, const F& read) {
        const auto* array = node.value.if_array();
        if (array == nullptr) return WrongType(node, "an array");
        out.clear();
        for (std::size_t i = 0; i < array->size(); ++i) {
            // Past so many faults nobody uses what is read, and an item may be much larger than the
            // text that it is read from.
            if (Full()) out.clear();
            out.emplace_back();
            read(Node{(*array)[i], node.path + "/" + std::to_string(i)}, out.back());
        }
    }

    void WrongType(const Node& node, std::string_view wanted);
    void FaultUnknownName(const std::string& path, std::string_view name,
                          std::span<const std::string_view> names);

    // Returns whether the value is "" in a form in which that means no time or duration.
    bool IsBlank(const Node& node) const;

  private:
    bool ReadText(const Node& node, std::string& out);
    void ReadPairs(const Node& node, TextMap& out);

    JsonForm form_;
    std::vector<Problem> problems_;
    std::size_t untold_ = 0;
};

// Reads the members of one object by name. Finish reports every member that was not read. `reader`
// and the value of `node` must outlive it.
class ObjectReader {
  public:
    ObjectReader(JsonReader& reader, const Node& node);

    // Leaves `out` unchanged if the member is absent or null.
    template <class T>
    void Optional(std::string_view key, T& out) {
        const auto node = Find(key);
        if (!node) return;
        if constexpr (kIsTime<T>) {
            if (reader_.IsBlank(*node)) return;
        }
        reader_.Read(*node, out);
    }
    template <class T>
    void Required(std::string_view key, T& out) {
        if (const auto node = FindRequired(key)) reader_.Read(*node, out);
    }

    std::optional<Node> Find(std::string_view key);
    std::optional<Node> FindRequired(std::string_view key);

    // Adds a fault for each member that was not read, with the nearest name that was.
    void Finish();

    const std::string& path() const { return path_; }
    bool ok() const { return object_ != nullptr; }
    JsonReader& reader() { return reader_; }

  private:
    template <class T>
    static constexpr bool kIsTime =
        std::is_same_v<T, Duration> || std::is_same_v<T, TimePoint> ||
        std::is_same_v<T, std::optional<Duration>> || std::is_same_v<T, std::optional<TimePoint>>;

    JsonReader& reader_;
    const boost::json::object* object_;
    std::string path_;
    std::vector<std::string_view> known_;
};

// Reads the members that FieldsOf<T> lists: the visitor of JsonReader::Read. Both arguments must
// outlive it.
template <class T>
class FieldReader {
  public:
    FieldReader(ObjectReader& object, T& out) : object_(object), out_(out) {}

    JsonForm form() const { return object_.reader().form(); }

    template <class M>
    [[gnu::always_inline]] void operator()(std::string_view key, M T::*member,
                                           const Doc& /*doc*/ = {}) {
        object_.Optional(key, out_.*member);
    }
    template <class M>
    [[gnu::always_inline]] void Rare(std::string_view key, M T::*member, const Doc& /*doc*/ = {}) {
        object_.Optional(key, out_.*member);
    }
    template <class M>
    [[gnu::always_inline]] void Required(std::string_view key, M T::*member,
                                         const Doc& /*doc*/ = {}) {
        Member(key, member, !IsRecord());
    }
    template <class M>
    [[gnu::always_inline]] void Key(std::string_view key, M T::*member, const Doc& /*doc*/ = {}) {
        Member(key, member, IsRecord());
    }
    [[gnu::always_inline]] void Json(std::string_view key, std::string T::*member,
                                     const Doc& /*doc*/ = {}) {
        if (IsRecord()) return object_.Optional(key, out_.*member);
        if (const auto node = object_.Find(key)) object_.reader().ReadRaw(*node, out_.*member);
    }
    template <class Part>
    void Flat(Part T::*part) {
        FieldReader<Part> reader(object_, out_.*part);
        FieldsOf<Part>::Visit(reader);
    }
    template <class B>
    void Base() {
        FieldReader<B> reader(object_, out_);
        FieldsOf<B>::Visit(reader);
    }
    template <class Kind>
    bool Is(Kind T::*kind, Kind value) const {
        return IsRecord() || out_.*kind == value;
    }
    template <class Kind, class... Parts>
    [[gnu::always_inline]] void Choice(std::string_view key, std::variant<Parts...> T::*member,
                                       const Doc& /*doc*/ = {}) {
        Kind kind{};
        object_.Optional(key, kind);
        ReadParts(key, kind, out_.*member, std::index_sequence_for<Parts...>{});
    }

  private:
    bool IsRecord() const { return form() == JsonForm::kRecord; }

    template <class M>
    void Member(std::string_view key, M T::*member, bool required) {
        if (required) {
            object_.Required(key, out_.*member);
        } else {
            object_.Optional(key, out_.*member);
        }
    }

    template <class Kind, class Variant, std::size_t... I>
    void ReadParts(std::string_view key, Kind kind, Variant& out, std::index_sequence<I...>) {
        (ReadPart<I>(key, kind, out), ...);
    }
    // The part of the chosen kind is required, the others are refused.
    template <std::size_t I, class Kind, class Variant>
    void ReadPart(std::string_view key, Kind kind, Variant& out) {
        constexpr std::string_view kName = model::NameOf(static_cast<Kind>(I));
        if (static_cast<std::size_t>(kind) == I) {
            object_.Required(kName, out.template emplace<I>());
        } else if (const auto part = object_.Find(kName)) {
            object_.reader().Fault(part->path, std::string("does not go with ")
                                                   .append(key)
                                                   .append(" \"")
                                                   .append(model::NameOf(kind))
                                                   .append("\""));
        }
    }

    ObjectReader& object_;
    T& out_;
};

template <HasFields T>
void JsonReader::Read(const Node& node, T& out) {
    ObjectReader object(*this, node);
    FieldReader<T> fields(object, out);
    FieldsOf<T>::Visit(fields);
    object.Finish();
}

// Reads a whole document with read(reader, node, out). Returns all faults as one error.
template <class T, class F>
Result<T> ReadDocument(std::string_view text, JsonForm form, const JsonLimits& limits,
                       const F& read) {
    KSANA_TRY(const boost::json::value value, ParseJson(text, limits));
    JsonReader reader(form);
    T out{};
    read(reader, Node{value, ""}, out);
    if (!reader.Clean()) return reader.TakeError();
    return out;
}

}  // namespace ksana::codec
