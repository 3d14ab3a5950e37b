#include <fmt/core.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "apps/ksana/commands.hpp"
#include "apps/ksana/job/command_words.hpp"
#include "apps/ksana/toolkit/api_options.hpp"
#include "apps/ksana/toolkit/end_signals.hpp"
#include "ksana/base/error/check.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/base/text/names.hpp"
#include "ksana/base/time/time_text.hpp"
#include "ksana/exec/command/command_executor.hpp"
#include "ksana/exec/command/command_spec.hpp"
#include "ksana/exec/http_executor.hpp"
#include "ksana/http_client/client.hpp"
#include "ksana/server/application_options.hpp"
#include "ksana/server/systemd_notice.hpp"
#include "ksana/worker/local_commands.hpp"
#include "ksana/worker/worker.hpp"

namespace ksana::app {
namespace {

using worker::LocalCommands;
using worker::WorkerOptions;

constexpr int kMostSlots = 500;

std::vector<OptionSpec> Options() {
    return {
        {"server", '\0', "URL[,URL...]",
         "servers, the next one when one is away; else KSANA_SERVER, else http://127.0.0.1:7100",
         ""},
        {"name", '\0', "NAME",
         "name in the list of workers; best the same over restarts "
         "[HOST-PID]",
         ""},
        {"types", '\0', "A,B", "only tasks of these types, of those that have a handler", ""},
        {"slots", '\0', "N", "attempts at once", "4"},
        {"labels", '\0', "K=V,K=V", "labels that jobs and tasks may require", ""},
        {"allow-commands", '\0', "", "runs the commands of jobs", ""},
        {"handler",
         '\0',
         "TYPE=COMMAND",
         "runs this program for tasks of the type; may be repeated",
         "",
         {},
         true},
        {"lease", '\0', "DURATION", "how long a task is held without an answer of a server", "30s"},
        {"drain-timeout", '\0', "DURATION",
         "how long attempts may go on after SIGTERM before they are stopped", "30s"},
        {"broker", '\0', "URL",
         "tasks come through this RabbitMQ, as the servers' setting broker says; else KSANA_BROKER",
         ""},
        {"broker-prefix", '\0', "TEXT", "begins the names of its queues", "ksana"},
        {"categories", '\0', "A,B", "with --broker: tasks of these categories, not of none", ""},
        {"metrics", '\0', "ADDRESS:PORT", "serves Prometheus metrics there", ""},
        {"token-file", '\0', "FILE", "file with the token; else KSANA_TOKEN_FILE, else KSANA_TOKEN",
         ""},
        {"ca-file", '\0', "FILE", "certificates to trust, in PEM, instead of the system's", ""},
        {"tls-ca-file", '\0', "FILE",
         "authorities that its HTTP calls trust, as the servers' setting", ""},
        {"tls-crl-file", '\0', "FILE", "revocation lists, as the servers' setting", ""},
        {"log-level",
         '\0',
         "LEVEL",
         "least level that is logged",
         "info",
         {"debug", "info", "warn", "error", "off"}},
        {"log-format", '\0', "FORMAT", "form of the log lines", "text", {"text", "json"}},
    };
}

std::vector<std::string> Parts(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        if (comma > 0) parts.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return parts;
}

Error Bad(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

Result<Duration> DurationOf(const Arguments& arguments, std::string_view option) {
    auto read = ParseDuration(arguments.Get(option));
    if (!read) return std::move(read).error().WithContext(fmt::format("--{}", option));
    return read;
}

Result<TextMap> LabelsOf(const std::string& text) {
    TextMap labels;
    for (const std::string& part : Parts(text)) {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos || !IsIdentifier(part.substr(0, equals))) {
            return Bad(fmt::format("--labels: \"{}\" is not NAME=VALUE", part));
        }
        if (!labels.Add(part.substr(0, equals), part.substr(equals + 1))) {
            return Bad(fmt::format("--labels: {} stands twice", part.substr(0, equals)));
        }
    }
    return labels;
}

// The programs of --handler, of which --types may keep some.
Result<LocalCommands::Programs> ProgramsOf(const Arguments& arguments) {
    LocalCommands::Programs all;
    for (const std::string& text : arguments.All("handler")) {
        const std::size_t equals = text.find('=');
        const std::string type = text.substr(0, equals);
        if (equals == std::string::npos || !IsIdentifier(type)) {
            return Bad(fmt::format("--handler: \"{}\" is not TYPE=COMMAND", text));
        }
        auto words = SplitWords(std::string_view(text).substr(equals + 1));
        if (!words) return std::move(words).error().WithContext("--handler " + type);
        if (!all.emplace(type, *std::move(words)).second) {
            return Bad(fmt::format("--handler: {} stands twice", type));
        }
    }
    if (!arguments.Given("types")) return all;
    LocalCommands::Programs kept;
    for (const std::string& type : Parts(arguments.Get("types"))) {
        const auto found = all.find(type);
        if (found == all.end()) {
            return Bad(fmt::format("--types: {} has no --handler {}=COMMAND", type, type));
        }
        kept.insert(*found);
    }
    return kept;
}

Result<WorkerOptions> OptionsOf(const Arguments& arguments, const Process& process) {
    WorkerOptions options;
    options.wire.servers = ServerOf(arguments, process);
    options.wire.ca_file = arguments.Get("ca-file");
    options.wire.token = [&arguments, &process] { return TokenOf(arguments, process); };
    options.metrics = arguments.Get("metrics");
    options.broker.url = arguments.Get("broker");
    const auto broker = process.environment.find("KSANA_BROKER");
    const bool named = broker != process.environment.end() && broker->second != "store";
    if (options.broker.url.empty() && named) options.broker.url = broker->second;
    options.broker.prefix = arguments.Get("broker-prefix");
    if (arguments.Given("categories")) {
        if (options.broker.url.empty()) return Bad("--categories goes with --broker");
        options.broker.categories = Parts(arguments.Get("categories"));
    }
    KSANA_TRY(options.loop.lease, DurationOf(arguments, "lease"));
    KSANA_TRY(options.loop.drain_timeout, DurationOf(arguments, "drain-timeout"));
    worker::Identity& who = options.loop.identity;
    who.name = arguments.Has("name") ? arguments.Get("name") : worker::DefaultName();
    who.incarnation = process.ids.Next();
    who.host = worker::HostName();
    who.version = KSANA_VERSION;
    KSANA_TRY(who.slots, arguments.GetNumber("slots", 1, kMostSlots));
    KSANA_TRY(who.labels, LabelsOf(arguments.Get("labels")));
    return options;
}

// An eventfd, so that the wait for signals ends when the worker is done.
class Event {
  public:
    Event() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        KSANA_CHECK(fd_ >= 0, "no descriptor for an event");
    }
    ~Event() { ::close(fd_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    int fd() const { return fd_; }
    void Set() const {
        const std::uint64_t one = 1;
        if (::write(fd_, &one, sizeof one) < 0) Log(LogLevel::kError, "an eventfd is full");
    }

  private:
    const int fd_;
};

// What carries out attempts: calls always, commands where they are allowed, programs of --handler.
// Lives on the stack of the command, around the worker.
class Executors {
  public:
    Executors(const Process& process, http_client::ClientOptions calls, bool commands,
              LocalCommands::Programs programs)
        : client_(std::move(calls), process.clock), calls_(client_, process.clock) {
        all_.push_back(&calls_);
        if (!commands && programs.empty()) return;
        exec::CommandOptions options{.variables = exec::ProcessVariables()};
        const auto folder = options.variables.find("TMPDIR");
        if (folder != options.variables.end()) options.folder = folder->second;
        commands_.emplace(process.clock, std::move(options));
        if (commands) all_.push_back(&*commands_);
        if (programs.empty()) return;
        tasks_.emplace(model::ActionKind::kQueue, programs, *commands_);
        jobs_.emplace(model::ActionKind::kHandler, std::move(programs), *commands_);
        all_.push_back(&*tasks_);
        all_.push_back(&*jobs_);
    }
    ~Executors() { Stop(); }
    Executors(const Executors&) = delete;
    Executors& operator=(const Executors&) = delete;

    Result<void> Start() {
        if (commands_) KSANA_TRY_VOID(commands_->Open());
        return client_.Start();
    }
    // Ends all attempts. The worker, which hears of their ends, must still be there.
    void Stop() {
        if (commands_) commands_->Close();
        client_.Stop();
    }
    const std::vector<engine::Executor*>& all() const { return all_; }

  private:
    http_client::Client client_;
    exec::HttpExecutor calls_;
    std::optional<exec::CommandExecutor> commands_;
    std::optional<LocalCommands> tasks_;
    std::optional<LocalCommands> jobs_;
    std::vector<engine::Executor*> all_;
};

// The first signal drains, the second ends the drain.
void AwaitEnd(const EndSignals& signals, const Event& over, worker::Worker& worker,
              const server::SystemdNotice& systemd) {
    const Duration pause = systemd.alive_every().value_or(std::chrono::hours(1));
    for (bool draining = false;;) {
        const int signal = signals.Wait(pause, over.fd());
        if (signal == EndSignals::kInput) return;
        systemd.Alive();
        if (signal == 0) continue;
        Log(LogLevel::kInfo, "asked to stop", {{"signal", ::strsignal(signal)}});
        if (!draining) systemd.Stopping();
        draining ? worker.Hurry() : worker.Drain();
        draining = true;
    }
}

Result<void> ConfigureWorkerLog(const Arguments& arguments) {
    KSANA_TRY(const LogLevel level, ParseLogLevel(arguments.Get("log-level")));
    const bool json = arguments.Get("log-format") == "json";
    return ConfigureLog({.level = level, .format = json ? LogFormat::kJson : LogFormat::kText});
}

Result<void> Work(const Arguments& arguments, const Process& process) {
    KSANA_TRY_VOID(ConfigureWorkerLog(arguments));
    KSANA_TRY(WorkerOptions options, OptionsOf(arguments, process));
    KSANA_TRY(LocalCommands::Programs programs, ProgramsOf(arguments));
    http_client::ClientOptions calls;
    KSANA_TRY_VOID(
        server::SetAuthorities(arguments.Get("tls-ca-file"), arguments.Get("tls-crl-file"), calls));
    const EndSignals signals;
    const server::SystemdNotice systemd(process.environment);
    const Event over;
    Executors executors(process, std::move(calls), arguments.Has("allow-commands"),
                        std::move(programs));
    KSANA_TRY(const std::unique_ptr<worker::Worker> made,
              worker::Worker::Make(std::move(options), {.clock = process.clock,
                                                        .random = process.random,
                                                        .executors = executors.all(),
                                                        .over = [&over] { over.Set(); }}));
    KSANA_TRY_VOID(executors.Start());
    KSANA_TRY_VOID(made->Start());
    if (made->metrics_port() != 0) {
        Log(LogLevel::kInfo, "serves metrics", {{"port", made->metrics_port()}});
    }
    systemd.Ready();
    AwaitEnd(signals, over, *made, systemd);
    made->Stop();
    executors.Stop();
    if (auto failure = made->failure()) return *std::move(failure);
    Log(LogLevel::kInfo, "the worker has left");
    return {};
}

}  // namespace

Command WorkerRunCommand(const Process& process) {
    return {.path = "worker run",
            .words = "",
            .summary = "Runs a worker: fetches runs from a server and carries them out here",
            .details =
                "`ksana worker --server URL` is the same. The worker registers, fetches runs\n"
                "that suit it, and reports how they ended: commands of jobs with\n"
                "--allow-commands, tasks and handler jobs of the types with a --handler, HTTP\n"
                "calls of jobs that require its labels. A program gets its task as in\n"
                "docs/commands.md: the payload in the file KSANA_PAYLOAD_FILE, the result into\n"
                "KSANA_RESULT_FILE.\n\n"
                "SIGTERM and SIGINT drain it: it fetches nothing more, finishes what runs and\n"
                "leaves. A second signal, or the end of --drain-timeout, stops what runs and\n"
                "gives it back unharmed.\n",
            .word_count = 0,
            .options = Options(),
            .run = [&process](const Arguments& arguments, Output& output) {
                const auto done = Work(arguments, process);
                return done ? kExitOk : Fail(done.error(), output);
            }};
}

}  // namespace ksana::app
