#include "ksana/codec/records/export_line.hpp"

#include <fmt/core.h>

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/records/record_codec.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<ExportHeader> {
    template <class V>
    static void Visit(V& v) {
        v.Key("ksana_export", &ExportHeader::version);
        v.Key("at", &ExportHeader::at);
        v.Key("store", &ExportHeader::store);
    }
};

template <>
struct FieldsOf<ExportCounts> {
    template <class V>
    static void Visit(V& v) {
        v.Key("jobs", &ExportCounts::jobs);
        v.Key("runs", &ExportCounts::runs);
        v.Key("attempts", &ExportCounts::attempts);
        v.Key("ledger", &ExportCounts::ledger);
        v.Key("events", &ExportCounts::events);
        v.Key("documents", &ExportCounts::documents);
    }
};

namespace {

constexpr std::string_view kEnd = "end";
constexpr std::string_view kSum = "sum";

// Counts a record by its kind.
struct Counter {
    ExportCounts& counts;

    void operator()(const model::Job&) const { ++counts.jobs; }
    void operator()(const model::Run&) const { ++counts.runs; }
    void operator()(const model::Attempt&) const { ++counts.attempts; }
    void operator()(const model::LedgerEntry&) const { ++counts.ledger; }
    void operator()(const model::AuditEvent&) const { ++counts.events; }
    void operator()(const model::Document&) const { ++counts.documents; }
};

// Reads only the version: the members of another version may mean anything.
void ReadVersion(JsonReader& reader, const Node& node, std::int32_t& version) {
    ObjectReader object(reader, node);
    object.Required("ksana_export", version);
}

void ReadLine(JsonReader& reader, const Node& node, ExportLine& line) {
    const auto* object = node.value.if_object();
    if (object == nullptr || !object->contains(kEnd)) {
        return ReadRecord(reader, node, line.emplace<model::Record>());
    }
    ObjectReader members(reader, node);
    auto& end = line.emplace<ExportEnd>();
    members.Required(kEnd, end.counts);
    members.Optional(kSum, end.sum);
    members.Finish();
}

}  // namespace

void ExportCounts::Count(const model::Record& record) { std::visit(Counter{*this}, record); }

std::string ExportHeaderToLine(const ExportHeader& header) {
    return FieldsToJson(header, JsonForm::kRecord);
}

std::string ExportEndToLine(const ExportEnd& end) {
    return fmt::format(R"({{"{}":{},"{}":"{}"}})", kEnd,
                       FieldsToJson(end.counts, JsonForm::kRecord), kSum, end.sum);
}

Result<ExportHeader> ExportHeaderFromLine(std::string_view line) {
    const JsonLimits limits = LimitsOfStoredJson(line);
    const auto version = ReadDocument<std::int32_t>(line, JsonForm::kRecord, limits, ReadVersion);
    if (!version) {
        return Error(Code::kInvalidArgument,
                     "this is not an export of Ksana: it does not begin with {\"ksana_export\":…}");
    }
    if (*version != kExportVersion) {
        return Error(Code::kInvalidArgument,
                     fmt::format("the export has version {}, this program reads version {}",
                                 *version, kExportVersion));
    }
    return ReadDocument<ExportHeader>(
        line, JsonForm::kRecord, limits,
        [](JsonReader& reader, const Node& node, ExportHeader& out) { reader.Read(node, out); });
}

Result<ExportLine> ExportLineFromText(std::string_view line) {
    return ReadDocument<ExportLine>(line, JsonForm::kRecord, {.bytes = line.size()}, ReadLine);
}

}  // namespace ksana::codec
