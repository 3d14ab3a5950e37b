#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "ksana/base/time/time_text.hpp"
#include "ksana/scheduler.hpp"
#include "ksana/sdk/job_check.hpp"
#include "ksana/sdk/jobs_conf.hpp"

namespace ksana {
namespace {

constexpr std::string_view kUsage =
    "Usage: {} [OPTIONS]\n"
    "\n"
    "Runs the jobs of this program until SIGINT or SIGTERM.\n"
    "\n"
    "  --config FILE        jobs.conf, which overrides the declarations\n"
    "  --lock URL           memory:, redis://…, etcd://…, postgresql://…, mariadb://…, store\n"
    "  --store URL          sqlite:FILE, postgresql://…, json:FILE, memory:\n"
    "  --http ADDRESS:PORT  serves the jobs over HTTP\n"
    "  --list               shows the jobs and exits\n"
    "  --help               this text\n";

struct Arguments {
    bool help = false;
    bool list = false;
    std::string fault;  // empty: none
};

Arguments Parse(int argc, char** argv, SchedulerOptions& options) {
    Arguments read;
    for (int n = 1; n < argc; ++n) {
        const std::string_view name = argv[n];
        std::string* const value = name == "--config"  ? &options.config
                                   : name == "--lock"  ? &options.lock
                                   : name == "--store" ? &options.store
                                   : name == "--http"  ? &options.http
                                                       : nullptr;
        if (name == "--help" || name == "-h") {
            read.help = true;
        } else if (name == "--list") {
            read.list = true;
        } else if (value == nullptr) {
            read.fault = fmt::format("unknown option {}", name);
        } else if (n + 1 == argc) {
            read.fault = fmt::format("{} needs a value", name);
        } else {
            *value = argv[++n];
        }
    }
    return read;
}

// Shows the declared jobs as jobs.conf leaves them, and starts nothing.
int Show(const char* program, const SchedulerOptions& options) {
    std::vector<JobSpec> jobs;
    for (const auto* job = detail::DeclaredJobs(); job != nullptr; job = job->next) {
        jobs.push_back(sdk::SpecOf(job->declaration));
    }
    if (!options.config.empty()) {
        const auto conf = sdk::ReadJobsConf(options.config);
        if (!conf) {
            fmt::print(stderr, "{}: {}\n", program, conf.error().Describe());
            return 1;
        }
        for (JobSpec& job : jobs) {
            if (*conf) sdk::Override(job, **conf);
        }
    }
    std::ranges::sort(jobs, {}, &JobSpec::id);
    for (const JobSpec& job : jobs) {
        const std::string when =
            job.cron.empty() ? "every " + FormatDuration(job.fixed_rate) : job.cron;
        fmt::print("{:<32} {:<20} {}{}\n", job.id, when,
                   job.mode == ExecutionMode::kSingleNode ? "SINGLE_NODE" : "ALL_NODES",
                   job.enabled ? "" : " disabled");
    }
    return 0;
}

}  // namespace

int RunJobs(int argc, char** argv, const std::function<void(Context&)>& bind,
            SchedulerOptions options) {
    const Arguments arguments = Parse(argc, argv, options);
    const char* const program = argc > 0 ? argv[0] : "program";
    if (!arguments.fault.empty()) {
        fmt::print(stderr, "{}: {}; see --help\n", program, arguments.fault);
        return 2;
    }
    if (arguments.help) {
        fmt::print(fmt::runtime(kUsage), program);
        return 0;
    }
    if (arguments.list) return Show(program, options);
    // Before any thread exists, so that all of them block the signals and sigwait gets them.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    Context context;
    if (bind) bind(context);
    const std::chrono::milliseconds patience = options.shutdown_timeout;
    Scheduler scheduler(context, std::move(options));
    if (auto started = scheduler.Start(); !started) {
        fmt::print(stderr, "{}: {}\n", program, started.error().Describe());
        return 1;
    }
    int signal = 0;
    sigwait(&signals, &signal);
    scheduler.Shutdown(patience);
    return 0;
}

}  // namespace ksana
