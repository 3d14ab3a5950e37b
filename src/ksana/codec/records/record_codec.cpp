#include "ksana/codec/records/record_codec.hpp"

#include <array>
#include <utility>

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/records/run_fields.hpp"
#include "ksana/codec/v1/job_fields.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<schedule::FireRange> {
    template <class V>
    static void Visit(V& v) {
        v("count", &schedule::FireRange::count);
        v("first", &schedule::FireRange::first);
        v("last", &schedule::FireRange::last);
    }
};

template <>
struct FieldsOf<model::LedgerRange> {
    template <class V>
    static void Visit(V& v) {
        v("fate", &model::LedgerRange::fate);
        v.Flat(&model::LedgerRange::range);
    }
};

template <>
struct FieldsOf<model::LedgerEntry> {
    template <class V>
    static void Visit(V& v) {
        v.Key("seq", &model::LedgerEntry::seq);
        v.Key("job_id", &model::LedgerEntry::job_id);
        v.Flat(&model::LedgerEntry::range);
        v("recorded_at", &model::LedgerEntry::recorded_at);
    }
};

template <>
struct FieldsOf<model::AuditEvent> {
    using Event = model::AuditEvent;

    template <class V>
    static void Visit(V& v) {
        v.Key("seq", &Event::seq);
        v("at", &Event::at);
        v("tenant", &Event::tenant);
        v("action", &Event::action);
        v("user", &Event::user);
        v("resource_type", &Event::resource_type);
        v("resource_id", &Event::resource_id);
        v("old_object", &Event::old_object);
        v("new_object", &Event::new_object);
        v("data", &Event::data);
        v("client_ip", &Event::client_ip);
        v("method", &Event::method);
    }
};

template <>
struct FieldsOf<model::Document> {
    using Document = model::Document;

    template <class V>
    static void Visit(V& v) {
        v.Key("kind", &Document::kind);
        v.Key("key", &Document::key);
        v("version", &Document::version);
        v("body", &Document::body);
        v("updated_at", &Document::updated_at);
        v("expires_at", &Document::expires_at);
    }
};

namespace {

// In the order of the variant.
constexpr std::array<std::string_view, std::variant_size_v<Record>> kNames = {
    "job", "run", "attempt", "ledger", "event", "document"};

// Returns {"name":{…}}; `write` writes the inner object.
template <class F>
std::string LineOf(std::string_view name, const F& write) {
    JsonOutput output;
    output.BeginObject();
    output.Key(name);
    write(ValueWriter(JsonForm::kRecord, output));
    output.EndObject();
    return output.Take();
}

template <std::size_t... I>
std::size_t ReadParts(ObjectReader& object, Record& record, std::index_sequence<I...>) {
    std::size_t found = 0;
    const auto read = [&]<std::size_t N>() {
        const auto part = object.Find(kNames[N]);
        if (!part) return;
        ++found;
        object.reader().Read(*part, record.emplace<N>());
    };
    (read.template operator()<I>(), ...);
    return found;
}

}  // namespace

std::string RecordToLine(const Record& record) {
    return LineOf(kNames.at(record.index()), [&record](const ValueWriter& writer) {
        std::visit([&writer](const auto& part) { writer.Write(part); }, record);
    });
}

std::string DefinitionToLine(const model::JobDefinition& job) {
    return LineOf(kNames.front(), [&job](const ValueWriter& writer) { writer.Write(job); });
}

Result<Record> RecordFromLine(std::string_view line) {
    return ReadDocument<Record>(line, JsonForm::kRecord, {.bytes = line.size()}, ReadRecord);
}

void ReadRecord(JsonReader& reader, const Node& node, Record& record) {
    const JsonForm outer = reader.SwitchTo(JsonForm::kRecord);
    const std::size_t before = reader.ProblemCount();
    Record read;
    ObjectReader object(reader, node);
    const std::size_t found =
        ReadParts(object, read, std::make_index_sequence<std::variant_size_v<Record>>{});
    object.Finish();
    if (object.ok() && found != 1) {
        reader.Fault(node.path, "must hold one of job, run, attempt, ledger, event and document");
    }
    if (reader.ProblemCount() == before) record = std::move(read);
    reader.SwitchTo(outer);
}

}  // namespace ksana::codec
