#include "ksana/codec/records/log_line.hpp"

#include <fmt/core.h>

#include <charconv>

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/records/record_codec.hpp"

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
constexpr std::string_view kSumMember = R"(,"sum":)";
constexpr std::string_view kRun = R"({"run":{"id":")";
constexpr std::string_view kJob = R"({"job":{"id":")";

Error NotALine() { return {Code::kInvalidArgument, "is not a line of a log"}; }

template <class Number>
bool ParseNumber(std::string_view text, Number& number) {
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    return fault == std::errc() && end == text.data() + text.size();
}

Result<LogLine> ParseCommit(std::string_view inside) {
    CommitMark mark;
    const std::size_t at = inside.find(kSumMember);
    if (!ParseNumber(inside.substr(0, at), mark.seq)) return NotALine();
    if (at != std::string_view::npos &&
        !ParseNumber(inside.substr(at + kSumMember.size()), mark.sum.emplace())) {
        return NotALine();
    }
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

std::string CommitToLine(CommitMark mark) {
    if (!mark.sum) return fmt::format("{}{}}}", kCommit, mark.seq);
    return fmt::format("{}{}{}{}}}", kCommit, mark.seq, kSumMember, *mark.sum);
}

bool IsCommitLine(std::string_view line) { return line.starts_with(kCommit); }

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

std::string_view RowOfLine(std::string_view line) {
    if (!line.starts_with(kRun) && !line.starts_with(kJob)) return {};
    static_assert(kRun.size() == kJob.size());
    const std::size_t end = line.find_first_of(R"("\)", kRun.size());
    if (end == std::string_view::npos || line[end] != '"') return {};
    return line.substr(0, end + 1);
}

}  // namespace ksana::codec
