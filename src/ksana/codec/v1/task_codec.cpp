#include "ksana/codec/v1/task_codec.hpp"

#include <fmt/core.h>

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/codec/v1/job_fields.hpp"

namespace ksana::codec {

using model::NewTask;

template <>
struct FieldsOf<model::TaskKey> {
    template <class V>
    static void Visit(V& v) {
        v.Required("key", &model::TaskKey::key);
        v("states", &model::TaskKey::states);
        v("period", &model::TaskKey::period);
    }
};

template <>
struct FieldsOf<NewTask> {
    template <class V>
    static void Visit(V& v) {
        v("id", &NewTask::id);
        v.Required("type", &NewTask::type);
        v.Json("payload", &NewTask::payload);
        v("tenant", &NewTask::tenant);
        v("creator", &NewTask::creator);
        v("category", &NewTask::category);
        v("priority", &NewTask::priority);
        v("start_at", &NewTask::start_at);
        v("delay", &NewTask::delay);
        v("unique", &NewTask::unique);
        v("retry", &NewTask::retry);
        v("timeout", &NewTask::timeout);
        v("need_manual", &NewTask::need_manual);
        v("parent", &NewTask::parent);
        v("selector", &NewTask::selector);
    }
};

namespace {

// A task whose text is wrong from end to end says enough with this many faults.
constexpr std::size_t kMaxProblems = 100;

// Around the largest payload there may stand escapes and the other members.
constexpr std::size_t kMaxTaskText = std::size_t{8} << 20;

void ReadTasks(JsonReader& reader, const Node& node, std::size_t most, std::vector<NewTask>& out) {
    const auto* array = node.value.if_array();
    if (array == nullptr) return reader.WrongType(node, "an array");
    if (array->size() > most) {
        return reader.Fault(
            node.path, fmt::format("{} in one call; at most {} are taken", array->size(), most),
            "out_of_range");
    }
    out.resize(array->size());
    for (std::size_t i = 0; i < out.size() && reader.ProblemCount() < kMaxProblems; ++i) {
        reader.Read(Node{(*array)[i], fmt::format("{}/{}", node.path, i)}, out[i]);
    }
}

}  // namespace

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
