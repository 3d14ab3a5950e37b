#include "ksana/codec/dialects/task_words.hpp"

#include <charconv>

#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {
namespace {

// Returns the number whose usual spelling is `text`.
std::optional<std::int64_t> NumberOf(const std::string& text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || at != end || std::to_string(number) != text) return std::nullopt;
    return number;
}

}  // namespace

void ReadNumberOrText(ObjectReader& object, std::string_view key, std::string& out) {
    const auto node = object.Find(key);
    if (!node) return;
    if (node->value.is_string()) return object.reader().Read(*node, out);
    if (!node->value.is_int64() && !node->value.is_uint64()) {
        return object.reader().WrongType(*node, "a whole number or a string");
    }
    std::int64_t number = 0;
    const std::size_t before = object.reader().ProblemCount();
    object.reader().Read(*node, number);
    if (object.reader().ProblemCount() == before) out = std::to_string(number);
}

void WriteNumberOrText(JsonOutput& output, std::string_view key, const std::string& text) {
    output.Key(key);
    if (const auto number = NumberOf(text)) {
        output.Int(*number);
    } else {
        output.Text(text);
    }
}

void ReadCreator(ObjectReader& object, std::string& out) {
    ReadNumberOrText(object, "creator", out);
    if (out == "0") out.clear();
}

void WriteCreator(JsonOutput& output, const std::string& creator) {
    WriteNumberOrText(output, "creator", creator.empty() ? "0" : creator);
}

void WriteExt(JsonOutput& output, const std::string& payload) {
    output.Key("ext");
    if (payload.empty()) {
        output.BeginObject();
        output.EndObject();
    } else {
        ValueWriter(JsonForm::kDefinition, output).WriteJsonText(payload);
    }
}

}  // namespace ksana::codec
