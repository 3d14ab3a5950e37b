#include "ksana/model/validate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/model/http_url.hpp"
#include "ksana/model/run/agent.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/schedule/schedule.hpp"

namespace ksana::model {
namespace {

constexpr Duration kMaxTimeout = std::chrono::hours(24 * 30);
constexpr Duration kMaxWait = std::chrono::hours(24 * 366 * 10);

// Checks values and appends problems to the given list, which must outlive the checker.
class Checker {
  public:
    explicit Checker(std::vector<Problem>& problems) : problems_(problems) {}

    void Add(std::string path, std::string message) {
        problems_.push_back({std::move(path), std::move(message)});
    }

    // Checks a text written by a user: UTF-8, no control characters except line breaks and tabs if
    // `multiline`.
    void Text(const std::string& path, std::string_view text, std::size_t max,
              bool multiline = false) {
        if (text.size() > max) Add(path, fmt::format("is longer than {} bytes", max));
        if (!IsUtf8(text)) return Add(path, "is not UTF-8");
        const bool control = std::any_of(text.begin(), text.end(), [multiline](char c) {
            const auto byte = static_cast<unsigned char>(c);
            const bool line_break = c == '\n' || c == '\r' || c == '\t';
            return byte == 0x7F || (byte < 0x20 && !(multiline && line_break));
        });
        if (control) Add(path, "holds a control character");
    }

    // Checks an identifier, which is used in paths, keys and command lines.
    void Identifier(const std::string& path, std::string_view id, bool may_be_empty) {
        if (id.empty()) {
            if (!may_be_empty) Add(path, "is missing");
        } else if (!IsIdentifier(id)) {
            Add(path, fmt::format("is {}", kIdentifierRule));
        }
    }

    void Range(const std::string& path, Duration value, Duration low, Duration high) {
        if (value < low || value > high) {
            Add(path, fmt::format("must lie between {} and {}", FormatDuration(low),
                                  FormatDuration(high)));
        }
    }

    void Range(const std::string& path, int value, int low, int high) {
        if (value < low || value > high) {
            Add(path, fmt::format("must lie between {} and {}", low, high));
        }
    }

  private:
    std::vector<Problem>& problems_;
};

void CheckHttp(Checker& check, const HttpAction& http) {
    check.Identifier("/http/sign_as", http.sign_as, true);
    if (const auto fault = CheckHttpUrl(http.url)) check.Add("/http/url", *fault);
    if (http.headers.size() > kMaxHeaders) {
        check.Add("/http/headers", fmt::format("has more than {} headers", kMaxHeaders));
    }
    for (const auto& [name, value] : http.headers) {
        if (http.headers.size() > kMaxHeaders) break;
        const std::string path = "/http/headers" + PointerStep(Excerpt(name, 80));
        if (!IsHeaderName(name)) {
            check.Add(path, "is no header name");
        } else if (IsReservedHeader(name)) {
            check.Add(path, "is set by the connection and cannot be chosen");
        }
        if (!IsHeaderValue(value)) check.Add(path, "holds a control character, or is too long");
    }
    if (http.body.size() > kMaxBodyLength) {
        check.Add("/http/body", fmt::format("is longer than {} bytes", kMaxBodyLength));
    }
    if (http.body.find('\0') != std::string::npos) check.Add("/http/body", "holds a NUL");
    const bool bodiless = http.method == HttpMethod::kGet || http.method == HttpMethod::kHead;
    if (bodiless && !http.body.empty()) {
        check.Add("/http/body", fmt::format("has no meaning with {}", NameOf(http.method)));
    }
}

// Checks a text of a command: the kernel ends it at a NUL.
void CheckWord(Checker& check, const std::string& path, const std::string& word) {
    if (word.size() > kMaxArgument) {
        check.Add(path, fmt::format("is longer than {} bytes", kMaxArgument));
    }
    if (word.find('\0') != std::string::npos) check.Add(path, "holds a NUL");
}

bool IsVariableName(std::string_view name) {
    return !name.empty() && name.size() <= kMaxNameLength &&
           name.find_first_of(std::string_view("=\0", 2)) == std::string_view::npos;
}

void CheckVariables(Checker& check, const CommandAction& command) {
    for (const auto& [name, value] : command.environment) {
        const std::string path = "/command/environment" + PointerStep(Excerpt(name, 80));
        if (!IsVariableName(name)) check.Add(path, "is no name of an environment variable");
        if (name.starts_with("KSANA_"))
            check.Add(path, "names beginning with KSANA_ are the run's");
        CheckWord(check, path, value);
    }
    for (std::size_t i = 0; i < command.inherit.size(); ++i) {
        const std::string path = fmt::format("/command/inherit/{}", i);
        const std::string& name = command.inherit[i];
        if (!IsVariableName(name)) check.Add(path, "is no name of an environment variable");
        if (name.starts_with("KSANA_"))
            check.Add(path, "names beginning with KSANA_ are not given");
    }
}

void CheckCommandLimits(Checker& check, const CommandLimits& limits) {
    if (limits.cpu) {
        check.Range("/command/limits/cpu", *limits.cpu, std::chrono::seconds(1), kMaxTimeout);
    }
    for (const auto& [name, value] : {std::pair("memory", limits.memory),
                                      {"files", limits.files},
                                      {"processes", limits.processes},
                                      {"file_size", limits.file_size},
                                      {"core", limits.core}}) {
        if (value && *value < 0) {
            check.Add(fmt::format("/command/limits/{}", name), "must not be negative");
        }
    }
}

// Returns whether the text has "{{" that is not doubled, which means a literal one.
bool HasPlaceholder(std::string_view text) {
    for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at)) {
        if (!text.substr(at + 2).starts_with("{{")) return true;
        at += 4;
    }
    return false;
}

void CheckCommand(Checker& check, const CommandAction& command) {
    if (command.argv.empty() || command.argv.front().empty()) {
        check.Add("/command/argv",
                  command.shell ? "has no line for the shell" : "names no program");
    }
    if (command.argv.size() + command.environment.size() + command.inherit.size() > kMaxArguments) {
        check.Add("/command",
                  fmt::format("has more than {} arguments and variables", kMaxArguments));
        return;
    }
    for (std::size_t i = 0; i < command.argv.size(); ++i) {
        CheckWord(check, fmt::format("/command/argv/{}", i), command.argv[i]);
    }
    if (!command.shell && !command.argv.empty() && HasPlaceholder(command.argv.front())) {
        check.Add("/command/argv/0", "must have no placeholder: a value would choose the program");
    }
    if (command.shell && !command.argv.empty() && HasPlaceholder(command.argv.front())) {
        check.Add("/command/argv/0",
                  "holds a placeholder: a shell would read its value as commands. Pass it as a "
                  "further argument and use \"$1\", or write {{{{ for {{");
    }
    CheckWord(check, "/command/working_directory", command.working_directory);
    check.Text("/command/user", command.user, kMaxNameLength);
    check.Text("/command/group", command.group, kMaxNameLength);
    CheckVariables(check, command);
    CheckCommandLimits(check, command.limits);
    for (std::size_t i = 0; i < command.permanent_exit_codes.size() && i < 256; ++i) {
        check.Range(fmt::format("/command/permanent_exit_codes/{}", i),
                    command.permanent_exit_codes[i], 1, 255);
    }
    if (command.permanent_exit_codes.size() > 255) {
        check.Add("/command/permanent_exit_codes", "has more than 255 codes");
    }
    if (command.output_limit < kMinOutputLimit || command.output_limit > kMaxOutputLimit) {
        check.Add("/command/output_limit",
                  fmt::format("must lie between {} and {}", kMinOutputLimit, kMaxOutputLimit));
    }
}

struct ActionCheck {
    Checker& check;
    void operator()(const HttpAction& http) const { CheckHttp(check, http); }
    void operator()(const CommandAction& command) const { CheckCommand(check, command); }
    void operator()(const HandlerAction& handler) const {
        check.Identifier("/handler/name", handler.handler, false);
        check.Text("/handler/input", handler.input, kMaxBodyLength, true);
    }
    void operator()(const QueueAction& queue) const {
        check.Identifier("/queue/type", queue.type, false);
        check.Identifier("/queue/category", queue.category, true);
        check.Text("/queue/payload", queue.payload, kMaxBodyLength, true);
    }
};

void CheckRetry(Checker& check, const RetryPolicy& retry) {
    check.Range("/retry/max_retries", retry.max_retries, 0, kMaxRetries);
    check.Range("/retry/interval", retry.interval, Duration::zero(), kMaxTimeout);
    check.Range("/retry/max_interval", retry.max_interval, Duration::zero(), kMaxTimeout);
    if (!(retry.jitter >= 0.0 && retry.jitter <= 1.0)) {
        check.Add("/retry/jitter", "must lie between 0 and 1");
    }
    if (retry.strategy == RetryStrategy::kSequence && retry.sequence.empty()) {
        check.Add("/retry/sequence", "needs at least one interval");
    }
    if (retry.sequence.size() > kMaxRetrySequence) {
        check.Add("/retry/sequence", fmt::format("has more than {} intervals", kMaxRetrySequence));
        return;
    }
    for (std::size_t i = 0; i < retry.sequence.size(); ++i) {
        check.Range(fmt::format("/retry/sequence/{}", i), retry.sequence[i], Duration::zero(),
                    kMaxTimeout);
    }
}

void CheckDependencies(Checker& check, const JobDefinition& job) {
    if (job.depends_on.size() > kMaxDependencies) {
        return check.Add("/depends_on", fmt::format("has more than {} jobs", kMaxDependencies));
    }
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < job.depends_on.size(); ++i) {
        const std::string path = fmt::format("/depends_on/{}/job", i);
        const std::string& id = job.depends_on[i].job_id;
        check.Identifier(path, id, false);
        if (!id.empty() && id == job.id) check.Add(path, "is the job itself");
        if (!seen.insert(id).second) check.Add(path, "is named twice");
    }
}

void CheckAfter(Checker& check, const JobDefinition& job) {
    const std::vector<std::string>& jobs = job.schedule.jobs;
    if (jobs.size() > kMaxDependencies) {
        return check.Add("/schedule/jobs", fmt::format("has more than {} jobs", kMaxDependencies));
    }
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const std::string path = fmt::format("/schedule/jobs/{}", i);
        check.Identifier(path, jobs[i], false);
        if (!jobs[i].empty() && jobs[i] == job.id) check.Add(path, "is the job itself");
        if (!seen.insert(jobs[i]).second) check.Add(path, "is named twice");
    }
}

void CheckLabels(Checker& check, const JobDefinition& job) {
    if (job.labels.size() > kMaxLabels) {
        return check.Add("/labels", fmt::format("has more than {} labels", kMaxLabels));
    }
    for (const auto& [name, value] : job.labels) {
        const std::string path = "/labels" + PointerStep(Excerpt(name, 80));
        check.Identifier(path, name, false);
        check.Text(path, value, kMaxNameLength);
    }
}

void CheckSchedule(Checker& check, const JobDefinition& job,
                   const schedule::ScheduleContext& context) {
    const auto compiled = schedule::Schedule::Compile(job.schedule, context);
    if (compiled) {
        if (!compiled->EverFires()) check.Add("/schedule", "is valid, but never fires");
        return;
    }
    for (const Problem& problem : compiled.error().problems) {
        check.Add("/schedule" + problem.path, problem.message);
    }
}

void CheckTaskKey(Checker& check, const TaskKey& unique) {
    check.Text("/unique/key", unique.key, kMaxKeyLength);
    if ((unique.states & kAllStates) == 0 || (unique.states & ~kAllStates) != 0) {
        check.Add("/unique/states", "needs at least one state");
    }
    if (unique.period) {
        check.Range("/unique/period", *unique.period, std::chrono::milliseconds(1), kMaxWait);
    }
}

void CheckWanted(Checker& check, const std::string& member, const TextMap& labels) {
    if (labels.size() > kMaxSelectorLabels) {
        return check.Add(member, fmt::format("has more than {} labels", kMaxSelectorLabels));
    }
    for (const auto& [name, value] : labels) {
        const std::string path = member + PointerStep(Excerpt(name, 80));
        check.Identifier(path, name, false);
        check.Text(path, value, kMaxNameLength);
    }
}

void CheckPlacement(Checker& check, const JobDefinition& job) {
    const Placement& placement = job.placement;
    CheckWanted(check, "/placement/require", placement.require);
    CheckWanted(check, "/placement/prefer", placement.prefer);
    check.Text("/placement/sticky", placement.sticky, kMaxKeyLength);
    const auto* http = std::get_if<HttpAction>(&job.action);
    if (http != nullptr && !http->sign_as.empty() && !placement.require.empty()) {
        check.Add("/http/sign_as", "does not go with placement.require: only servers sign calls");
    }
    check.Range("/placement/prefer_for", placement.prefer_for, Duration::zero(), kMaxPreferFor);
    if (!placement.broadcast) return;
    if (!placement.sticky.empty() || !placement.prefer.empty()) {
        check.Add("/placement/broadcast",
                  "goes to every worker: it does not go with prefer or sticky");
    }
    if (job.overlap != OverlapPolicy::kSkip && job.overlap != OverlapPolicy::kAllow) {
        check.Add("/placement/broadcast", "goes with overlap skip or allow only");
    }
    if (job.run_log == RunLog::kNone) {
        check.Add("/placement/broadcast", "does not go with run_log none");
    }
    if (job.schedule.kind == schedule::ScheduleKind::kAfter) {
        check.Add("/placement/broadcast", "does not go with a schedule of kind after");
    }
}

void CheckTaskPlacement(Checker& check, const NewTask& task) {
    CheckWanted(check, "/selector", task.selector);
    if (!task.trace_parent.empty() && !ParseTraceParent(task.trace_parent)) {
        check.Add("/traceparent",
                  "is no W3C traceparent, such as "
                  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    }
    CheckWanted(check, "/prefer", task.prefer);
    check.Text("/sticky", task.sticky, kMaxKeyLength);
    if (task.prefer_for) {
        check.Range("/prefer_for", *task.prefer_for, Duration::zero(), kMaxPreferFor);
    }
}

void CheckCallback(Checker& check, const Callback& callback, const std::string& path) {
    if (callback.url.empty()) return;
    if (const auto fault = CheckHttpUrl(callback.url)) check.Add(path + "/url", *fault);
}

// Access keys are sent in a header and must be identifiers. Secrets may be any text.
void CheckKeys(Checker& check, const Callbacks& callbacks) {
    check.Identifier("/callbacks/access_key", callbacks.access_key, true);
    check.Text("/callbacks/secret_key", callbacks.secret_key, kMaxSecretLength);
    check.Text("/callbacks/previous_secret_key", callbacks.previous_secret_key, kMaxSecretLength);
    if (callbacks.secret_key.empty() && !callbacks.previous_secret_key.empty()) {
        check.Add("/callbacks/previous_secret_key", "goes with a secret_key only");
    }
}

}  // namespace

std::vector<Problem> ValidateJob(const JobDefinition& job,
                                 const schedule::ScheduleContext& context) {
    std::vector<Problem> problems;
    Checker check(problems);
    check.Identifier("/id", job.id, true);
    check.Identifier("/tenant", job.tenant, false);
    check.Identifier("/group", job.group, false);
    if (job.name.empty()) check.Add("/name", "is missing");
    check.Text("/name", job.name, kMaxNameLength);
    check.Text("/owner", job.owner, kMaxNameLength);
    check.Text("/description", job.description, kMaxDescriptionLength, true);
    check.Text("/paused_reason", job.paused_reason, kMaxDescriptionLength, true);
    CheckLabels(check, job);
    std::visit(ActionCheck{check}, job.action);
    CheckSchedule(check, job, context);
    check.Range("/misfire/max_runs", job.misfire.max_runs, 1, kMaxMisfireRuns);
    check.Range("/misfire/grace", job.misfire.grace, Duration::zero(),
                std::chrono::hours(24 * 365));
    if (job.retry) CheckRetry(check, *job.retry);
    if (job.timeout) {
        check.Range("/timeout", *job.timeout, std::chrono::milliseconds(1), kMaxTimeout);
    }
    check.Range("/stop_grace", job.stop_grace, Duration::zero(), std::chrono::hours(1));
    check.Range("/priority", job.priority, kMinPriority, kMaxPriority);
    CheckDependencies(check, job);
    CheckAfter(check, job);
    check.Range("/max_wait", job.max_wait, Duration::zero(), std::chrono::hours(24 * 366));
    CheckPlacement(check, job);
    return problems;
}

std::vector<Problem> ValidateRunType(const RunType& type) {
    std::vector<Problem> problems;
    Checker check(problems);
    check.Identifier("/code", type.code, false);
    check.Text("/name", type.name, kMaxNameLength);
    check.Identifier("/category", type.category, true);
    if (type.retry) CheckRetry(check, *type.retry);
    if (type.timeout) {
        check.Range("/timeout", *type.timeout, std::chrono::milliseconds(1), kMaxTimeout);
    }
    CheckCallback(check, type.callbacks.success, "/callbacks/success");
    CheckCallback(check, type.callbacks.error, "/callbacks/error");
    if (type.callbacks.security == CallbackSecurity::kAkSk) {
        if (type.callbacks.access_key.empty()) check.Add("/callbacks/access_key", "is missing");
        if (type.callbacks.secret_key.empty()) check.Add("/callbacks/secret_key", "is missing");
    }
    CheckKeys(check, type.callbacks);
    return problems;
}

std::vector<Problem> ValidateNewTask(const NewTask& task) {
    std::vector<Problem> problems;
    Checker check(problems);
    if (task.id && task.id->IsNil()) check.Add("/id", "is the nil UUID, which no run has");
    check.Identifier("/type", task.type, false);
    check.Identifier("/tenant", task.tenant, false);
    check.Identifier("/category", task.category, true);
    check.Text("/creator", task.creator, kMaxNameLength);
    if (task.payload.size() > kMaxBodyLength) {
        check.Add("/payload", fmt::format("is longer than {} bytes", kMaxBodyLength));
    }
    check.Range("/priority", task.priority, kMinPriority, kMaxPriority);
    if (task.delay) {
        check.Range("/delay", *task.delay, Duration::zero(), kMaxWait);
        if (task.start_at) check.Add("/delay", "does not go with start_at: say one of them");
    }
    CheckTaskKey(check, task.unique);
    if (task.retry) CheckRetry(check, *task.retry);
    if (task.timeout) {
        check.Range("/timeout", *task.timeout, std::chrono::milliseconds(1), kMaxTimeout);
    }
    if (task.parent && task.parent->IsNil()) check.Add("/parent", "is the nil UUID");
    CheckTaskPlacement(check, task);
    return problems;
}

std::vector<Problem> ValidateWorker(const Worker& worker) {
    std::vector<Problem> problems;
    Checker check(problems);
    check.Identifier("/name", worker.id, false);
    if (worker.incarnation.IsNil()) check.Add("/incarnation", "is the nil UUID");
    check.Text("/host", worker.host, kMaxNameLength);
    check.Text("/version", worker.version, kMaxNameLength);
    check.Range("/slots", worker.slots, 1, kMaxWorkerSlots);
    if (worker.kinds.empty()) check.Add("/kinds", "needs at least one kind");
    if (worker.types.size() > kMaxFilterNames) {
        check.Add("/types", fmt::format("has more than {} names", kMaxFilterNames));
    }
    for (std::size_t i = 0; i < worker.types.size(); ++i) {
        check.Identifier(fmt::format("/types/{}", i), worker.types[i], false);
    }
    CheckWanted(check, "/labels", worker.labels);
    const auto own = worker.labels.find(kWorkerLabel);
    if (own != worker.labels.end() && own->second != worker.id) {
        check.Add("/labels/worker", "is the name of the worker, which it has anyway");
    }
    return problems;
}

std::vector<Problem> ValidateLimit(const Limit& limit) {
    std::vector<Problem> problems;
    Checker check(problems);
    check.Text("/description", limit.description, kMaxDescriptionLength, true);
    if (limit.max_concurrency) {
        check.Range("/max_concurrency", *limit.max_concurrency, 1, kMaxConcurrency);
    }
    if (!limit.rate) return problems;
    if (limit.rate->count < 1 || limit.rate->count > kMaxRateCount) {
        check.Add("/rate/count", fmt::format("must lie between 1 and {}", kMaxRateCount));
    }
    check.Range("/rate/per", limit.rate->per, kMinRatePer, kMaxRatePer);
    if (limit.rate->burst < 1 || limit.rate->burst > kMaxRateCount) {
        check.Add("/rate/burst", fmt::format("must lie between 1 and {}", kMaxRateCount));
    }
    return problems;
}

}  // namespace ksana::model
