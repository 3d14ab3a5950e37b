#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "ksana/base/duration_text.hpp"
#include "ksana/base/error.hpp"
#include "ksana/base/nearest.hpp"
#include "ksana/base/time_text.hpp"
#include "ksana/codec/json_write.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::codec {

// A JSON value together with the place it has in its document, for messages.
struct Node {
    const boost::json::value& value;
    std::string path;  // JSON Pointer
};

// Reads plain structures out of JSON and collects every fault on the way instead of stopping at
// the first. A reader keeps what `out` held where it finds a fault.
class JsonReader {
  public:
    void Fault(const std::string& path, std::string message) {
        problems_.push_back({path, std::move(message)});
    }
    std::vector<Problem> TakeProblems() { return std::move(problems_); }
    bool Clean() const { return problems_.empty(); }

    void Read(const Node& node, bool& out);
    void Read(const Node& node, std::int32_t& out);
    void Read(const Node& node, std::int64_t& out);
    void Read(const Node& node, double& out);
    void Read(const Node& node, std::string& out);
    void Read(const Node& node, Duration& out);   // "1h30m"
    void Read(const Node& node, TimePoint& out);  // RFC 3339
    void Read(const Node& node, std::map<std::string, std::string>& out);

    // Any JSON, kept as its text.
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
        const std::size_t before = problems_.size();
        Read(node, value);
        if (problems_.size() == before) out = std::move(value);
    }

    template <class T>
    void Read(const Node& node, std::vector<T>& out) {
        ReadEach(node, out, [this](const Node& item, T& value) { Read(item, value); });
    }

    template <class T, class F>
    void ReadEach(const Node& node, std::vector<T>& out, const F& read) {
        const auto* array = node.value.if_array();
        if (array == nullptr) return WrongType(node, "an array");
        out.clear();
        for (std::size_t i = 0; i < array->size(); ++i) {
            out.emplace_back();
            read(Node{(*array)[i], node.path + "/" + std::to_string(i)}, out.back());
        }
    }

    void WrongType(const Node& node, std::string_view wanted);
    void FaultUnknownName(const std::string& path, std::string_view name,
                          std::span<const std::string_view> names);

  private:
    bool ReadText(const Node& node, std::string& out);

    std::vector<Problem> problems_;
};

// One object: its members by name, and at the end a fault for every member nobody asked for.
class ObjectReader {
  public:
    ObjectReader(JsonReader& reader, const Node& node);

    // Leaves `out` alone where the member is absent or null.
    template <class T>
    void Optional(std::string_view key, T& out) {
        if (const auto node = Find(key)) reader_.Read(*node, out);
    }
    template <class T>
    void Required(std::string_view key, T& out) {
        if (const auto node = FindRequired(key)) reader_.Read(*node, out);
    }

    std::optional<Node> Find(std::string_view key);
    std::optional<Node> FindRequired(std::string_view key);

    // Faults for the members not asked for, each with the nearest name that would have been.
    void Finish();

    const std::string& path() const { return path_; }
    bool ok() const { return object_ != nullptr; }
    JsonReader& reader() { return reader_; }

  private:
    JsonReader& reader_;
    const boost::json::object* object_;
    std::string path_;
    std::vector<std::string_view> known_;
};

}  // namespace ksana::codec
