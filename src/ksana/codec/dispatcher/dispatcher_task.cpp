#include "ksana/codec/dispatcher/dispatcher_task.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ksana/codec/json/json_reader.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/vocabulary.hpp"

namespace ksana::codec {

using model::Dependency;
using model::Job;
using model::QueueAction;
using schedule::ScheduleKind;

namespace {

enum class TaskStatus : std::uint8_t { kActive, kInactive };
// In the order of model::OnDependencyFailure: `delay` is the model's `wait`.
enum class FailureWord : std::uint8_t { kSkip, kDelay, kRun };

}  // namespace
}  // namespace ksana::codec

template <>
struct ksana::model::EnumNames<ksana::codec::TaskStatus> {
    static constexpr std::array<std::string_view, 2> kNames = {"ACTIVE", "INACTIVE"};
};
template <>
struct ksana::model::EnumNames<ksana::codec::FailureWord> {
    static constexpr std::array<std::string_view, 3> kNames = {"skip", "delay", "run"};
};

namespace ksana::codec {
namespace {

// The longest timeout and interval of a job, which ValidateJob checks as durations.
constexpr double kMaxSeconds = 30.0 * 24 * 3600;

// Members of answers that a client may send back.
constexpr std::string_view kKeptOfDispatcherTask[] = {
    "next_run_time", "last_run_time",  "last_status",       "created_at",
    "updated_at",    "params_omitted", "recent_executions", "statistics"};

// Every fire creates an execution, whatever the state of the previous one (document D, 1.1). A
// worker has no grace after its deadline, which it was told.
Job BlankTask() {
    Job job;
    job.action = QueueAction{};
    job.schedule.kind = ScheduleKind::kCron;
    job.overlap = model::OverlapPolicy::kAllow;
    job.stop_grace = Duration::zero();
    return job;
}

// Waits base_interval × 2^n after the failure number n, counted from 0 (D-08): no other cap than
// the longest interval, and no jitter.
model::RetryPolicy DoublingRetry(const model::RetryPolicy& basis) {
    model::RetryPolicy retry;
    retry.strategy = model::RetryStrategy::kExponential;
    retry.max_retries = basis.strategy == model::RetryStrategy::kNone ? 0 : basis.max_retries;
    retry.interval = basis.interval;
    retry.max_interval = std::chrono::seconds(static_cast<std::int64_t>(kMaxSeconds));
    return retry;
}

template <class T>
void ReadSeconds(ObjectReader& object, std::string_view key, double least, T& out) {
    const auto node = object.Find(key);
    if (!node) return;
    double seconds = least;
    object.reader().Read(*node, seconds);
    if (!(seconds >= least && seconds <= kMaxSeconds)) {
        return object.reader().Fault(
            node->path, fmt::format("must lie between {} and {} seconds", least, kMaxSeconds),
            "out_of_range");
    }
    out = Duration(std::llround(seconds * 1e6));
}

void ReadDependencies(ObjectReader& object, std::vector<Dependency>& out) {
    out.clear();
    std::vector<std::string> ids;
    object.Optional("depends_on", ids);
    FailureWord word = static_cast<FailureWord>(Dependency{}.on_failure);
    object.Optional("on_dependency_failure", word);
    for (std::string& id : ids) {
        out.push_back(
            {.job_id = std::move(id), .on_failure = static_cast<model::OnDependencyFailure>(word)});
    }
}

void ReadMembers(ObjectReader& object, DispatcherTask& task) {
    Job& job = task.job;
    QueueAction& action = std::get<QueueAction>(job.action);
    object.Optional("id", job.id);
    object.Optional("version", task.version);
    object.Required("name", job.name);
    object.Required("schedule", job.schedule.cron);
    object.Optional("zone", job.schedule.zone);
    object.Required("type", action.type);
    if (const auto params = object.Find("params")) {
        object.reader().ReadRaw(*params, action.payload);
    }
    ReadSeconds(object, "timeout", 0.001, job.timeout);
    object.Optional("max_retries", job.retry->max_retries);
    ReadSeconds(object, "base_interval", 0, job.retry->interval);
    object.Optional("priority", job.priority);
    std::optional<TaskStatus> status;
    object.Optional("status", status);
    if (status) {
        job.enabled = *status == TaskStatus::kActive;
        job.paused_reason.clear();
    }
    ReadDependencies(object, job.depends_on);
    for (const std::string_view key : kKeptOfDispatcherTask) (void)object.Find(key);
    object.Finish();
}

// Unlike ReadDocument, keeps what could be read beside the faults, so that the values of the other
// members are checked too.
Result<DispatcherTask> ReadDispatcherTask(std::string_view text, Job basis) {
    KSANA_TRY(const boost::json::value value, ParseJson(text));
    JsonReader reader;
    DispatcherTask task;
    task.job = std::move(basis);
    ObjectReader object(reader, Node{value, ""});
    if (object.ok()) ReadMembers(object, task);
    task.problems = reader.TakeProblems();
    task.untold = reader.UntoldProblems();
    return task;
}

// Returns the word that all dependencies share; none if there are none, or several words.
std::optional<FailureWord> FailureWordOf(const std::vector<Dependency>& dependencies) {
    if (dependencies.empty()) return static_cast<FailureWord>(Dependency{}.on_failure);
    const auto first = dependencies.front().on_failure;
    const bool same = std::ranges::all_of(
        dependencies, [first](const Dependency& one) { return one.on_failure == first; });
    return same ? std::optional(static_cast<FailureWord>(first)) : std::nullopt;
}

void WriteParams(const ValueWriter& writer, const std::string& payload, DispatcherView view) {
    JsonOutput& output = writer.output();
    const bool left_out = view == DispatcherView::kListed && payload.size() > kMaxListedJson;
    output.Key("params");
    if (payload.empty()) {
        output.BeginObject();
        output.EndObject();
    } else if (left_out) {
        output.Null();
    } else {
        writer.WriteJsonText(payload);
    }
    if (left_out) writer.Member("params_omitted", true);
}

void WriteDependencies(const ValueWriter& writer, const std::vector<Dependency>& dependencies) {
    std::vector<std::string> ids;
    for (const Dependency& one : dependencies) ids.push_back(one.job_id);
    writer.Member("depends_on", ids);
    ValueOrNull(writer, "on_dependency_failure", FailureWordOf(dependencies));
}

void ReplaceBeginning(std::string& path, std::string_view from, std::string_view to) {
    if (path.starts_with(from)) path.replace(0, from.size(), to);
}

}  // namespace

bool IsDispatcherTask(const Job& job) {
    return model::KindOf(job.action) == model::ActionKind::kQueue &&
           job.schedule.kind == ScheduleKind::kCron;
}

Result<DispatcherTask> DispatcherTaskFromJson(std::string_view text,
                                              const model::RetryPolicy& retry) {
    Job basis = BlankTask();
    basis.retry = DoublingRetry(retry);
    return ReadDispatcherTask(text, std::move(basis));
}

Result<DispatcherTask> ReplacedDispatcherTask(std::string_view text, const Job& before,
                                              const model::RetryPolicy& retry) {
    Job basis = before;
    QueueAction& action = std::get<QueueAction>(basis.action);
    action.type.clear();
    action.payload.clear();
    basis.name.clear();
    basis.schedule.cron.clear();
    basis.schedule.zone = schedule::ScheduleSpec{}.zone;
    basis.timeout.reset();
    basis.retry = DoublingRetry(retry);
    basis.priority = model::kDefaultPriority;
    KSANA_TRY(DispatcherTask task, ReadDispatcherTask(text, std::move(basis)));
    if (task.job.id != before.id) {
        task.problems.push_back({"/id", "is not that of the path", "immutable", {}});
    }
    return task;
}

std::vector<Problem> InDispatcherWords(std::vector<Problem> problems) {
    for (Problem& problem : problems) {
        std::string& path = problem.path;
        if (path == "/schedule/zone") {
            path = "/zone";
        } else if (path.starts_with("/schedule")) {
            path = "/schedule";
        }
        ReplaceBeginning(path, "/queue/payload", "/params");
        ReplaceBeginning(path, "/queue/", "/");
        ReplaceBeginning(path, "/retry/interval", "/base_interval");
        ReplaceBeginning(path, "/retry/", "/");
        const bool names_job = path.starts_with("/depends_on/") && path.ends_with("/job");
        if (names_job) path.resize(path.size() - std::string_view("/job").size());
    }
    return problems;
}

void WriteDispatcherTask(JsonOutput& output, const Job& job, DispatcherView view) {
    static const QueueAction none;
    const auto* const queue = std::get_if<QueueAction>(&job.action);
    const QueueAction& action = queue != nullptr ? *queue : none;
    const ValueWriter writer(JsonForm::kDefinition, output);
    writer.Member("id", job.id);
    writer.Member("name", job.name);
    writer.Member("schedule", job.schedule.cron);
    writer.Member("zone", job.schedule.zone);
    writer.Member("type", action.type);
    WriteParams(writer, action.payload, view);
    SecondsOrNull(output, "timeout", job.timeout);
    ValueOrNull(writer, "max_retries",
                job.retry ? std::optional(job.retry->max_retries) : std::nullopt);
    SecondsOrNull(output, "base_interval",
                  job.retry ? std::optional(job.retry->interval) : std::nullopt);
    writer.Member("priority", job.priority);
    writer.Member("status", job.enabled ? TaskStatus::kActive : TaskStatus::kInactive);
    WriteDependencies(writer, job.depends_on);
    ValueOrNull(writer, "next_run_time", job.state.next_run_at);
    ValueOrNull(writer, "last_run_time", job.state.last_run_at);
    output.Key("last_status");
    const auto word = job.state.last_state
                          ? model::WordFor(model::Dialect::kDispatcher, *job.state.last_state, 0)
                          : std::nullopt;
    if (word) {
        output.Text(*word);
    } else {
        output.Null();
    }
    writer.Member("created_at", job.state.created_at);
    writer.Member("updated_at", job.state.updated_at);
    writer.Member("version", job.state.version);
}

Result<std::string> TriggerParamsFromJson(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::string();
    return ReadDocument<std::string>(
        text, JsonForm::kDefinition, {},
        [](JsonReader& reader, const Node& node, std::string& payload) {
            ObjectReader object(reader, node);
            if (const auto params = object.Find("params")) reader.ReadRaw(*params, payload);
            object.Finish();
        });
}

}  // namespace ksana::codec
