#include "ksana/codec/log_line.hpp"

#include <fmt/core.h>

#include <charconv>

#include "ksana/codec/json_reader.hpp"
#include "ksana/codec/record_codec.hpp"
#include "ksana/codec/value_writer.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<Drop> {
    template <class V>
    static void Visit(V& v) {
        v.Key("table", &Drop::table);
        v.Key("id", &Drop::id);
        v("key", &Drop::key);
    }
};

namespace {

constexpr std::string_view kDrop = R"({"drop":)";
constexpr std::string_view kCommit = R"({"commit":)";

Error NotALine() { return {Code::kInvalidArgument, "is not a line of a log"}; }

Result<LogLine> ParseCommit(std::string_view number) {
    CommitMark mark;
    const auto [end, fault] =
        std::from_chars(number.data(), number.data() + number.size(), mark.seq);
    if (fault != std::errc() || end != number.data() + number.size()) return NotALine();
    return LogLine(mark);
}

Result<LogLine> ParseDrop(std::string_view text) {
    KSANA_TRY(Drop drop, ReadDocument<Drop>(text, JsonForm::kRecord, {.bytes = text.size()},
                                            [](JsonReader& reader, const Node& node, Drop& out) {
                                                reader.Read(node, out);
                                            }));
    return LogLine(std::move(drop));
}

}  // namespace

std::string DropToLine(const Drop& drop) {
    return fmt::format("{}{}}}", kDrop, FieldsToJson(drop, JsonForm::kRecord));
}

std::string CommitToLine(CommitMark mark) { return fmt::format("{}{}}}", kCommit, mark.seq); }

Result<LogLine> LogLineFromText(std::string_view line) {
    if (!line.ends_with('}')) return NotALine();
    const auto inside = [&](std::string_view head) {
        return line.substr(head.size(), line.size() - head.size() - 1);
    };
    if (line.starts_with(kCommit)) return ParseCommit(inside(kCommit));
    if (line.starts_with(kDrop)) return ParseDrop(inside(kDrop));
    KSANA_TRY(model::Record record, RecordFromLine(line));
    return LogLine(std::move(record));
}

}  // namespace ksana::codec
