#include "apps/ksana/commands.hpp"

#include <fmt/core.h>

#include <cstring>
#include <string>

#include "apps/ksana/server/setting_options.hpp"
#include "apps/ksana/toolkit/end_signals.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/server/application.hpp"
#include "ksana/server/settings/settings.hpp"
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

std::vector<OptionSpec> Options() {
    std::vector<OptionSpec> options = SettingOptions();
    options.insert(options.begin() + 1, {.name = "demo",
                                         .value_name = "",
                                         .help = "adds a job and a target for it, to look around",
                                         .default_value = ""});
    return options;
}

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
    auto loaded = server::LoadSettings(SettingInputsOf(arguments, process));
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
                                                         .origins = loaded->origins,
                                                         .variables = process.environment});
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
