#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/context.hpp"
#include "ksana/declare.hpp"
#include "ksana/job.hpp"
#include "ksana/listener.hpp"
#include "ksana/task_context.hpp"

namespace ksana {

class Clock;
class Random;

struct SchedulerOptions {
    // The path of jobs.conf, which overrides the declarations. Empty: none. A file that does not
    // exist is logged and overrides nothing.
    std::string config = {};
    // False: nothing is scheduled; Trigger still works. jobs.conf overrides it.
    bool enabled = true;
    // Where the locks of kSingleNode jobs are kept: "memory:" (this process only),
    // "redis://HOST:6379" (several, separated by commas: a majority of them), "rediss://…",
    // "etcd://HOST:2379", "postgresql://…", "mariadb://…", or "store" with a store. Empty: "store"
    // if there is one, otherwise no lock, and Start refuses kSingleNode jobs.
    std::string lock = {};
    // The key of a job's lock is "PREFIX:lock:job:ID".
    std::string lock_prefix = "ksana";
    // Renews the lock of a run while it runs; without, a run that is longer than its lock_ttl loses
    // its lock. A run whose lock is lost is cancelled.
    bool renew_locks = false;
    JobExecutionListener* listener = nullptr;  // or bound in the Context; must outlive Shutdown
    // Keeps jobs, runs and history: "sqlite:app.db", "postgresql://…", "json:jobs.json" or
    // "memory:". Empty: nothing is kept, and fires are held in memory only.
    std::string store = {};
    // Serves the jobs over HTTP at this address, "127.0.0.1:7200". Empty: not. Without a store it
    // keeps the history in memory.
    std::string http = {};
    // How long the destructor, and RunJobs, let runs finish.
    std::chrono::milliseconds shutdown_timeout = std::chrono::seconds(30);
    // Threads that run jobs; 0: one for each core, at least two.
    int threads = 0;
    Clock* clock = nullptr;  // null: the system's; for tests, ksana::testing::FakeClock
    // A file with the token that requests to `http` must carry. Needed for an address that other
    // machines can reach.
    std::string http_token_file = {};
};

enum class JobResult : std::uint8_t { kSuccess, kFailed, kSkipped };

struct JobSchedule {
    std::string cron;  // empty: fixed rate
    Duration fixed_rate{};
    Duration initial_delay{};
    std::string zone;  // empty: UTC
};

// A job as Scheduler::Snapshot shows it. Times are UTC epoch milliseconds.
struct JobStatus {
    std::string id;
    bool enabled = true;
    JobSchedule schedule;
    ExecutionMode mode = ExecutionMode::kSingleNode;
    std::optional<std::int64_t> last_fire_time;  // none: never
    std::optional<std::int64_t> last_duration;   // milliseconds
    std::optional<JobResult> last_result;
    std::optional<std::int64_t> next_fire_time;  // none: it will not fire
    std::int64_t run_count = 0;                  // runs that ended, with success or not
    std::int64_t fail_count = 0;

    std::string group;
    bool running = false;
    std::string last_error;
    std::int64_t skip_count = 0;  // fires that did not start
    std::int64_t miss_count = 0;  // fires that were too late
};

// A job that is known only at run time. The members mean the same as in JobDeclaration.
struct JobSpec {
    std::string id = {};
    std::string cron = {};
    Duration fixed_rate = {};
    Duration initial_delay = {};
    ExecutionMode mode = ExecutionMode::kSingleNode;
    Duration lock_ttl = kDefaultLockTtl;
    bool enabled = true;
    std::string zone = {};
    CronDialect dialect = CronDialect::kLibrary;
    Duration timeout = {};
    Retry retry = {};
    std::string group = {};
    Misfire misfire = Misfire::kSkip;
};

namespace detail {
class SchedulerCore;
struct SchedulerAccess;
}  // namespace detail

// Runs the jobs that the program declares with KSANA_JOB or adds. Thread-safe.
class Scheduler {
  public:
    // `context` must outlive the scheduler. Nothing runs before Start.
    Scheduler(Context& context, SchedulerOptions options);
    // Shuts down with options.shutdown_timeout.
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    // Reads jobs.conf, makes the job objects, opens store and lock, and starts. The error names
    // every fault: unknown ids and keys of the file, missing constructor arguments of jobs, jobs
    // that need a lock where there is none. After an error nothing runs, and Start can be called
    // again.
    Result<void> Start();
    // Stops scheduling, waits for runs to end, then cancels those that are left and waits five
    // seconds more. A run that neither ends nor looks at cancelled() is left behind with its
    // thread, which the log says; what it uses must stay. Does nothing before Start.
    void Shutdown(std::chrono::milliseconds timeout);

    // Runs a job now, whether or not it or the scheduler is enabled. Returns when the run is
    // accepted. If the job is running already or another process has its lock, the run is recorded
    // as skipped. kNotFound: there is no such job. kUnavailable: not started.
    Result<void> Trigger(std::string_view id, Parameters parameters = {});

    // All jobs with their states, ordered by id. Reads memory only.
    std::vector<JobStatus> Snapshot() const;

    // Enables or disables a job until the next restart. kNotFound: there is no such job.
    Result<void> SetEnabled(std::string_view id, bool enabled);

    // Adds a job, before or after Start. `function` takes a JobContext& and returns void or Task<>.
    // kInvalidArgument names every fault of the spec; kAlreadyExists: the id is taken.
    template <class Function>
    Result<void> Add(JobSpec spec, Function function);
    // Removes a job. A run in progress ends first; it is not waited for. kNotFound: there is no
    // such job. kConflict: a job that KSANA_JOB declares cannot be removed, only disabled.
    Result<void> Remove(std::string_view id);

    // Registers the handler of a type of tasks, and of jobs in the store whose action is the
    // handler of this name, as Worker::Handle does (worker.hpp): this program then works on them
    // itself, without a server. Each occupies a thread of the scheduler while it runs. Before
    // Start; needs a store. kInvalidArgument: the type is no identifier; kAlreadyExists: it has a
    // handler; kConflict: started.
    template <class Function>
    Result<void> Handle(std::string type, Function function) {
        return AddHandler(std::move(type), detail::MakeTaskHandler(std::move(function)));
    }

    // The port of `http`, once started; 0: none.
    std::uint16_t http_port() const;

  private:
    friend struct detail::SchedulerAccess;

    Result<void> AddObject(JobSpec spec, detail::JobObject object);
    Result<void> AddHandler(std::string type, TaskHandler handler);

    std::unique_ptr<detail::SchedulerCore> core_;
};

// A whole main function: reads the options "--config FILE", "--lock URL", "--store URL",
// "--http ADDRESS:PORT", "--list" and "--help", calls `bind` with the context, starts a scheduler
// with the declared jobs, and shuts it down on SIGINT or SIGTERM. Returns the exit code.
//
//   int main(int argc, char** argv) {
//       return ksana::RunJobs(argc, argv, [](ksana::Context& context) { … });
//   }
int RunJobs(int argc, char** argv, const std::function<void(Context&)>& bind = {},
            SchedulerOptions options = {});

namespace detail {

template <class Function>
class PlainFunction final : public PlainJob {
  public:
    explicit PlainFunction(Function function) : function_(std::move(function)) {}
    void Run(JobContext& context) override { function_(context); }

  private:
    Function function_;
};

template <class Function>
class CoroutineFunction final : public JobExecutor {
  public:
    explicit CoroutineFunction(Function function) : function_(std::move(function)) {}
    Task<> Run(JobContext& context) override { return function_(context); }

  private:
    Function function_;
};

}  // namespace detail

template <class Function>
Result<void> Scheduler::Add(JobSpec spec, Function function) {
    using Answer = std::invoke_result_t<Function&, JobContext&>;
    static_assert(std::is_void_v<Answer> || std::is_same_v<Answer, Task<>>,
                  "the function of a job returns void or ksana::Task<>");
    detail::JobObject object;
    if constexpr (std::is_void_v<Answer>) {
        object.plain = std::make_unique<detail::PlainFunction<Function>>(std::move(function));
    } else {
        object.coroutine =
            std::make_unique<detail::CoroutineFunction<Function>>(std::move(function));
    }
    return AddObject(std::move(spec), std::move(object));
}

}  // namespace ksana
