#include "ksana/codec/records/join_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {

template <>
struct FieldsOf<model::Join> {
    template <class V>
    static void Visit(V& v) {
        v("ended", &model::Join::ended);
    }
};

std::string JoinToJson(const model::Join& join) {
    return FieldsToJson(join, JsonForm::kDefinition);
}

model::Join JoinFromJson(std::string_view text) {
    auto read = ReadDocument<model::Join>(
        text, JsonForm::kDefinition, {},
        [](JsonReader& reader, const Node& node, model::Join& out) { reader.Read(node, out); });
    return read ? *std::move(read) : model::Join{};
}

}  // namespace ksana::codec
