#include "ksana/codec/job_codec.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "ksana/codec/json_parse.hpp"

namespace ksana::codec {
namespace {

namespace json = boost::json;
using namespace model;

json::string_view Name(std::string_view name) { return {name.data(), name.size()}; }

json::object MapValue(const std::map<std::string, std::string>& map) {
    json::object object;
    for (const auto& [key, value] : map) object[key] = value;
    return object;
}

// Raw JSON that was checked when it was read; what is no JSON after all goes out as a string.
json::value RawValue(const std::string& text) {
    if (text.empty()) return nullptr;
    auto parsed = ParseJson(text);
    return parsed ? *std::move(parsed) : json::value(text);
}

void ReadHttp(JsonReader& reader, const Node& node, HttpAction& http) {
    ObjectReader object(reader, node);
    object.Optional("method", http.method);
    object.Required("url", http.url);
    object.Optional("headers", http.headers);
    object.Optional("body", http.body);
    object.Finish();
}

void ReadCommand(JsonReader& reader, const Node& node, CommandAction& command) {
    ObjectReader object(reader, node);
    object.Required("argv", command.argv);
    object.Optional("environment", command.environment);
    object.Optional("working_directory", command.working_directory);
    object.Finish();
}

void ReadHandler(JsonReader& reader, const Node& node, HandlerAction& handler) {
    ObjectReader object(reader, node);
    object.Required("name", handler.handler);
    if (const auto input = object.Find("input")) reader.ReadRaw(*input, handler.input);
    object.Finish();
}

void ReadQueue(JsonReader& reader, const Node& node, QueueAction& queue) {
    ObjectReader object(reader, node);
    object.Required("type", queue.type);
    object.Optional("category", queue.category);
    if (const auto payload = object.Find("payload")) reader.ReadRaw(*payload, queue.payload);
    object.Finish();
}

// "type" says which of the four parts carries the action out; the other three must be absent.
void ReadAction(ObjectReader& job, Action& action) {
    JsonReader& reader = job.reader();
    ActionKind kind = ActionKind::kHttp;
    job.Optional("type", kind);
    for (std::size_t i = 0; i < kEnumCount<ActionKind>; ++i) {
        const auto candidate = static_cast<ActionKind>(i);
        const auto part =
            candidate == kind ? job.FindRequired(NameOf(kind)) : job.Find(NameOf(candidate));
        if (!part) continue;
        if (candidate != kind) {
            reader.Fault(part->path, "does not go with type \"" + std::string(NameOf(kind)) + "\"");
            continue;
        }
        switch (kind) {
            case ActionKind::kHttp:
                ReadHttp(reader, *part, action.emplace<HttpAction>());
                break;
            case ActionKind::kCommand:
                ReadCommand(reader, *part, action.emplace<CommandAction>());
                break;
            case ActionKind::kHandler:
                ReadHandler(reader, *part, action.emplace<HandlerAction>());
                break;
            case ActionKind::kQueue:
                ReadQueue(reader, *part, action.emplace<QueueAction>());
                break;
        }
    }
}

void ReadRetry(JsonReader& reader, const Node& node, RetryPolicy& retry) {
    ObjectReader object(reader, node);
    object.Optional("strategy", retry.strategy);
    object.Optional("max_retries", retry.max_retries);
    object.Optional("interval", retry.interval);
    object.Optional("sequence", retry.sequence);
    object.Optional("max_interval", retry.max_interval);
    object.Optional("jitter", retry.jitter);
    object.Finish();
}

void ReadMisfire(JsonReader& reader, const Node& node, Misfire& misfire) {
    ObjectReader object(reader, node);
    object.Optional("policy", misfire.policy);
    object.Optional("max_runs", misfire.max_runs);
    object.Optional("grace", misfire.grace);
    object.Finish();
}

void ReadDependency(JsonReader& reader, const Node& node, Dependency& dependency) {
    ObjectReader object(reader, node);
    object.Required("job", dependency.job_id);
    object.Optional("on_failure", dependency.on_failure);
    object.Finish();
}

struct ActionValue {
    json::value operator()(const HttpAction& http) const {
        return json::object{{"method", Name(NameOf(http.method))},
                            {"url", http.url},
                            {"headers", MapValue(http.headers)},
                            {"body", http.body}};
    }
    json::value operator()(const CommandAction& command) const {
        json::array argv(command.argv.begin(), command.argv.end());
        return json::object{{"argv", std::move(argv)},
                            {"environment", MapValue(command.environment)},
                            {"working_directory", command.working_directory}};
    }
    json::value operator()(const HandlerAction& handler) const {
        return json::object{{"name", handler.handler}, {"input", RawValue(handler.input)}};
    }
    json::value operator()(const QueueAction& queue) const {
        return json::object{{"type", queue.type},
                            {"category", queue.category},
                            {"payload", RawValue(queue.payload)}};
    }
};

json::value RetryValue(const RetryPolicy& retry) {
    json::array sequence;
    for (const Duration interval : retry.sequence) sequence.emplace_back(FormatDuration(interval));
    return json::object{
        {"strategy", Name(NameOf(retry.strategy))},           {"max_retries", retry.max_retries},
        {"interval", FormatDuration(retry.interval)},         {"sequence", std::move(sequence)},
        {"max_interval", FormatDuration(retry.max_interval)}, {"jitter", retry.jitter}};
}

}  // namespace

void ReadSchedule(JsonReader& reader, const Node& node, schedule::ScheduleSpec& spec) {
    using schedule::ScheduleKind;
    ObjectReader object(reader, node);
    object.Required("kind", spec.kind);
    if (spec.kind == ScheduleKind::kOnce) {
        object.Required("run_at", spec.run_at);
    } else {
        if (spec.kind == ScheduleKind::kEvery) {
            object.Required("every", spec.every);
        } else {
            object.Required("cron", spec.cron);
            object.Optional("dialect", spec.dialect);
            object.Optional("day_match", spec.day_match);
            object.Optional("gap", spec.dst.gap);
            object.Optional("fold", spec.dst.fold);
        }
        object.Optional("zone", spec.zone);
        object.Optional("start_at", spec.start_at);
        object.Optional("end_at", spec.end_at);
        object.Optional("calendar", spec.calendar);
    }
    object.Optional("jitter", spec.jitter);
    object.Finish();
}

json::value ScheduleValue(const schedule::ScheduleSpec& spec) {
    using schedule::ScheduleKind;
    json::object object{{"kind", Name(NameOf(spec.kind))}};
    if (spec.kind == ScheduleKind::kOnce) {
        object["run_at"] = FormatTime(spec.run_at);
    } else {
        if (spec.kind == ScheduleKind::kEvery) {
            object["every"] = FormatDuration(spec.every);
        } else {
            object["cron"] = spec.cron;
            object["dialect"] = Name(NameOf(spec.dialect));
            object["day_match"] = Name(NameOf(spec.day_match));
            object["gap"] = Name(NameOf(spec.dst.gap));
            object["fold"] = Name(NameOf(spec.dst.fold));
        }
        object["zone"] = spec.zone;
        if (spec.start_at) object["start_at"] = FormatTime(*spec.start_at);
        if (spec.end_at) object["end_at"] = FormatTime(*spec.end_at);
        if (!spec.calendar.empty()) object["calendar"] = spec.calendar;
    }
    object["jitter"] = FormatDuration(spec.jitter);
    return object;
}

void ReadJob(JsonReader& reader, const Node& node, Job& job) {
    ObjectReader object(reader, node);
    object.Optional("id", job.id);
    object.Optional("tenant", job.tenant);
    object.Optional("group", job.group);
    object.Optional("owner", job.owner);
    object.Required("name", job.name);
    object.Optional("description", job.description);
    object.Optional("labels", job.labels);
    object.Optional("enabled", job.enabled);
    object.Optional("paused_reason", job.paused_reason);
    ReadAction(object, job.action);
    if (const auto part = object.FindRequired("schedule"))
        ReadSchedule(reader, *part, job.schedule);
    if (const auto part = object.Find("misfire")) ReadMisfire(reader, *part, job.misfire);
    object.Optional("overlap", job.overlap);
    if (const auto part = object.Find("retry")) ReadRetry(reader, *part, job.retry.emplace());
    object.Optional("timeout", job.timeout);
    object.Optional("stop_grace", job.stop_grace);
    object.Optional("priority", job.priority);
    if (const auto part = object.Find("depends_on")) {
        reader.ReadEach(*part, job.depends_on, [&reader](const Node& item, Dependency& dependency) {
            ReadDependency(reader, item, dependency);
        });
    }
    object.Optional("run_log", job.run_log);
    object.Finish();
}

json::value JobValue(const Job& job) {
    json::object object{{"id", job.id},
                        {"tenant", job.tenant},
                        {"group", job.group},
                        {"owner", job.owner},
                        {"name", job.name},
                        {"description", job.description},
                        {"labels", MapValue(job.labels)},
                        {"enabled", job.enabled}};
    if (!job.paused_reason.empty()) object["paused_reason"] = job.paused_reason;
    const auto kind = Name(NameOf(KindOf(job.action)));
    object["type"] = kind;
    object[kind] = std::visit(ActionValue{}, job.action);
    object["schedule"] = ScheduleValue(job.schedule);
    object["misfire"] = json::object{{"policy", Name(NameOf(job.misfire.policy))},
                                     {"max_runs", job.misfire.max_runs},
                                     {"grace", FormatDuration(job.misfire.grace)}};
    object["overlap"] = Name(NameOf(job.overlap));
    if (job.retry) object["retry"] = RetryValue(*job.retry);
    if (job.timeout) object["timeout"] = FormatDuration(*job.timeout);
    object["stop_grace"] = FormatDuration(job.stop_grace);
    object["priority"] = job.priority;
    json::array dependencies;
    for (const Dependency& dependency : job.depends_on) {
        dependencies.emplace_back(json::object{
            {"job", dependency.job_id}, {"on_failure", Name(NameOf(dependency.on_failure))}});
    }
    object["depends_on"] = std::move(dependencies);
    object["run_log"] = Name(NameOf(job.run_log));
    return object;
}

}  // namespace ksana::codec
