#include "ksana/codec/v1/audit_view.hpp"

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/merge_patch.hpp"
#include "ksana/codec/v1/job_view.hpp"

namespace ksana::codec {
namespace {

void Put(JsonOutput& out, std::string_view name, std::string_view text) {
    if (text.empty()) return;
    out.Key(name);
    out.Text(text);
}

// Writes stored JSON; as a text if it is not valid.
void PutJson(JsonOutput& out, std::string_view name, const std::string& json) {
    if (json.empty()) return;
    out.Key(name);
    const auto value = ParseJson(json, LimitsOfStoredJson(json));
    value ? WriteValue(out, *value) : out.Text(json);
}

Schema MakeAuditEvent() {
    return ObjectSchema("Something that was done. What is not known is absent.")
        .Need("seq", Schema::Count().Means("Grows."))
        .Need("at", Schema::Time().Means("When."))
        .Need("action", Schema::Text().Means("What was done.").Example("paused"))
        .Need("resource_type", Schema::Text().Means("To what it was done.").Example("job"))
        .May("resource_id", Schema::Text().Means("Absent where the event is about many (a purge)."))
        .May("tenant", Schema::Text().Means("Whose resource it is."))
        .May("user", Schema::Text().Means("Who did it."))
        .May("client_ip", Schema::Text().Means("Where the request came from."))
        .May("method", Schema::Text()
                           .Means("Method and path of the request.")
                           .Example("POST /api/v1/jobs/x/pause"))
        .May("old_object", Schema().Means("Any JSON: what was there before."))
        .May("new_object", Schema().Means("Any JSON: what is there now."))
        .May("data", Schema().Means("More about it: reason, changed (the names of members), "
                                    "run_id, request_id, …"));
}

}  // namespace

const NamedSchema kAuditEventSchema{"AuditEvent", &MakeAuditEvent};

std::string AuditEventToJson(const model::AuditEvent& event) {
    JsonOutput out;
    out.BeginObject();
    out.Key("seq");
    out.Int(event.seq);
    Put(out, "at", FormatTime(event.at));
    Put(out, "action", event.action);
    Put(out, "resource_type", event.resource_type);
    Put(out, "resource_id", event.resource_id);
    Put(out, "tenant", event.tenant);
    Put(out, "user", event.user);
    Put(out, "client_ip", event.client_ip);
    Put(out, "method", event.method);
    PutJson(out, "old_object", event.old_object);
    PutJson(out, "new_object", event.new_object);
    PutJson(out, "data", event.data);
    out.EndObject();
    return out.Take();
}

std::string AuditDataToJson(const std::vector<std::pair<std::string_view, std::string>>& texts,
                            const std::vector<std::string>* changed) {
    JsonOutput out;
    out.BeginObject();
    for (const auto& [name, text] : texts) Put(out, name, text);
    if (changed != nullptr) {
        out.Key("changed");
        out.BeginArray();
        for (const std::string& name : *changed) out.Text(name);
        out.EndArray();
    }
    out.EndObject();
    return out.Take();
}

std::vector<std::string> ChangedMembers(const model::Job& before, const model::Job& after) {
    return ChangedMembersOf(JobViewToJson(before), JobViewToJson(after));
}

}  // namespace ksana::codec
