#include "ksana/server_command.hpp"

#include <fmt/core.h>
#include <pthread.h>

#include <csignal>
#include <cstring>
#include <string>

#include "ksana/base/log.hpp"
#include "ksana/config_file.hpp"
#include "ksana/server/application.hpp"
#include "ksana/server/setting_table.hpp"
#include "ksana/server/settings.hpp"
#include "ksana/server/systemd_notice.hpp"

namespace ksana::app {
namespace {

constexpr std::string_view kDemoText = R"(
  Ksana is running a demo: job "demo" calls {0}/demo/hello every 5 seconds.
  Try, in another terminal:

    curl {0}/jobs/demo                      # what it is, when it runs next, how it went
    curl -X POST {0}/jobs/demo/run-now      # once more, right now
    curl -X POST {0}/jobs/demo/pause        # and /resume
    curl {0}/jobs -d '{{"name": "my first job", "type": "http",
         "http": {{"method": "GET", "url": "{0}/health"}},
         "schedule": {{"kind": "cron", "cron": "*/10 * * * * *"}}}}'
    curl {0}/metrics | grep ksana_

  Ctrl-C stops it.

)";

struct SettingTexts {
    std::string flag;
    std::string help;
};

// A table of options needs texts that stay; there is one table. The default is part of the help:
// an option that is not given must be told from one that is.
const std::vector<SettingTexts>& TextsOfSettings() {
    static const std::vector<SettingTexts> texts = [] {
        std::vector<SettingTexts> made;
        for (const server::SettingSpec& spec : server::AllSettings()) {
            std::string help(spec.help);
            if (!spec.default_text.empty()) help += fmt::format(" [{}]", spec.default_text);
            made.push_back({server::FlagOf(spec), std::move(help)});
        }
        return made;
    }();
    return texts;
}

std::vector<OptionSpec> Options() {
    std::vector<OptionSpec> options;
    options.push_back(
        {.name = "config",
         .value_name = "FILE",
         .help = "settings in TOML; else KSANA_CONFIG, else ksana.toml if it is there",
         .default_value = ""});
    options.push_back({.name = "demo",
                       .value_name = "",
                       .help = "adds a job and a target for it, to look around",
                       .default_value = ""});
    const auto settings = server::AllSettings();
    for (std::size_t n = 0; n < settings.size(); ++n) {
        options.push_back({.name = TextsOfSettings()[n].flag,
                           .value_name = settings[n].value_name,
                           .help = TextsOfSettings()[n].help,
                           .default_value = ""});
    }
    return options;
}

Result<server::LoadedSettings> SettingsOf(const Arguments& arguments, const Process& process) {
    server::SettingInputs inputs;
    const auto settings = server::AllSettings();
    for (std::size_t n = 0; n < settings.size(); ++n) {
        inputs.flags.emplace(settings[n].name, arguments.Get(TextsOfSettings()[n].flag));
    }
    inputs.config_file = arguments.Get("config");
    inputs.environment = process.environment;
    inputs.read_file = ReadConfigFile;
    return server::LoadSettings(inputs);
}

// Signals that end the server, waited for by the main thread and by nobody else: they are blocked
// before any other thread is made.
class EndSignals {
  public:
    EndSignals() {
        sigemptyset(&set_);
        sigaddset(&set_, SIGINT);
        sigaddset(&set_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &set_, &before_);
    }
    // A second signal, while the server stops, ends the process at once.
    ~EndSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    // The signal, or 0 when none came within this time.
    int Wait(Duration most) const {
        const auto seconds = std::chrono::floor<std::chrono::seconds>(most);
        const timespec time{.tv_sec = seconds.count(),
                            .tv_nsec = std::chrono::nanoseconds(most - seconds).count()};
        const int signal = sigtimedwait(&set_, nullptr, &time);
        return signal > 0 ? signal : 0;
    }

  private:
    sigset_t set_{};
    sigset_t before_{};
};

void WaitForTheEnd(const EndSignals& signals, const server::Application& application,
                   const server::SystemdNotice& systemd) {
    const Duration pause = systemd.alive_every().value_or(std::chrono::hours(1));
    for (;;) {
        if (const int signal = signals.Wait(pause); signal != 0) {
            Log(LogLevel::kInfo, "asked to stop", {{"signal", ::strsignal(signal)}});
            return;
        }
        if (application.Alive()) systemd.Alive();
    }
}

int Serve(const Arguments& arguments, const Process& process, Output& output) {
    auto loaded = SettingsOf(arguments, process);
    if (!loaded) return Fail(loaded.error(), output);
    const server::Settings& settings = loaded->settings;
    const LogOptions log{
        .level = settings.log_level, .format = settings.log_format, .file = settings.log_file};
    if (const auto configured = ConfigureLog(log); !configured) {
        return Fail(configured.error(), output);
    }
    const server::SystemdNotice systemd(process.environment);
    const bool demo = arguments.Has("demo");
    std::unique_ptr<server::Application> application;
    {
        const EndSignals signals;
        auto made = server::Application::Make(settings, {.clock = process.clock,
                                                         .random = process.random,
                                                         .ids = process.ids,
                                                         .version = KSANA_VERSION,
                                                         .demo = demo,
                                                         .origins = loaded->origins});
        if (!made) return Fail(made.error(), output);
        application = std::move(*made);
        if (const auto started = application->Start(); !started) {
            return Fail(started.error(), output);
        }
        if (demo) {
            fmt::print(process.out, kDemoText, application->url());
            std::fflush(process.out);
        }
        systemd.Ready();
        WaitForTheEnd(signals, *application, systemd);
    }
    systemd.Stopping();
    application->Stop();
    return kExitOk;
}

}  // namespace

Command ServerCommand(const Process& process) {
    return {.path = "server",
            .words = "",
            .summary = "Runs the server: fires jobs, calls targets, answers the API",
            .details =
                "Settings come from flags, then from the environment (KSANA_PORT, or the plain\n"
                "names PORT, DATA_DIR, WORKERS, DEFAULT_TIMEOUT, MAX_RETRIES, RETRY_BACKOFF and\n"
                "LOG_LEVEL), then from a file, then from the defaults. Without any it listens on\n"
                "127.0.0.1:7100 and keeps everything in data/ksana.db.\n\n"
                "It stops on SIGTERM and SIGINT: calls under way may finish, the rest is given\n"
                "back unharmed. A second signal ends it at once.\n",
            .word_count = 0,
            .options = Options(),
            .run = [&process](const Arguments& arguments, Output& output) {
                return Serve(arguments, process, output);
            }};
}

}  // namespace ksana::app
