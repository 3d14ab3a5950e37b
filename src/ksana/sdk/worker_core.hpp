#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/context.hpp"
#include "ksana/sdk/run/job_runner.hpp"
#include "ksana/sdk/tasks/task_executor.hpp"
#include "ksana/sdk/tasks/task_handlers.hpp"
#include "ksana/worker.hpp"
#include "ksana/worker/worker.hpp"

namespace ksana::detail {

// The parts of a Worker of the library: its handlers, their threads, and the worker that fetches
// their tasks. Owned by ksana::Worker; a handler that does not end keeps it alive beyond that.
class WorkerCore {
  public:
    explicit WorkerCore(WorkerOptions options);
    ~WorkerCore();
    WorkerCore(const WorkerCore&) = delete;
    WorkerCore& operator=(const WorkerCore&) = delete;

    Result<void> Add(std::string type, TaskHandler handler);
    Result<void> Run();
    void Stop();
    std::size_t running() const;
    std::uint16_t metrics_port() const;
    // Whether a handler runs that did not end.
    bool IsStuck() { return !runner_.AwaitIdle(clock_.SteadyNow()); }

  private:
    Result<std::shared_ptr<worker::Worker>> Make();
    std::shared_ptr<worker::Worker> worker() const;

    const WorkerOptions options_;
    SystemClock clock_;
    SystemRandom random_;
    Context context_;
    sdk::TaskHandlers handlers_;
    sdk::JobThreads threads_;
    sdk::JobThreads no_threads_{clock_, "none", 0};
    sdk::JobRunner runner_;
    sdk::TaskExecutor tasks_;
    sdk::TaskExecutor jobs_;
    int events_ = -1;  // an eventfd: Stop was called, or the worker is done
    mutable Mutex mutex_;
    bool ran_ KSANA_GUARDED_BY(mutex_) = false;
    bool stopped_ KSANA_GUARDED_BY(mutex_) = false;
    std::shared_ptr<worker::Worker> worker_ KSANA_GUARDED_BY(mutex_);  // null before Run
};

}  // namespace ksana::detail
