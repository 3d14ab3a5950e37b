#include "ksana/codec/dialects/task_dialect.hpp"

#include <fmt/core.h>

#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/dialects/task_words.hpp"
#include "ksana/codec/json/json_text.hpp"
#include "ksana/codec/json/value_writer.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/vocabulary.hpp"

namespace ksana::codec {

using model::NewTask;
using model::Run;
using model::RunState;

namespace {

enum class ReportStatus : std::uint8_t { kSuccess, kCompleted, kError, kFailure };

}  // namespace
}  // namespace ksana::codec

template <>
struct ksana::model::EnumNames<ksana::codec::ReportStatus> {
    static constexpr std::array<std::string_view, 4> kNames = {"Success", "Completed", "Error",
                                                               "Failure"};
};

namespace ksana::codec {
namespace {

// Members of a task that the server keeps.
constexpr std::string_view kKeptOfTask[] = {
    "status", "executing_deadline", "exec_id",     "error_count", "error_info", "remark",
    "result", "exec_time",          "create_date", "update_date"};

template <class T>
void WriteOrNull(const ValueWriter& writer, std::string_view key, const std::optional<T>& value) {
    writer.output().Key(key);
    if (value) {
        writer.Write(*value);
    } else {
        writer.output().Null();
    }
}

// Returns the whole seconds of the last attempt; 0 if none has ended.
std::int64_t ExecSeconds(const model::RunStatus& status) {
    if (!status.started_at || !status.ended_at) return 0;
    return std::chrono::floor<std::chrono::seconds>(*status.ended_at - *status.started_at).count();
}

// Whoever has the exec_id may report on the task: only the agent that fetches it is told.
enum class ExecId : std::uint8_t { kHidden, kShown };

void WriteTask(JsonOutput& output, const Run& run, ExecId exec_id) {
    const model::RunStatus& status = run.status;
    const ValueWriter writer(JsonForm::kDefinition, output);
    const bool executing = status.state == RunState::kRunning;
    output.BeginObject();
    writer.Member("id", run.id);
    WriteNumberOrText(output, "tenant_id", run.tenant);
    writer.Member("type", run.type);
    WriteCreator(output, run.creator);
    writer.Member("start_time", status.ready_at);
    output.Key("status");
    output.Text(model::WordFor(model::Dialect::kTask, status.state, status.failures).value_or(""));
    WriteOrNull(writer, "executing_deadline", executing ? status.deadline : std::nullopt);
    WriteOrNull(writer, "exec_id",
                exec_id == ExecId::kShown ? std::optional(status.exec_id) : std::nullopt);
    writer.Member("error_count", status.failures);
    writer.Member("error_info", status.last_error);
    writer.Member("category", run.category);
    writer.Member("remark", status.remark);
    WriteExt(output, run.payload);
    output.Key("result");
    if (status.result.empty()) {
        output.Null();
    } else {
        writer.WriteJsonText(status.result);
    }
    writer.Member("exec_time", ExecSeconds(status));
    writer.Member("create_date", run.created_at);
    writer.Member("update_date", run.updated_at);
    output.EndObject();
}

void ReadTask(JsonReader& reader, const Node& node, NewTask& task) {
    ObjectReader object(reader, node);
    object.Optional("id", task.id);
    ReadNumberOrText(object, "tenant_id", task.tenant);
    object.Required("type", task.type);
    ReadCreator(object, task.creator);
    object.Optional("start_time", task.start_at);
    object.Optional("category", task.category);
    if (const auto ext = object.Find("ext")) reader.ReadRaw(*ext, task.payload);
    Ignore(object, kKeptOfTask);
    object.Finish();
}

// Reads "mail" or ["mail", "scan"].
void ReadNames(ObjectReader& object, std::string_view key, std::vector<std::string>& out) {
    const auto node = object.Find(key);
    if (!node) return;
    if (node->value.is_array()) {
        object.reader().Read(*node, out);
        if (out.size() > model::kMaxFilterNames) {
            object.reader().Fault(node->path,
                                  fmt::format("has more than {}", model::kMaxFilterNames));
        }
        return;
    }
    std::string name;
    object.reader().Read(*node, name);
    if (!name.empty()) out.push_back(std::move(name));
}

void ReadFetch(JsonReader& reader, const Node& node, TaskFetch& fetch) {
    ObjectReader object(reader, node);
    ReadNumberOrText(object, "tenant_id", fetch.tenant);
    ReadNames(object, "type", fetch.types);
    ReadNames(object, "category", fetch.categories);
    ReadCreator(object, fetch.creator);
    object.Optional("limit", fetch.limit);
    if (fetch.limit < 1 || fetch.limit > model::kMaxClaim) {
        reader.Fault(object.path() + "/limit", fmt::format("must be 1 to {}", model::kMaxClaim),
                     "out_of_range");
    }
    object.Finish();
}

bool Succeeds(ReportStatus status) {
    return status == ReportStatus::kSuccess || status == ReportStatus::kCompleted;
}

void ReadReport(JsonReader& reader, const Node& node, model::Event& event) {
    ObjectReader object(reader, node);
    ReportStatus status{};
    std::string error_info;
    event.agent.emplace();  // nameless
    object.Required("exec_id", event.exec_id);
    object.Required("status", status);
    object.Optional("error_info", error_info);
    const auto result = object.Find("result");
    if (event.exec_id.size() > model::kMaxExecIdLength) {
        reader.Fault(object.path() + "/exec_id", "is none that was given");
    }
    if (Succeeds(status)) {
        event.kind = model::EventKind::kSuccess;
        event.without_callback = status == ReportStatus::kSuccess;
        if (result) reader.ReadRaw(*result, event.result);
        if (!error_info.empty()) {
            reader.Fault(object.path() + "/error_info", "goes with Error and Failure only");
        }
    } else {
        event.kind = status == ReportStatus::kError ? model::EventKind::kRetryableFailure
                                                    : model::EventKind::kPermanentFailure;
        event.without_person = status == ReportStatus::kFailure;
        event.error =
            Excerpt(WithoutNul(std::move(error_info), model::kMaxErrorText), model::kMaxErrorText);
        if (result) reader.Fault(result->path, "goes with Success and Completed only");
    }
    object.Finish();
}

enum class LogResult : std::uint8_t { kExecuting, kSuccess, kFailure };

LogResult ResultOf(const Run& run) {
    if (run.policy.run_log == model::RunLog::kTrigger) return LogResult::kSuccess;
    switch (run.status.state) {
        case RunState::kScheduled:
        case RunState::kQueued:
        case RunState::kRunning:
            return LogResult::kExecuting;
        case RunState::kCompleting:
        case RunState::kSucceeded:
            return LogResult::kSuccess;
        default:
            return LogResult::kFailure;
    }
}

std::string ErrorOf(const Run& run) {
    if (run.status.state == RunState::kSkipped) {
        return fmt::format("skipped: {}", model::NameOf(run.status.skip_reason));
    }
    return run.status.last_error;
}

void WriteLogLine(JsonOutput& output, const Run& run) {
    static constexpr std::array<std::string_view, 3> kNames = {"executing", "success", "failure"};
    const ValueWriter writer(JsonForm::kDefinition, output);
    const LogResult result = ResultOf(run);
    output.BeginObject();
    writer.Member("id", run.id);
    writer.Member("periodic_task_id", run.job_id);
    WriteNumberOrText(output, "tenant_id", run.tenant);
    output.Key("result");
    output.Text(kNames.at(static_cast<std::size_t>(result)));
    writer.Member("error_info", result == LogResult::kFailure ? ErrorOf(run) : std::string());
    writer.Member("create_date", run.created_at);
    writer.Member("update_date", run.updated_at);
    output.EndObject();
}

template <class Write>
std::string ArrayOf(std::span<const Run> runs, const Write& write) {
    JsonOutput output;
    output.BeginArray();
    for (const Run& run : runs) write(output, run);
    output.EndArray();
    return output.Take();
}

}  // namespace

std::string TaskToJson(const Run& run) {
    JsonOutput output;
    WriteTask(output, run, ExecId::kHidden);
    return output.Take();
}

std::string TasksToJson(std::span<const Run> runs) {
    return ArrayOf(
        runs, [](JsonOutput& output, const Run& run) { WriteTask(output, run, ExecId::kHidden); });
}

std::string FetchedTasksToJson(std::span<const Run> runs) {
    return ArrayOf(
        runs, [](JsonOutput& output, const Run& run) { WriteTask(output, run, ExecId::kShown); });
}

Result<SubmittedTasks> SubmittedTasksFromJson(std::string_view text, std::size_t max_bytes,
                                              std::size_t most) {
    return ReadDocument<SubmittedTasks>(
        text, JsonForm::kDefinition, {.bytes = max_bytes},
        [&](JsonReader& reader, const Node& node, SubmittedTasks& out) {
            const auto* const list = node.value.if_array();
            out.is_list = list != nullptr;
            if (!out.is_list) return ReadTask(reader, node, out.tasks.emplace_back());
            if (list->size() > most) {
                return reader.Fault("", fmt::format("has {} tasks; at most {} are taken at once",
                                                    list->size(), most));
            }
            reader.ReadEach(node, out.tasks, [&reader](const Node& item, NewTask& task) {
                ReadTask(reader, item, task);
            });
        });
}

Result<TaskFetch> TaskFetchFromJson(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return TaskFetch{};
    return ReadDocument<TaskFetch>(text, JsonForm::kDefinition, {}, ReadFetch);
}

Result<model::Event> TaskReportFromJson(std::string_view text) {
    return ReadDocument<model::Event>(text, JsonForm::kDefinition, {}, ReadReport);
}

std::string PeriodicLogToJson(std::span<const Run> runs) { return ArrayOf(runs, WriteLogLine); }

}  // namespace ksana::codec
