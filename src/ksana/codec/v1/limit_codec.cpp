#include "ksana/codec/v1/limit_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::codec {

Schema MakeConcurrency() { return Schema::Int().OrNull(); }
Schema MakeRate() { return Schema::Ref(kSchemaOf<model::Rate>).OrNull(); }

const NamedSchema kLimitSchema = kSchemaOf<model::Limit>;

std::string LimitToJson(const model::Limit& limit) {
    return FieldsToJson(limit, JsonForm::kDefinition);
}

Result<model::Limit> LimitFromJson(std::string_view text) {
    KSANA_TRY(model::Limit limit,
              ReadDocument<model::Limit>(text, JsonForm::kDefinition, {},
                                         [](JsonReader& reader, const Node& node,
                                            model::Limit& out) { reader.Read(node, out); }));
    if (auto problems = model::ValidateLimit(limit); !problems.empty()) {
        return Error(std::move(problems));
    }
    return limit;
}

}  // namespace ksana::codec
