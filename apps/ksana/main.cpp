#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "apps/ksana/commands.hpp"
#include "apps/ksana/toolkit/command_line.hpp"
#include "ksana/base/error/error.hpp"
#include "ksana/base/ids/random.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/server/settings/settings.hpp"

namespace {

// Returns false if the text could not be written (a full disk, a closed pipe).
bool Print(std::FILE* file, std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

bool IsOurs(std::string_view name) {
    constexpr std::array<std::string_view, 14> kOthers = {
        "TERM",  "NO_COLOR",        "EDITOR", "VISUAL",        "TMPDIR",        "HOME", "LC_ALL",
        "SHELL", "XDG_CONFIG_HOME", "PATH",   "NOTIFY_SOCKET", "WATCHDOG_USEC", "LANG", "LC_CTYPE"};
    return std::ranges::find(kOthers, name) != kOthers.end() || name.starts_with("OTEL_") ||
           ksana::server::IsSettingVariable(name);
}

// Copies the variables that commands may read. Commands use this copy and never call getenv.
std::map<std::string, std::string> KsanaVariables(char** environment) {
    std::map<std::string, std::string> variables;
    for (; *environment != nullptr; ++environment) {
        const std::string_view entry = *environment;
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) continue;
        if (!IsOurs(entry.substr(0, equals))) continue;
        variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return variables;
}

void Redraw(std::string_view line) {
    Print(stderr, "\r\x1b[K");
    Print(stderr, line);
}

int Run(int argc, char** argv, char** environment) {
    ksana::SystemClock clock;
    ksana::SystemRandom random;
    ksana::UuidGenerator ids(clock, random);
    ksana::app::Process process{clock, random, ids, KsanaVariables(environment), stdin, stdout, {}};
    const auto terminal = process.environment.find("TERM");
    const bool dumb = terminal == process.environment.end() || terminal->second == "dumb";
    process.terminal = ksana::app::ThisTerminal(dumb);
    if (!dumb && process.terminal.err) process.redraw = Redraw;
    // Commands print their own results, so only warnings and errors are logged.
    (void)ksana::ConfigureLog({.level = ksana::LogLevel::kWarn});

    const std::vector<std::string> tokens(argv + 1, argv + argc);
    ksana::app::Output output;
    output.sink = [](std::string_view out, std::string_view err) {
        const bool printed = Print(stdout, out);
        Print(stderr, err);
        return printed;
    };
    const int code = ksana::app::RunCommandLine(ksana::app::AllCommands(process), tokens, output);
    if (!output.Flush()) {
        Print(stderr, "ksana: cannot write the output\n");
        return 1;
    }
    return code;
}

}  // namespace

int main(int argc, char** argv, char** environment) {
    // A file that may not grow (RLIMIT_FSIZE) is a failed write, as a full disk is.
    (void)std::signal(SIGXFSZ, SIG_IGN);
    // Elsewhere, memory that is missing is an error of the step that asked for it.
    try {
        return Run(argc, argv, environment);
    } catch (const std::bad_alloc&) {
        Print(stderr, "ksana: out of memory\n");
        return ksana::Info(ksana::Code::kUnavailable).exit_code;
    }
}
