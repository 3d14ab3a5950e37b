#pragma once

#include <map>
#include <string>

#include "ksana/base/process/mutex.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/sdk/run/job_runner.hpp"
#include "ksana/sdk/tasks/task_handlers.hpp"

namespace ksana::sdk {

// Carries out attempts at tasks with the handlers of this program, through the JobRunner (G-01).
// Leases, timeouts and retries are matters of its caller: the engine of this process, or a worker.
// A handler that does not end when it is asked to keeps its thread, and its attempt its slot; the
// server records it as not stopping (G-08). Thread-safe.
class TaskExecutor final : public engine::Executor, private RunOwner {
  public:
    // Takes runs of `kind`, kQueue or kHandler. `runner` and `handlers` must outlive the executor.
    TaskExecutor(model::ActionKind kind, JobRunner& runner, const TaskHandlers& handlers)
        : kind_(kind), runner_(runner), handlers_(handlers) {}

    model::ActionKind kind() const override { return kind_; }
    std::vector<std::string> types() const override { return handlers_.types(); }
    bool tells_news() const override { return true; }
    bool Serves(const std::string& type) const { return handlers_.Find(type) != nullptr; }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override;
    void Cancel(std::string_view exec_id) override;

  private:
    struct Active {
        Done done;
        Execution* execution = nullptr;
        std::uint64_t run = 0;  // number of the execution
    };

    void Ended(Execution& execution, RunOutcome outcome) override;

    const model::ActionKind kind_;
    JobRunner& runner_;
    const TaskHandlers& handlers_;
    Mutex mutex_;
    std::map<std::string, Active, std::less<>> active_ KSANA_GUARDED_BY(mutex_);  // by exec_id
};

}  // namespace ksana::sdk
