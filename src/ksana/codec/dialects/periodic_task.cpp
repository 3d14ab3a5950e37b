#include "ksana/codec/dialects/periodic_task.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "ksana/base/time/time_text.hpp"
#include "ksana/codec/dialects/task_words.hpp"
#include "ksana/codec/json/value_writer.hpp"

namespace ksana::codec {

using model::Job;
using model::QueueAction;
using model::RunLog;
using schedule::ScheduleKind;

namespace {

// In the order of model::RunLog.
enum class LogWord : std::uint8_t { kTransLog, kTriggerLog, kNone };

}  // namespace
}  // namespace ksana::codec

template <>
struct ksana::model::EnumNames<ksana::codec::LogWord> {
    static constexpr std::array<std::string_view, 3> kNames = {"trans_log", "trigger_log", "none"};
};

namespace ksana::codec {
namespace {

constexpr std::string_view kKeptOfPeriodic[] = {"id", "create_date", "update_date"};

// A schedule of another kind, which /api/v1 can set, is shown in a notation that no cron expression
// has.
std::string ExpressionOf(const schedule::ScheduleSpec& spec) {
    switch (spec.kind) {
        case ScheduleKind::kCron:
            return spec.cron;
        case ScheduleKind::kEvery:
            return "@every " + FormatDuration(spec.every);
        case ScheduleKind::kOnce:
            return "@once " + FormatTime(spec.run_at);
        case ScheduleKind::kAfter:
            return fmt::format("@after {}", fmt::join(spec.jobs, ","));
    }
    return "";
}

void WritePeriodicTask(JsonOutput& output, const Job& job) {
    static const QueueAction none;
    const auto* const queue = std::get_if<QueueAction>(&job.action);
    const QueueAction& action = queue != nullptr ? *queue : none;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    writer.Member("id", job.id);
    WriteNumberOrText(output, "tenant_id", job.tenant);
    writer.Member("type", action.type);
    WriteCreator(output, job.owner);
    writer.Member("cron_expressions", ExpressionOf(job.schedule));
    writer.Member("status", PeriodicStatusOf(job));
    writer.Member("log", static_cast<LogWord>(job.run_log));
    writer.Member("category", action.category);
    WriteExt(output, action.payload);
    writer.Member("create_date", job.state.created_at);
    writer.Member("update_date", job.state.updated_at);
    output.EndObject();
}

void SetStatus(Job& job, PeriodicStatus status) {
    job.enabled = status == PeriodicStatus::kOnline;
    job.paused_reason = status == PeriodicStatus::kNew ? kNeverOnline : "";
}

// Every fire creates a task, whatever the state of the previous one; retries are those of the type
// (T-15). An agent has no grace after its deadline, which it was told.
Job Blank() {
    Job job;
    job.action = QueueAction{};
    job.schedule.kind = ScheduleKind::kCron;
    job.overlap = model::OverlapPolicy::kAllow;
    job.stop_grace = Duration::zero();
    SetStatus(job, PeriodicStatus::kNew);
    return job;
}

void ReadTask(JsonReader& reader, const Node& node, Job& job) {
    ObjectReader object(reader, node);
    QueueAction& action = std::get<QueueAction>(job.action);
    ReadNumberOrText(object, "tenant_id", job.tenant);
    object.Required("type", action.type);
    ReadCreator(object, job.owner);
    object.Required("cron_expressions", job.schedule.cron);
    std::optional<PeriodicStatus> status;
    object.Optional("status", status);
    if (status) SetStatus(job, *status);
    LogWord log{};
    object.Optional("log", log);
    job.run_log = static_cast<RunLog>(log);
    object.Optional("category", action.category);
    if (const auto ext = object.Find("ext")) reader.ReadRaw(*ext, action.payload);
    Ignore(object, kKeptOfPeriodic);
    object.Finish();
    job.name = action.type;
}

Result<Job> Read(std::string_view text, const Job& blank) {
    return ReadDocument<Job>(text, JsonForm::kDefinition, {},
                             [&](JsonReader& reader, const Node& node, Job& job) {
                                 job = blank;
                                 ReadTask(reader, node, job);
                             });
}

}  // namespace

PeriodicStatus PeriodicStatusOf(const Job& job) {
    if (job.enabled) return PeriodicStatus::kOnline;
    return job.paused_reason == kNeverOnline ? PeriodicStatus::kNew : PeriodicStatus::kOffline;
}

std::string PeriodicTaskToJson(const Job& job) {
    JsonOutput output;
    WritePeriodicTask(output, job);
    return output.Take();
}

std::string PeriodicTasksToJson(std::span<const Job> jobs) {
    JsonOutput output;
    output.BeginArray();
    for (const Job& job : jobs) WritePeriodicTask(output, job);
    output.EndArray();
    return output.Take();
}

Result<Job> PeriodicTaskFromJson(std::string_view text) { return Read(text, Blank()); }

Result<void> ReplacePeriodicTask(Job& job, std::string_view text) {
    Job blank = job;  // what document T cannot express stays
    blank.tenant = Job().tenant;
    blank.owner.clear();
    blank.action = QueueAction{};
    if (blank.schedule.kind != ScheduleKind::kCron) blank.schedule = Blank().schedule;
    KSANA_TRY(Job changed, Read(text, blank));
    job = std::move(changed);
    return {};
}

}  // namespace ksana::codec
