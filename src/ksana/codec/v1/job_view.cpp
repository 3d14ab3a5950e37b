#include "ksana/codec/v1/job_view.hpp"

#include <boost/json/object.hpp>

#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/merge_patch.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/codec/v1/job_fields.hpp"

namespace ksana::codec {

namespace json = boost::json;
using model::Job;
using model::JobDefinition;
using model::JobState;

namespace {

Schema MakeFinalStates();

}  // namespace

template <>
struct FieldsOf<RunRequest> {
    static constexpr SchemaDoc kSchema{.name = "RunRequest",
                                       .means = "How a job is run beside its schedule.",
                                       .example = R"({"parameters": {"day": "2026-01-01"}})"};

    template <class V>
    static void Visit(V& v) {
        v.Json("parameters", &RunRequest::parameters,
               Doc("In the place of the job's payload.").As(&Schema::AnyObject));
        v("obeys_overlap", &RunRequest::obeys_overlap,
          "Whether the job's overlap policy holds for it; else it starts whatever runs.");
        v("obeys_dependencies", &RunRequest::obeys_dependencies,
          "Whether it waits for the jobs of depends_on; else it starts without them.");
    }
};

template <>
struct FieldsOf<PauseRequest> {
    static constexpr SchemaDoc kSchema{.name = "PauseRequest",
                                       .means = "Why jobs are paused.",
                                       .example = R"({"reason": "the target is being moved"})"};

    template <class V>
    static void Visit(V& v) {
        v("reason", &PauseRequest::reason, "Shown with the job and in the audit.");
    }
};

template <>
struct FieldsOf<RemarkRequest> {
    static constexpr SchemaDoc kSchema{.name = "RemarkRequest",
                                       .means = "What a person says about a run.",
                                       .example = R"({"remark": "done by hand"})"};

    template <class V>
    static void Visit(V& v) {
        v("remark", &RemarkRequest::remark,
          "What a person has to say about it; at most 4000 bytes.");
    }
};

template <>
struct FieldsOf<PurgeRequest> {
    static constexpr SchemaDoc kSchema{
        .name = "PurgeRequest",
        .means = "Which runs are deleted.",
        .example =
            R"({"finished_before": "2026-01-01T00:00:00Z", "states": ["succeeded"],
"dry_run": true})"};

    template <class V>
    static void Visit(V& v) {
        v.Required("finished_before", &PurgeRequest::finished_before,
                   "Runs that ended before then.");
        v("states", &PurgeRequest::states,
          Doc("In these states; without it in any in which a run is over.")
              .AtLeast(1)
              .As(&MakeFinalStates));
        v("dry_run", &PurgeRequest::dry_run, "Deletes nothing, and says how many there are.");
    }
};

template <>
struct FieldsOf<BulkRequest> {
    static constexpr SchemaDoc kSchema{
        .name = "BulkRequest",
        .means = "Which jobs: all that is named must hold. Without a filter all must be true.",
        .example = R"({"group": "billing", "reason": "month end"})"};

    template <class V>
    static void Visit(V& v) {
        v("tenant", &BulkRequest::tenant, "Of this tenant.");
        v("group", &BulkRequest::group, "Of this group.");
        v("owner", &BulkRequest::owner, "Of this owner.");
        v("type", &BulkRequest::type, "That do this.");
        v("queue_type", &BulkRequest::queue_type,
          "The type of a queue action, the name of a handler.");
        v("labels", &BulkRequest::labels, "With all of these.");
        v("q", &BulkRequest::q, "As in GET /jobs.");
        v("all", &BulkRequest::all, "Every job: said where nothing else narrows them down.");
        v("reason", &BulkRequest::reason, "Of a pause.");
    }
};

namespace {

struct Nothing {};

// A visitor that removes the members of a job's state from JSON.
struct StateEraser {
    json::object& object;

    template <class M>
    void operator()(std::string_view key, M JobState::* /*member*/, const Doc& /*doc*/) const {
        object.erase(key);
    }
};

void EraseState(json::value& value) {
    json::object* const object = value.if_object();
    if (object == nullptr) return;
    StateEraser eraser{*object};
    FieldsOf<JobState>::Visit(eraser);
}

Result<JobDefinition> ReadDefinition(const json::value& value) {
    JsonReader reader(JsonForm::kDefinition);
    JobDefinition job;
    reader.Read(Node{value, ""}, job);
    if (!reader.Clean()) return reader.TakeError();
    return job;
}

std::vector<std::string_view> FinalStateNames() {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < model::kEnumCount<model::RunState>; ++i) {
        const auto state = static_cast<model::RunState>(i);
        if (model::IsFinal(state)) names.emplace_back(model::NameOf(state));
    }
    return names;
}

Schema MakeFinalStates() { return Schema::ListOf(Schema::OneOf(FinalStateNames())); }

// Members of the definition or of the state; those of the state are never required.
template <class Part>
ObjectSchema MembersOf(bool answer) {
    return DescribeMembers<Part>(answer, [](auto& v) { FieldsOf<Part>::Visit(v); });
}

constexpr std::string_view kDefinitionExample =
    R"({"id": "nightly", "name": "nightly report", "group": "billing", "owner": "ada",
"labels": {"team": "money"}, "type": "http",
"http": {"method": "POST", "url": "http://127.0.0.1:7100/demo/hello",
"body": "{\"run\": \"{{run_id}}\"}"},
"schedule": {"kind": "cron", "cron": "0 3 * * MON-FRI", "zone": "Europe/Paris"}, "timeout": "30s",
"retry": {"strategy": "exponential", "max_retries": 5, "interval": "1m"}})";

Schema MakeJobDefinition() {
    ObjectSchema definition(
        "What a user writes. What the server keeps (version, created_at, …) may stand in it, as in "
        "a copy of an answer, and is not looked at; any other unknown member is refused.");
    definition.AllOf(MembersOf<JobDefinition>(false));
    return definition.AllOf(MembersOf<JobState>(false)).Example(kDefinitionExample);
}

Schema MakeJob() {
    ObjectSchema job("The whole definition, and what the server keeps.");
    job.AllOf(MembersOf<JobDefinition>(true));
    return job.AllOf(MembersOf<JobState>(true));
}

Schema MakeJobPatch() {
    return Schema::AnyObject()
        .Means(
            "A merge patch (RFC 7396) of a JobDefinition: members that are not named stay, null "
            "takes one away. A schedule of another kind, and an action of another type, take "
            "the place of the old one.")
        .Example(R"({"schedule": {"cron": "30 3 * * MON-FRI"}, "owner": null})");
}

Schema MakeNothing() { return ObjectSchema("A verb that needs no body.").Example("{}"); }

bool IsBlank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

template <class T>
Result<T> RequestFromJson(std::string_view text) {
    if (IsBlank(text)) return T{};
    return ReadDocument<T>(
        text, JsonForm::kDefinition, {},
        [](JsonReader& reader, const Node& node, T& out) { reader.Read(node, out); });
}

}  // namespace

template <>
struct FieldsOf<Nothing> {
    template <class V>
    static void Visit(V& /*v*/) {}
};

const NamedSchema kJobDefinitionSchema{"JobDefinition", &MakeJobDefinition};
const NamedSchema kJobPatchSchema{"JobPatch", &MakeJobPatch};
const NamedSchema kJobSchema{"Job", &MakeJob};
const NamedSchema kRunRequestSchema = kSchemaOf<RunRequest>;
const NamedSchema kPauseRequestSchema = kSchemaOf<PauseRequest>;
const NamedSchema kRemarkRequestSchema = kSchemaOf<RemarkRequest>;
const NamedSchema kPurgeRequestSchema = kSchemaOf<PurgeRequest>;
const NamedSchema kBulkRequestSchema = kSchemaOf<BulkRequest>;
const NamedSchema kNothingSchema{"Nothing", &MakeNothing};

std::string JobViewToJson(const Job& job) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    FieldWriter<Job> fields(writer, job, true);
    output.BeginObject();
    FieldsOf<Job>::Visit(fields);
    output.EndObject();
    return output.Take();
}

Result<JobDefinition> JobFromView(std::string_view text) {
    KSANA_TRY(json::value value, ParseJson(text));
    EraseState(value);
    return ReadDefinition(value);
}

Result<void> ReplaceJob(Job& job, JobDefinition definition) {
    if (!definition.id.empty() && definition.id != job.id) {
        return Error(std::vector<Problem>{{"/id", "cannot be changed", "immutable", {}}});
    }
    definition.id = job.id;
    job.definition() = std::move(definition);
    return {};
}

Result<void> PatchJob(Job& job, std::string_view patch) {
    KSANA_TRY(json::value changes, ParseJson(patch));
    EraseState(changes);
    const json::object* const object = changes.if_object();
    if (object == nullptr) {
        return Error(std::vector<Problem>{{"", "must be an object", "wrong_type", {}}});
    }
    const std::string before = FieldsToJson(job.definition(), JsonForm::kDefinition);
    KSANA_TRY(json::value merged, ParseJson(before, LimitsOfStoredJson(before)));
    DropReplacedParts(merged.as_object(), *object);
    MergePatch(merged, changes);
    KSANA_TRY(JobDefinition changed, ReadDefinition(merged));
    if (changed.id.empty()) {
        return Error(std::vector<Problem>{{"/id", "cannot be taken away", "immutable", {}}});
    }
    return ReplaceJob(job, std::move(changed));
}

Result<RunRequest> RunRequestFromJson(std::string_view text) {
    KSANA_TRY(RunRequest request, RequestFromJson<RunRequest>(text));
    if (request.parameters.empty()) return request;
    if (!request.parameters.starts_with('{')) {
        return Error(std::vector<Problem>{{"/parameters", "must be an object", "wrong_type", {}}});
    }
    if (request.parameters == "{}") request.parameters.clear();
    return request;
}

Result<PauseRequest> PauseRequestFromJson(std::string_view text) {
    return RequestFromJson<PauseRequest>(text);
}

Result<RemarkRequest> RemarkRequestFromJson(std::string_view text) {
    return RequestFromJson<RemarkRequest>(text);
}

Result<BulkRequest> BulkRequestFromJson(std::string_view text) {
    return RequestFromJson<BulkRequest>(text);
}

Result<PurgeRequest> PurgeRequestFromJson(std::string_view text) {
    return ReadDocument<PurgeRequest>(
        text, JsonForm::kDefinition, {}, [](JsonReader& reader, const Node& node, auto& out) {
            reader.Read(node, out);
            if (out.states == 0 || (out.states & model::kUnfinishedStates) != 0) {
                const auto names = FinalStateNames();
                reader.Fault("/states", "must name states in which a run is over", "not_allowed",
                             {names.begin(), names.end()});
            }
        });
}

Result<void> CheckEmptyBody(std::string_view text) {
    KSANA_TRY([[maybe_unused]] const Nothing nothing, RequestFromJson<Nothing>(text));
    return {};
}

void ReadJob(JsonReader& reader, const Node& node, JobDefinition& job) { reader.Read(node, job); }

void WriteJob(JsonOutput& output, const JobDefinition& job) {
    ValueWriter(JsonForm::kDefinition, output).Write(job);
}

void ReadSchedule(JsonReader& reader, const Node& node, schedule::ScheduleSpec& spec) {
    reader.Read(node, spec);
}

}  // namespace ksana::codec
