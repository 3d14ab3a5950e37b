#include "ksana/codec/v1/type_view.hpp"

#include <boost/json/object.hpp>

#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/merge_patch.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/codec/v1/type_fields.hpp"

namespace ksana::codec {

namespace json = boost::json;
using model::Callbacks;
using model::RunType;

namespace {

// All secrets of callbacks, each with its place, so that masking forgets none.
struct Secret {
    std::string Callbacks::*member;
    const char* path;
};
constexpr Secret kSecrets[] = {
    {&Callbacks::secret_key, "/callbacks/secret_key"},
    {&Callbacks::previous_secret_key, "/callbacks/previous_secret_key"},
};

RunType Masked(RunType type) {
    for (const Secret& secret : kSecrets) {
        std::string& text = type.callbacks.*secret.member;
        if (!text.empty()) text = kSecretMask;
    }
    return type;
}

void Unmask(JsonReader& reader, RunType& type, const RunType* before) {
    for (const Secret& secret : kSecrets) {
        std::string& text = type.callbacks.*secret.member;
        if (text != kSecretMask) continue;
        text = before != nullptr ? before->callbacks.*secret.member : std::string();
        if (text.empty()) {
            reader.Fault(secret.path,
                         "is what answers show in the place of a secret; there is none "
                         "that it could stand for");
        }
    }
}

// A visitor that removes the members that the server keeps from JSON.
struct TypeEraser {
    json::object& object;

    template <class M>
    void operator()(std::string_view key, M RunType::* /*member*/, const Doc& /*doc*/) const {
        object.erase(key);
    }
};

Result<json::value> ParseWithoutKept(std::string_view text) {
    KSANA_TRY(json::value value, ParseJson(text));
    if (json::object* const object = value.if_object()) {
        TypeEraser eraser{*object};
        FieldsOf<RunType>::VisitBookkeeping(eraser);
    }
    return value;
}

Result<RunType> ReadDefinition(const json::value& value, const RunType* before) {
    JsonReader reader(JsonForm::kDefinition);
    RunType type;
    reader.Read(Node{value, ""}, type);
    Unmask(reader, type, before);
    if (!reader.Clean()) return reader.TakeError();
    if (before == nullptr) return type;
    if (type.code.empty()) type.code = before->code;
    type.created_at = before->created_at;
    type.updated_at = before->updated_at;
    return type;
}

ObjectSchema TypeMembers(std::string_view means, bool answer) {
    ObjectSchema type(means);
    type.AllOf(DescribeMembers<RunType>(answer, [](auto& v) {
        FieldsOf<RunType>::Visit(v);
        FieldsOf<RunType>::VisitBookkeeping(v);
    }));
    return type;
}

Schema MakeTypeDefinition() {
    return TypeMembers(
               "What a user writes. What the server keeps may stand in it, as in a copy of "
               "an answer, and is not looked at; any other unknown member is refused.",
               false)
        .Example(R"({"code": "transcode", "name": "Transcode", "category": "media",
"retry": {"strategy": "sequence", "max_retries": 3, "sequence": ["10s", "1m", "10m"]},
"timeout": "30m", "need_manual": true,
"callbacks": {"success": {"url": "http://127.0.0.1:7100/demo/hello", "method": "POST"}}})");
}

Schema MakeType() {
    return TypeMembers("What holds for all runs of a type, and when that was said.", true);
}

Schema MakeCallbacksPatch() {
    return DescribeAll<Callbacks>(true).AsPatch("A merge patch of the callbacks of a type.");
}

constexpr NamedSchema kCallbacksPatch{"TypeCallbacksPatch", &MakeCallbacksPatch};

Schema MakeTypePatch() {
    const Schema kept = Schema().Means("What the server keeps is not looked at.");
    ObjectSchema patch =
        DescribeAll<RunType>(true)
            .Without("callbacks")
            .May("callbacks", Schema::Ref(kCallbacksPatch))
            .AsPatch(
                "A merge patch (RFC 7396) of a TypeDefinition: members that are not named "
                "stay, null takes one away.");
    return patch.May("created_at", kept)
        .May("updated_at", kept)
        .Example(R"({"timeout": "1h", "callbacks": {"previous_secret_key": null}})");
}

}  // namespace

const NamedSchema kTypeDefinitionSchema{"TypeDefinition", &MakeTypeDefinition};
const NamedSchema kTypePatchSchema{"TypePatch", &MakeTypePatch};
const NamedSchema kTypeSchema{"Type", &MakeType};

std::string RunTypeViewToJson(const RunType& type) {
    const RunType shown = Masked(type);
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    FieldWriter<RunType> fields(writer, shown, true);
    output.BeginObject();
    FieldsOf<RunType>::Visit(fields);
    FieldsOf<RunType>::VisitBookkeeping(fields);
    output.EndObject();
    return output.Take();
}

Result<RunType> RunTypeFromView(std::string_view text, const RunType* before) {
    KSANA_TRY(const json::value value, ParseWithoutKept(text));
    return ReadDefinition(value, before);
}

Result<RunType> PatchedRunType(const RunType& before, std::string_view patch) {
    KSANA_TRY(const json::value changes, ParseWithoutKept(patch));
    if (!changes.is_object()) {
        return Error(std::vector<Problem>{{"", "must be an object", "wrong_type", {}}});
    }
    const std::string old = FieldsToJson(Masked(before), JsonForm::kDefinition);
    KSANA_TRY(json::value merged, ParseJson(old, LimitsOfStoredJson(old)));
    MergePatch(merged, changes);
    return ReadDefinition(merged, &before);
}

std::vector<std::string> ChangedMembers(const RunType& before, const RunType& after) {
    return ChangedMembersOf(FieldsToJson(before, JsonForm::kDefinition),
                            FieldsToJson(after, JsonForm::kDefinition));
}

}  // namespace ksana::codec
