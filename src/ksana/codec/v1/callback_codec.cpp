#include "ksana/codec/v1/callback_codec.hpp"

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"

namespace ksana::codec {

using model::CallbackOrder;

namespace {

Schema MakeDeadLetter() { return Schema::OneOf({model::NameOf(model::CallbackState::kFailed)}); }

}  // namespace

template <>
struct FieldsOf<CallbackOrder> {
    template <class V>
    static void Visit(V& v) {
        v.Key("event", &CallbackOrder::event, "What it tells of.");
        v.Key("method", &CallbackOrder::method, "The method of the request.");
        v("url", &CallbackOrder::url,
          "Where it was to go when the run ended; the type may name another address by now.");
        v("signed", &CallbackOrder::signed_, "The type wanted it signed then.");
        v.Key("body", &CallbackOrder::body);
        v("alert", &CallbackOrder::alert);
    }
};

template <>
struct FieldsOf<RedeliverRequest> {
    static constexpr SchemaDoc kSchema{.name = "RedeliverRequest",
                                       .means = "Which callbacks are sent again.",
                                       .example = R"({"state": "failed", "type": "mail"})"};

    template <class V>
    static void Visit(V& v) {
        v("type", &RedeliverRequest::type, "About runs of this type; else of any.");
        v("tenant", &RedeliverRequest::tenant, "About runs of this tenant; else of any.");
        v.Required("state", &RedeliverRequest::state,
                   Doc("Dead letters; nothing else can be sent again.").As(&MakeDeadLetter));
    }
};

namespace {

Schema MakeCallback() {
    const auto order = DescribeAll<CallbackOrder>(true);
    return ObjectSchema("A request that tells of the end of a run, or of an alert.")
        .Need("id", Schema::Id().Means("Of the run that delivers it; sent as webhook-id."))
        .May("run_id", Schema::Id().Means("The run it speaks of."))
        .Need("type", Schema::Text().Means("Type of the run it speaks of."))
        .Need("tenant", Schema::Text().Means("Whose run it is."))
        .Need("state", Schema::Name<model::CallbackState>().Means("How far it is."))
        .NeedOf(order, {"event", "method", "url", "signed"})
        .Need("attempts", Schema::Int().AtLeast(0).Means("How often it was tried."))
        .May("last_error", Schema::Text().Means("Why the last try failed."))
        .May("last_attempt_at", Schema::Time().Means("When it was last tried."))
        .May("next_attempt_at", Schema::Time().Means("Of one that is pending."))
        .May("delivered_at", Schema::Time().Means("When the receiver took it."))
        .Need("created_at", Schema::Time().Means("When the run ended."));
}

void WriteJsonOrText(JsonOutput& output, std::string_view key, const std::string& text) {
    output.Key(key);
    if (text.empty()) return output.Null();
    if (IsJson(text)) return output.Raw(text);
    output.Text(text);
}

}  // namespace

const NamedSchema kCallbackSchema{"Callback", &MakeCallback};
const NamedSchema kRedeliverRequestSchema = kSchemaOf<RedeliverRequest>;

std::string CallbackOrderToJson(const CallbackOrder& order) {
    return FieldsToJson(order, JsonForm::kRecord);
}

Result<CallbackOrder> CallbackOrderFromJson(std::string_view text) {
    return ReadDocument<CallbackOrder>(
        text, JsonForm::kRecord, LimitsOfStoredJson(text),
        [](JsonReader& reader, const Node& node, CallbackOrder& out) { reader.Read(node, out); });
}

Result<RedeliverRequest> RedeliverRequestFromJson(std::string_view text) {
    return ReadDocument<RedeliverRequest>(
        text, JsonForm::kDefinition, {}, [](JsonReader& reader, const Node& node, auto& out) {
            reader.Read(node, out);
            if (out.state != model::CallbackState::kFailed) {
                reader.Fault("/state", "must be failed: only dead letters are sent again",
                             "not_allowed", {"failed"});
            }
        });
}

std::string CallbackBody(const model::Run& run, model::CallbackEvent event) {
    JsonOutput body;
    body.BeginObject();
    if (event == model::CallbackEvent::kSuccess) {
        WriteJsonOrText(body, "ext", run.payload);
        WriteJsonOrText(body, "result", run.status.result);
    } else {
        body.TextMember("task_id", run.id.ToString());
        body.TextMember("error_info", run.status.last_error);
        WriteJsonOrText(body, "ext", run.payload);
    }
    body.EndObject();
    return body.Take();
}

std::string CallbackViewToJson(const model::Run& run) {
    const model::RunStatus& status = run.status;
    const CallbackOrder order = CallbackOrderFromJson(run.payload).value_or(CallbackOrder{});
    const model::CallbackState state = model::CallbackStateOf(status.state);
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    writer.Member("id", run.id);
    if (run.parent) writer.Member("run_id", *run.parent);
    writer.Member("type", run.type);
    writer.Member("tenant", run.tenant);
    writer.Member("state", state);
    writer.Member("event", order.event);
    writer.Member("method", order.method);
    writer.Member("url", order.url);
    writer.Member("signed", order.signed_);
    writer.Member("attempts", status.attempt);
    if (!status.last_error.empty()) writer.Member("last_error", status.last_error);
    if (status.started_at) writer.Member("last_attempt_at", *status.started_at);
    if (state == model::CallbackState::kPending) writer.Member("next_attempt_at", status.ready_at);
    if (state == model::CallbackState::kDelivered && status.finished_at) {
        writer.Member("delivered_at", *status.finished_at);
    }
    writer.Member("created_at", run.created_at);
    output.EndObject();
    return output.Take();
}

}  // namespace ksana::codec
