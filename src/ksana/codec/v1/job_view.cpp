#include "ksana/codec/v1/job_view.hpp"

#include <boost/json/object.hpp>

#include "ksana/codec/json/json_parse.hpp"
#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/json/merge_patch.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/codec/v1/job_fields.hpp"

namespace ksana::codec {

namespace json = boost::json;
using model::Job;

template <>
struct FieldsOf<RunRequest> {
    template <class V>
    static void Visit(V& v) {
        v.Json("parameters", &RunRequest::parameters);
        v("obeys_overlap", &RunRequest::obeys_overlap);
    }
};

template <>
struct FieldsOf<PauseRequest> {
    template <class V>
    static void Visit(V& v) {
        v("reason", &PauseRequest::reason);
    }
};

template <>
struct FieldsOf<RemarkRequest> {
    template <class V>
    static void Visit(V& v) {
        v("remark", &RemarkRequest::remark);
    }
};

template <>
struct FieldsOf<PurgeRequest> {
    template <class V>
    static void Visit(V& v) {
        v.Required("finished_before", &PurgeRequest::finished_before);
        v("states", &PurgeRequest::states);
        v("dry_run", &PurgeRequest::dry_run);
    }
};

template <>
struct FieldsOf<BulkRequest> {
    template <class V>
    static void Visit(V& v) {
        v("tenant", &BulkRequest::tenant);
        v("group", &BulkRequest::group);
        v("owner", &BulkRequest::owner);
        v("type", &BulkRequest::type);
        v("queue_type", &BulkRequest::queue_type);
        v("labels", &BulkRequest::labels);
        v("q", &BulkRequest::q);
        v("all", &BulkRequest::all);
        v("reason", &BulkRequest::reason);
    }
};

namespace {

struct Nothing {};

// Takes away what VisitBookkeeping names, so that the list of it stands in one place.
struct JobEraser {
    json::object& object;

    template <class M>
    void operator()(std::string_view key, M Job::* /*member*/) const {
        object.erase(key);
    }
};

void EraseKept(json::value& value) {
    json::object* const object = value.if_object();
    if (object == nullptr) return;
    JobEraser eraser{*object};
    FieldsOf<Job>::VisitBookkeeping(eraser);
}

Result<Job> ReadDefinition(const json::value& value) {
    JsonReader reader(JsonForm::kDefinition);
    Job job;
    reader.Read(Node{value, ""}, job);
    if (!reader.Clean()) return Error(reader.TakeProblems());
    return job;
}

std::vector<std::string> FinalStateNames() {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < model::kEnumCount<model::RunState>; ++i) {
        const auto state = static_cast<model::RunState>(i);
        if (model::IsFinal(state)) names.emplace_back(model::NameOf(state));
    }
    return names;
}

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

std::string JobViewToJson(const Job& job) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    FieldWriter<Job> fields(writer, job, true);
    output.BeginObject();
    FieldsOf<Job>::Visit(fields);
    FieldsOf<Job>::VisitBookkeeping(fields);
    output.EndObject();
    return output.Take();
}

Result<Job> JobFromView(std::string_view text) {
    KSANA_TRY(json::value value, ParseJson(text));
    EraseKept(value);
    return ReadDefinition(value);
}

Result<void> ReplaceJob(Job& job, Job definition) {
    if (!definition.id.empty() && definition.id != job.id) {
        return Error(std::vector<Problem>{{"/id", "cannot be changed", "immutable", {}}});
    }
    definition.id = job.id;
    KeepBookkeeping(job, definition);
    job = std::move(definition);
    return {};
}

Result<void> PatchJob(Job& job, std::string_view patch) {
    KSANA_TRY(json::value changes, ParseJson(patch));
    EraseKept(changes);
    const json::object* const object = changes.if_object();
    if (object == nullptr) {
        return Error(std::vector<Problem>{{"", "must be an object", "wrong_type", {}}});
    }
    const std::string before = FieldsToJson(job, JsonForm::kDefinition);
    KSANA_TRY(json::value merged, ParseJson(before, LimitsOfOurs(before)));
    DropReplacedParts(merged.as_object(), *object);
    MergePatch(merged, changes);
    KSANA_TRY(Job changed, ReadDefinition(merged));
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
                reader.Fault("/states", "must name states in which a run is over", "not_allowed",
                             FinalStateNames());
            }
        });
}

Result<void> CheckEmptyBody(std::string_view text) {
    KSANA_TRY([[maybe_unused]] const Nothing nothing, RequestFromJson<Nothing>(text));
    return {};
}

void ReadJob(JsonReader& reader, const Node& node, model::Job& job) { reader.Read(node, job); }

void WriteJob(JsonOutput& output, const model::Job& job) {
    ValueWriter(JsonForm::kDefinition, output).Write(job);
}

void ReadSchedule(JsonReader& reader, const Node& node, schedule::ScheduleSpec& spec) {
    reader.Read(node, spec);
}

}  // namespace ksana::codec
