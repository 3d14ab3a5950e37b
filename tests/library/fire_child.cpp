#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "ksana/base/time/clock.hpp"
#include "ksana/ksana.hpp"

// A program with one job for one node, of which tests/library/process_cases.py starts several:
//
//   ksana_fire_child --lock URL --prefix P --log FILE (--rate MS | --cron) --work MS --ttl MS
//                    [--renew]
//
// --rate is a fixed rate, --cron is every second; a run takes the time of --work. Appends a line
// "start|end|skipped|failed FIRE_MS PID MONOTONIC_NS" to FILE for each event: start and end are
// those of the job's own code, skipped and failed are what the listener hears. Prints "ready" once
// it is started and stops on SIGTERM.

namespace {

struct Arguments {
    ksana::SchedulerOptions options;
    ksana::JobSpec job{.id = "beat"};
    std::chrono::milliseconds work{0};
    std::string log;
};

bool Read(int argc, char** argv, Arguments& read) {
    using std::chrono::milliseconds;
    for (int n = 1; n < argc; ++n) {
        const std::string_view name = argv[n];
        if (name == "--renew") {
            read.options.renew_locks = true;
            continue;
        }
        if (name == "--cron") {
            read.job.cron = "* * * * * *";
            read.job.dialect = ksana::CronDialect::kStandard;
            continue;
        }
        if (++n == argc) return false;
        const std::string_view value = argv[n];
        int number = 0;
        std::from_chars(value.data(), value.data() + value.size(), number);
        if (name == "--lock") {
            read.options.lock = value;
        } else if (name == "--prefix") {
            read.options.lock_prefix = value;
        } else if (name == "--log") {
            read.log = value;
        } else if (name == "--rate") {
            read.job.fixed_rate = milliseconds(number);
        } else if (name == "--work") {
            read.work = milliseconds(number);
        } else if (name == "--ttl") {
            read.job.lock_ttl = milliseconds(number);
        } else {
            return false;
        }
    }
    return !read.log.empty();
}

// Each line is one write to a file opened with O_APPEND, so lines of several processes do not mix.
// Thread-safe.
class FireLog final : public ksana::JobExecutionListener {
  public:
    explicit FireLog(const std::string& file)
        : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
    FireLog(const FireLog&) = delete;
    FireLog& operator=(const FireLog&) = delete;
    ~FireLog() override {
        if (file_ >= 0) ::close(file_);
    }

    bool is_open() const { return file_ >= 0; }

    void Write(std::string_view event, std::int64_t fire_time) const {
        const std::chrono::nanoseconds now = clock_.SteadyNow().time_since_epoch();
        const std::string line =
            fmt::format("{} {} {} {}\n", event, fire_time, ::getpid(), now.count());
        // A log with a hole would make the checks of the test worthless.
        if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
            ::_exit(3);
        }
    }

    void OnFailure(const std::string&, std::int64_t fire_time, std::int64_t,
                   const std::string&) override {
        Write("failed", fire_time);
    }
    void OnSkipped(const std::string&, std::int64_t fire_time) override {
        Write("skipped", fire_time);
    }

  private:
    const ksana::SystemClock clock_;
    const int file_;
};

}  // namespace

int main(int argc, char** argv) {
    Arguments given;
    if (!Read(argc, argv, given)) return 2;
    // Before any thread exists, so that all of them block the signal and sigwait gets it.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    FireLog log(given.log);
    if (!log.is_open()) return 2;
    given.options.listener = &log;
    ksana::Context context;
    ksana::Scheduler scheduler(context, given.options);
    const auto added = scheduler.Add(given.job, [&](ksana::JobContext& run) -> ksana::Task<> {
        log.Write("start", run.fire_time());
        static_cast<void>(co_await run.Sleep(given.work));
        log.Write("end", run.fire_time());
    });
    const auto started = added ? scheduler.Start() : added;
    if (!started) {
        fmt::print(stderr, "{}\n", started.error().Describe());
        return 1;
    }
    fmt::print("ready\n");
    (void)std::fflush(stdout);
    int signal = 0;
    sigwait(&signals, &signal);
    scheduler.Shutdown(given.options.shutdown_timeout);
    return 0;
}
