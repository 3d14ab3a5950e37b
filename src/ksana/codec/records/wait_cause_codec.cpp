#include "ksana/codec/records/wait_cause_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {

namespace {

struct Detail {
    std::optional<model::WaitCause> waits;
};

}  // namespace

template <>
struct FieldsOf<model::WaitCause> {
    using Cause = model::WaitCause;

    template <class V>
    static void Visit(V& v) {
        v.Required("reason", &Cause::reason);
        v.Required("for", &Cause::key);
        v("before", &Cause::before);
    }
};

template <>
struct FieldsOf<Detail> {
    template <class V>
    static void Visit(V& v) {
        v("waits", &Detail::waits);
    }
};

std::string WaitCauseToDetail(const model::WaitCause& cause) {
    return FieldsToJson(Detail{cause}, JsonForm::kDefinition);
}

std::optional<model::WaitCause> WaitCauseFromDetail(std::string_view detail) {
    if (!detail.starts_with("{\"waits\"")) return std::nullopt;
    const auto read = ReadDocument<Detail>(
        detail, JsonForm::kDefinition, {},
        [](JsonReader& reader, const Node& node, Detail& out) { reader.Read(node, out); });
    return read ? read->waits : std::nullopt;
}

}  // namespace ksana::codec
