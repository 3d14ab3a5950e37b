#include "ksana/exec/command/command_spec.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "ksana/exec/call_values.hpp"
#include "ksana/exec/command/command_user.hpp"
#include "ksana/exec/template_text.hpp"
#include "ksana/model/run/trace_context.hpp"

namespace ksana::exec {
namespace {

constexpr std::array<std::string_view, 10> kInherited = {
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"};
constexpr std::string_view kUsualPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t kMaxPrograms = 100;

Error BadCommand(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

// Fills the placeholders of one attempt's texts. Reads the parameters only if there are any.
class Filler {
  public:
    explicit Filler(const engine::ActiveAttempt& attempt) : attempt_(attempt) {}

    Result<std::string> Fill(const std::string& text, const std::string& what) {
        if (text.find("{{") == std::string::npos) return text;
        if (!values_) {
            KSANA_TRY(CallValues values, CallValues::Make(attempt_));
            values_.emplace(std::move(values));
        }
        auto filled = FillTemplate(text, TemplatePlace::kText,
                                   [this](std::string_view name) { return values_->Find(name); });
        if (!filled) return std::move(filled).error().WithContext(what);
        if (filled->find('\0') != std::string::npos) return BadCommand(what + " holds a NUL");
        return filled;
    }

  private:
    const engine::ActiveAttempt& attempt_;
    std::optional<CallValues> values_;
};

using Variables = std::map<std::string, std::string>;

void AddInherited(const model::CommandAction& action, const TextMap& process, Variables& all) {
    const auto take = [&](const std::string& name) {
        const auto found = process.find(name);
        if (found != process.end()) all[name] = found->second;
    };
    for (const std::string_view name : kInherited) take(std::string(name));
    for (const std::string& name : action.inherit) take(name);
}

void AddOurs(const model::Run& run, const CommandPlaces& places, const model::TraceSampler& sampler,
             Variables& all) {
    all["KSANA_RUN_ID"] = run.id.ToString();
    all["KSANA_EXEC_ID"] = AttemptIdOf(run);
    all["KSANA_ATTEMPT"] = std::to_string(run.status.attempt);
    all["KSANA_FENCE"] = std::to_string(run.status.fence);
    if (!run.job_id.empty()) all["KSANA_JOB_ID"] = run.job_id;
    all["KSANA_PAYLOAD_FILE"] = places.payload_file;
    all["KSANA_RESULT_FILE"] = places.result_file;
    all.emplace("TRACEPARENT", model::TraceParentOf(run, sampler));
}

// Returns the paths at which the program may be, as a shell looks for it.
std::vector<std::string> ProgramsOf(const std::string& program, const Variables& variables) {
    if (program.find('/') != std::string::npos) return {program};
    const auto found = variables.find("PATH");
    std::string_view path = found == variables.end() ? kUsualPath : std::string_view(found->second);
    std::vector<std::string> programs;
    while (programs.size() < kMaxPrograms) {
        const std::size_t end = std::min(path.find(':'), path.size());
        const std::string_view folder = path.substr(0, end);
        programs.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, program));
        if (end == path.size()) break;
        path.remove_prefix(end + 1);
    }
    return programs;
}

Result<void> SetArguments(const model::CommandAction& action, Filler& filler, SpawnSpec& spec) {
    if (action.shell) spec.arguments = {"/bin/sh", "-c"};
    for (std::size_t n = 0; n < action.argv.size(); ++n) {
        KSANA_TRY(std::string word, filler.Fill(action.argv[n], fmt::format("argument {}", n)));
        spec.arguments.push_back(std::move(word));
        // The name by which the shell calls itself; the further words are its $1, $2…
        if (action.shell && n == 0) spec.arguments.emplace_back("sh");
    }
    return {};
}

Result<void> SetUser(const model::CommandAction& action, Variables& variables, SpawnSpec& spec) {
    KSANA_TRY(CommandUser user, FindUser(action.user, action.group));
    spec.user = std::move(user.switch_to);
    if (!action.user.empty() && !user.name.empty()) {
        variables["USER"] = variables["LOGNAME"] = user.name;
        variables["HOME"] = user.home;
        variables["SHELL"] = user.shell;
    }
    const bool is_root = spec.user ? spec.user->uid == 0 : geteuid() == 0;
    if (action.limits.processes && is_root) {
        return BadCommand("limits.processes does not hold for root: name a user");
    }
    return {};
}

void SetLimits(const model::CommandLimits& limits, SpawnSpec& spec) {
    const auto value = [](const std::optional<std::int64_t>& limit) {
        return limit ? std::optional(static_cast<std::uint64_t>(*limit)) : std::nullopt;
    };
    std::optional<std::uint64_t> seconds;
    if (limits.cpu) {
        seconds = static_cast<std::uint64_t>(
            std::chrono::ceil<std::chrono::seconds>(*limits.cpu).count());
    }
    spec.limits = {seconds,
                   value(limits.memory),
                   value(limits.files),
                   value(limits.processes),
                   value(limits.file_size),
                   value(limits.core)};
}

Result<void> CheckSize(const SpawnSpec& spec) {
    std::size_t size = 0;
    for (const auto* texts : {&spec.programs, &spec.arguments, &spec.variables}) {
        for (const std::string& text : *texts) size += text.size() + 1;
    }
    constexpr std::size_t kRest = 16 << 10;
    if (size <= kMaxPacket - kRest) return {};
    return BadCommand(fmt::format(
        "arguments and variables together are {} bytes long; at most {} are possible: larger data "
        "belongs into the payload",
        size, kMaxPacket - kRest));
}

}  // namespace

TextMap ProcessVariables() {
    TextMap all;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        all[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    return all;
}

const model::CommandAction* CommandOf(const engine::ActiveAttempt& attempt) {
    return attempt.job ? std::get_if<model::CommandAction>(&attempt.job->action) : nullptr;
}

Result<SpawnSpec> MakeSpawnSpec(const engine::ActiveAttempt& attempt, const CommandPlaces& places,
                                const TextMap& process, const model::TraceSampler& sampler) {
    const model::CommandAction* const action = CommandOf(attempt);
    if (action == nullptr) {
        return BadCommand(attempt.job ? "the job is no command any more"
                                      : "the job of this run has been deleted");
    }
    if (action->argv.empty()) return BadCommand("the command names no program");
    SpawnSpec spec;
    spec.attempt_id = AttemptIdOf(attempt.run);
    Filler filler(attempt);
    KSANA_TRY_VOID(SetArguments(*action, filler, spec));
    KSANA_TRY(spec.working_directory, filler.Fill(action->working_directory, "working_directory"));
    Variables variables;
    AddInherited(*action, process, variables);
    KSANA_TRY_VOID(SetUser(*action, variables, spec));
    for (const auto& [name, value] : action->environment) {
        KSANA_TRY(variables[name], filler.Fill(value, "the variable " + name));
    }
    AddOurs(attempt.run, places, sampler, variables);
    spec.programs = ProgramsOf(spec.arguments[0], variables);
    for (const auto& [name, value] : variables) spec.variables.push_back(name + "=" + value);
    SetLimits(action->limits, spec);
    KSANA_TRY_VOID(CheckSize(spec));
    return spec;
}

}  // namespace ksana::exec
