#include "ksana/codec/records/limit_share_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<model::SharePart> {
    template <class V>
    static void Visit(V& v) {
        v("held", &model::SharePart::held);
        v("wanted", &model::SharePart::wanted);
        v("since", &model::SharePart::since);
    }
};

template <>
struct FieldsOf<model::NodeShare> {
    template <class V>
    static void Visit(V& v) {
        v.Key("owner", &model::NodeShare::owner);
        v.Key("until", &model::NodeShare::until);
        v("in_use", &model::NodeShare::in_use);
        v("waiting", &model::NodeShare::waiting);
        v("places", &model::NodeShare::places);
        v("starts", &model::NodeShare::starts);
        v("recent", &model::NodeShare::recent);
    }
};

template <>
struct FieldsOf<model::CoolingStarts> {
    template <class V>
    static void Visit(V& v) {
        v.Key("starts", &model::CoolingStarts::starts);
        v.Key("until", &model::CoolingStarts::until);
    }
};

template <>
struct FieldsOf<model::ShareBook> {
    template <class V>
    static void Visit(V& v) {
        v("nodes", &model::ShareBook::nodes);
        v("cooling", &model::ShareBook::cooling);
    }
};

std::string ShareBookToJson(const model::ShareBook& book) {
    return FieldsToJson(book, JsonForm::kRecord);
}

Result<model::ShareBook> ShareBookFromJson(std::string_view text) {
    return ReadDocument<model::ShareBook>(text, JsonForm::kRecord, {},
                                          [](JsonReader& reader, const Node& node,
                                             model::ShareBook& out) { reader.Read(node, out); });
}

}  // namespace ksana::codec
