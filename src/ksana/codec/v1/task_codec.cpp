#include "ksana/codec/v1/task_codec.hpp"

#include <fmt/core.h>

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/schema/field_schema.hpp"
#include "ksana/codec/v1/job_fields.hpp"

namespace ksana::codec {

using model::NewTask;

// Longer than any that a version of the standard has named.
constexpr std::size_t kMaxTraceParent = 200;

template <>
struct FieldsOf<model::TaskKey> {
    static constexpr SchemaDoc kSchema{.means = "One run of a tenant at a time holds a key."};

    template <class V>
    static void Visit(V& v) {
        v.Required("key", &model::TaskKey::key, Doc("Its name.").Between(1, 500));
        v("states", &model::TaskKey::states,
          Doc("While the run is in one of these; absent: until it is over.").AtLeast(1));
        v("period", &model::TaskKey::period, "And for no longer than this.");
    }
};

template <>
struct FieldsOf<NewTask> {
    static constexpr SchemaDoc kSchema{
        .name = "TaskDefinition",
        .means = "A task that is to be done.",
        .example =
            R"({"type": "mail", "payload": {"to": "ada@example.com"}, "priority": 7,
"unique": {"key": "order-4711"}, "timeout": "5m",
"retry": {"strategy": "fixed", "max_retries": 5, "interval": "1m"}})"};

    template <class V>
    static void Visit(V& v) {
        v("id", &NewTask::id, "Of the client's choice; absent: one is drawn.");
        v.Required("type", &NewTask::type,
                   Doc("Who serves it. A type need not be known.").Between(1, 128));
        v.Json("payload", &NewTask::payload, "Any JSON, up to 1 MiB.");
        v("tenant", &NewTask::tenant, Doc("Whose task it is.").Between(1, 128));
        v("creator", &NewTask::creator, Doc("Who submits it.").AtMost(200));
        v("category", &NewTask::category, Doc("Absent: that of the type.").Between(1, 128));
        v("priority", &NewTask::priority,
          Doc("Who goes first where runs wait: 9 before 0.")
              .Between(model::kMinPriority, model::kMaxPriority));
        v("start_at", &NewTask::start_at, "Not before. A time in the past is now.");
        v("delay", &NewTask::delay, "Not before, counted from the submission.");
        v("unique", &NewTask::unique, "One run of a tenant at a time holds a key.");
        v("retry", &NewTask::retry, "Absent: that of the type, else that of the server.");
        v("timeout", &NewTask::timeout,
          "Of one attempt. Absent: that of the type, else that of the server.");
        v("need_manual", &NewTask::need_manual,
          "Exhausted retries wait for a person (held). Absent: as the type says.");
        v("parent", &NewTask::parent, "The id of another run.");
        v("traceparent", &NewTask::trace_parent,
          Doc("W3C trace context: the run belongs to this trace. Absent: the header of that name, "
              "else the run begins a trace.")
              .AtMost(kMaxTraceParent));
        v("selector", &NewTask::selector, "Only for agents with these labels.");
        v("prefer", &NewTask::prefer, "Agents with all of these labels are asked first.");
        v("prefer_for", &NewTask::prefer_for,
          "How long only those are asked. Absent: 2s, or 10s with sticky.");
        v("sticky", &NewTask::sticky,
          Doc("A key: tasks with the same one go to the same worker first.").AtMost(500));
    }
};

namespace {

Schema MakeTaskBatch() {
    return ObjectSchema("Tasks that are stored together, or not at all.")
        .Need("runs",
              Schema::ListOf(Schema::Ref(kTaskDefinitionSchema)).AtMost(10'000).Means("The tasks."))
        .Example(R"({"runs": [{"type": "mail", "priority": 9}, {"type": "mail"}]})");
}

// Room for escapes and other members around the largest payload.
constexpr std::size_t kMaxTaskText = std::size_t{8} << 20;

void ReadTasks(JsonReader& reader, const Node& node, std::size_t most, std::vector<NewTask>& out) {
    const auto* array = node.value.if_array();
    if (array == nullptr) return reader.WrongType(node, "an array");
    if (array->size() > most) {
        return reader.Fault(
            node.path, fmt::format("{} in one call; at most {} are taken", array->size(), most),
            "out_of_range");
    }
    reader.Read(node, out);
}

}  // namespace

const NamedSchema kTaskDefinitionSchema = kSchemaOf<NewTask>;
const NamedSchema kTaskBatchSchema{"TaskBatch", &MakeTaskBatch};

Result<NewTask> NewTaskFromJson(std::string_view text) {
    return ReadDocument<NewTask>(
        text, JsonForm::kDefinition, {.bytes = kMaxTaskText},
        [](JsonReader& reader, const Node& node, NewTask& out) { reader.Read(node, out); });
}

Result<std::vector<NewTask>> NewTasksFromJson(std::string_view text,
                                              const TaskBatchLimits& limits) {
    return ReadDocument<std::vector<NewTask>>(
        text, JsonForm::kDefinition, {.bytes = limits.bytes},
        [&](JsonReader& reader, const Node& node, std::vector<NewTask>& out) {
            ObjectReader object(reader, node);
            if (const auto runs = object.FindRequired("runs")) {
                ReadTasks(reader, *runs, limits.tasks, out);
            }
            object.Finish();
        });
}

}  // namespace ksana::codec
