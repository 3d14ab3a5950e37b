#include "ksana/codec/json/json_reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::codec {
namespace {

std::string_view KindName(const boost::json::value& value) {
    switch (value.kind()) {
        case boost::json::kind::null:
            return "null";
        case boost::json::kind::bool_:
            return "a boolean";
        case boost::json::kind::string:
            return "a string";
        case boost::json::kind::array:
            return "an array";
        case boost::json::kind::object:
            return "an object";
        default:
            return "a number";
    }
}

int HexDigit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

// Reads {"hex": "…"}, which ValueWriter writes for a text that is not UTF-8.
bool ReadHex(const boost::json::value& value, std::string& out) {
    const auto* object = value.if_object();
    const auto* hex =
        object != nullptr && object->size() == 1 ? object->if_contains("hex") : nullptr;
    const auto* digits = hex != nullptr ? hex->if_string() : nullptr;
    if (digits == nullptr || digits->size() % 2 != 0) return false;
    std::string bytes;
    bytes.reserve(digits->size() / 2);
    for (std::size_t i = 0; i < digits->size(); i += 2) {
        const int high = HexDigit((*digits)[i]);
        const int low = HexDigit((*digits)[i + 1]);
        if (high < 0 || low < 0) return false;
        bytes += static_cast<char>(high << 4 | low);
    }
    out = std::move(bytes);
    return true;
}

}  // namespace

void JsonReader::WrongType(const Node& node, std::string_view wanted) {
    Fault(node.path, fmt::format("must be {}, not {}", wanted, KindName(node.value)), "wrong_type");
}

void JsonReader::FaultUnknownName(const std::string& path, std::string_view name,
                                  std::span<const std::string_view> names) {
    std::string allowed;
    for (const std::string_view one : names) {
        allowed += allowed.empty() ? "" : ", ";
        allowed += one;
    }
    const auto meant = Nearest(name, names);
    Fault(path,
          fmt::format("\"{}\" is not one of {}{}", Excerpt(name, 80), allowed,
                      meant ? fmt::format("; did you mean \"{}\"?", *meant) : ""),
          "not_allowed", {names.begin(), names.end()});
}

bool JsonReader::ReadText(const Node& node, std::string& out) {
    const auto* text = node.value.if_string();
    if (text == nullptr) {
        if (form_ != JsonForm::kDefinition && ReadHex(node.value, out)) return true;
        WrongType(node, "a string");
        return false;
    }
    out.assign(text->data(), text->size());
    return true;
}

void JsonReader::Read(const Node& node, bool& out) {
    if (const bool* value = node.value.if_bool()) {
        out = *value;
    } else {
        WrongType(node, "a boolean");
    }
}

void JsonReader::Read(const Node& node, std::int64_t& out) {
    if (const std::int64_t* value = node.value.if_int64()) {
        out = *value;
    } else if (node.value.is_uint64()) {
        Fault(node.path, "is too large");
    } else {
        WrongType(node, "a whole number");
    }
}

void JsonReader::Read(const Node& node, std::int32_t& out) {
    std::int64_t wide = out;
    Read(node, wide);
    if (wide < std::numeric_limits<std::int32_t>::min() ||
        wide > std::numeric_limits<std::int32_t>::max()) {
        Fault(node.path, "is out of range");
    } else {
        out = static_cast<std::int32_t>(wide);
    }
}

void JsonReader::Read(const Node& node, double& out) {
    boost::json::error_code error;
    const double value = node.value.to_number<double>(error);
    if (error) {
        WrongType(node, "a number");
    } else {
        out = value;
    }
}

void JsonReader::Read(const Node& node, std::string& out) { (void)ReadText(node, out); }

void JsonReader::Read(const Node& node, Duration& out) {
    std::string text;
    if (!ReadText(node, text)) return;
    const auto parsed = ParseDuration(text);
    if (parsed) {
        out = *parsed;
    } else {
        Fault(node.path, parsed.error().message);
    }
}

void JsonReader::Read(const Node& node, TimePoint& out) {
    std::string text;
    if (!ReadText(node, text)) return;
    const auto parsed = ParseTime(text);
    if (parsed) {
        out = *parsed;
    } else {
        Fault(node.path, parsed.error().message);
    }
}

void JsonReader::Read(const Node& node, Uuid& out) {
    std::string text;
    if (!ReadText(node, text)) return;
    if (const auto parsed = Uuid::Parse(text)) {
        out = *parsed;
    } else {
        Fault(node.path, "is no UUID such as 0190b6a5-7c1e-7d2a-8f3b-123456789abc");
    }
}

void JsonReader::Read(const Node& node, model::RunStates& out) {
    std::vector<model::RunState> states;
    const std::size_t before = ProblemCount();
    Read(node, states);
    if (ProblemCount() != before) return;
    out = 0;
    for (const model::RunState state : states) {
        out = static_cast<model::RunStates>(out | model::SetOf(state));
    }
}

bool JsonReader::IsBlank(const Node& node) const {
    const auto* text = node.value.if_string();
    return form_ == JsonForm::kJobsFile && text != nullptr && text->empty();
}

void JsonReader::ReadPairs(const Node& node, TextMap& out) {
    std::vector<std::vector<std::string>> pairs;
    const std::size_t before = ProblemCount();
    Read(node, pairs);
    if (ProblemCount() != before) return;
    std::vector<TextMap::Entry> entries;
    std::set<std::string> seen;
    entries.reserve(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        std::vector<std::string>& pair = pairs[i];
        if (pair.size() != 2) {
            Fault(fmt::format("{}/{}", node.path, i), "must be a name and a value");
        } else if (!seen.insert(pair[0]).second) {
            Fault(fmt::format("{}/{}/0", node.path, i), "stands twice");
        } else {
            entries.emplace_back(std::move(pair[0]), std::move(pair[1]));
        }
    }
    out = TextMap::Of(std::move(entries));
}

void JsonReader::Read(const Node& node, TextMap& out) {
    if (form_ != JsonForm::kDefinition && node.value.is_array()) return ReadPairs(node, out);
    const auto* object = node.value.if_object();
    if (object == nullptr) return WrongType(node, "an object");
    std::vector<TextMap::Entry> entries;
    entries.reserve(object->size());
    for (const auto& member : *object) {
        TextMap::Entry& entry = entries.emplace_back(member.key(), "");
        Read(Node{member.value(), node.path + PointerStep(entry.first)}, entry.second);
    }
    out = TextMap::Of(std::move(entries));
}

ObjectReader::ObjectReader(JsonReader& reader, const Node& node)
    : reader_(reader), object_(node.value.if_object()), path_(node.path) {
    if (object_ == nullptr) reader_.WrongType(node, "an object");
}

std::optional<Node> ObjectReader::Find(std::string_view key) {
    known_.push_back(key);
    if (object_ == nullptr) return std::nullopt;
    const auto* value = object_->if_contains(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return Node{*value, path_ + PointerStep(key)};
}

std::optional<Node> ObjectReader::FindRequired(std::string_view key) {
    auto node = Find(key);
    if (!node && object_ != nullptr)
        reader_.Fault(path_ + PointerStep(key), "is missing", "missing");
    return node;
}

void ObjectReader::Finish() {
    if (object_ == nullptr) return;
    for (const auto& member : *object_) {
        const std::string_view key = member.key();
        if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
        if (reader_.Full()) {
            reader_.CountFaults(1);
            continue;
        }
        const auto meant = Nearest(key, known_);
        reader_.Fault(path_ + PointerStep(Excerpt(key, 80)),
                      meant ? fmt::format("is not known here; did you mean \"{}\"?", *meant)
                            : "is not known here",
                      "unknown", {known_.begin(), known_.end()});
    }
}

}  // namespace ksana::codec
