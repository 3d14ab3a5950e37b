#include "ksana/exec/command/command_outcome.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "ksana/base/text/json_output.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/exec/answer_outcome.hpp"

namespace ksana::exec {
namespace {

using model::EventKind;

constexpr std::size_t kMaxTail = 500;
constexpr std::size_t kMaxCommandError = 1'000;

std::string SignalName(int signal) {
    const char* const name = sigabbrev_np(signal);
    return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

// Returns what could not be done before the program ran.
std::string StartFault(const Ending& ending, const model::CommandAction& action) {
    const std::string why = std::generic_category().message(ending.error);
    const std::string program = action.shell || action.argv.empty() ? "/bin/sh" : action.argv[0];
    switch (ending.stage) {
        case SpawnStage::kProgram:
            return ending.error == ENOENT
                       ? fmt::format("there is no program \"{}\"", program)
                       : fmt::format("the program \"{}\" cannot be executed: {}", program, why);
        case SpawnStage::kFolder:
            return fmt::format("working_directory \"{}\": {}", action.working_directory, why);
        case SpawnStage::kUser:
            return fmt::format("cannot become the user \"{}\": {}", action.user, why);
        case SpawnStage::kLimits:
            return fmt::format("limits cannot be set: {}", why);
        default:
            return fmt::format("no process could be made: {}", why);
    }
}

bool IsShortage(int error) {
    return error == EAGAIN || error == ENOMEM || error == ENFILE || error == EMFILE;
}

// Returns "exit code 3" or "killed by SIGSEGV".
std::string EndText(const Ending& ending) {
    if (WIFSIGNALED(ending.status)) return "killed by " + SignalName(WTERMSIG(ending.status));
    return fmt::format("exit code {}", WEXITSTATUS(ending.status));
}

std::string WithTail(std::string text, const CommandOutput& output) {
    const std::string tail = output.Tail(kMaxTail);
    return tail.empty() ? text : text + ": " + tail;
}

std::string DetailOf(const Ending& ending, const CommandContext& context) {
    constexpr std::int64_t kMicrosInMilli = 1'000;
    JsonOutput detail;
    detail.BeginObject();
    const auto number = [&](std::string_view key, std::int64_t value) {
        detail.Key(key);
        detail.Int(value);
    };
    if (WIFSIGNALED(ending.status)) {
        detail.TextMember("signal", SignalName(WTERMSIG(ending.status)));
    } else {
        number("exit_code", WEXITSTATUS(ending.status));
    }
    detail.TextMember("output", context.output.Text());
    number("output_bytes", static_cast<std::int64_t>(context.output.total()));
    if (context.output.left_out() > 0) {
        number("left_out_bytes", static_cast<std::int64_t>(context.output.left_out()));
    }
    number("cpu_ms", ending.cpu_micros / kMicrosInMilli);
    number("memory_bytes", ending.memory_bytes);
    if (ending.left_behind != 0) {
        detail.TextMember("left_behind", ending.not_gone != 0 ? "processes that could not be killed"
                                                              : "processes that were killed");
    }
    detail.EndObject();
    return detail.Take();
}

model::Event NeverStarted(const Ending& ending, const model::CommandAction& action) {
    model::Event event;
    const bool again = ending.stage == SpawnStage::kProcess || IsShortage(ending.error);
    event.kind = again ? EventKind::kRetryableFailure : EventKind::kPermanentFailure;
    event.error = HarmlessText(StartFault(ending, action), kMaxCommandError);
    return event;
}

// The event of a command that was asked to stop while it ran.
model::Event Stopped(const CommandContext& context) {
    model::Event event;
    const char* const how = context.killed ? "; it did not end by SIGTERM and was killed" : "";
    if (context.stop == CommandStop::kTimeout) {
        event.kind = EventKind::kTimeout;
        event.error =
            WithTail(fmt::format("timed out after {}{}", FormatDuration(context.timeout), how),
                     context.output);
    } else {
        event.kind = EventKind::kCancelled;
        event.error = fmt::format("stopped{}", how);
    }
    return event;
}

}  // namespace

model::Event CommandOutcome(const Ending& ending, const CommandContext& context) {
    if (ending.stage != SpawnStage::kNone) return NeverStarted(ending, context.action);
    model::Event event;
    const bool by_code = WIFEXITED(ending.status);
    const int code = by_code ? WEXITSTATUS(ending.status) : -1;
    if (context.stop != CommandStop::kNone && ending.signalled != 0) {
        event = Stopped(context);
    } else if (code == 0 && context.result) {
        event.kind = EventKind::kSuccess;
        event.result = *context.result;
    } else if (code == 0) {
        event.kind = EventKind::kPermanentFailure;
        event.error = context.result.error().Describe();
    } else {
        const auto& permanent = context.action.permanent_exit_codes;
        const bool final = by_code && std::ranges::find(permanent, code) != permanent.end();
        event.kind = final ? EventKind::kPermanentFailure : EventKind::kRetryableFailure;
        event.error = WithTail(EndText(ending), context.output);
    }
    event.error = HarmlessText(event.error, kMaxCommandError);
    event.detail = DetailOf(ending, context);
    return event;
}

model::Event ImpossibleCommand(const Error& error) {
    model::Event event;
    const bool again = error.code == Code::kExhausted;
    event.kind = again ? EventKind::kRetryableFailure : EventKind::kPermanentFailure;
    event.error = HarmlessText(error.Describe(), kMaxCommandError);
    return event;
}

}  // namespace ksana::exec
