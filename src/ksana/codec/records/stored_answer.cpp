#include "ksana/codec/records/stored_answer.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<StoredAnswer> {
    template <class V>
    static void Visit(V& v) {
        v.Key("request", &StoredAnswer::request);
        v.Key("id", &StoredAnswer::id);
        v("until", &StoredAnswer::until);
        v("status", &StoredAnswer::status);
        v("content_type", &StoredAnswer::content_type);
        v("headers", &StoredAnswer::headers);
        v("body", &StoredAnswer::body);
    }
};

std::string StoredAnswerToJson(const StoredAnswer& answer) {
    return FieldsToJson(answer, JsonForm::kRecord);
}

Result<StoredAnswer> StoredAnswerFromJson(std::string_view text) {
    return ReadDocument<StoredAnswer>(
        text, JsonForm::kRecord, {},
        [](JsonReader& reader, const Node& node, StoredAnswer& out) { reader.Read(node, out); });
}

}  // namespace ksana::codec
