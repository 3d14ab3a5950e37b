#pragma once

#include <atomic>
#include <map>
#include <string>
#include <unordered_map>

#include "ksana/base/process/mutex.hpp"
#include "ksana/engine/dispatch/executor.hpp"
#include "ksana/sdk/run/job_runner.hpp"
#include "ksana/sdk/tasks/task_executor.hpp"

namespace ksana::sdk {

// The timeout of a job that has none: the longest that the engine knows.
inline constexpr Duration kNoTimeout = std::chrono::hours(24 * 30);

// Carries out the engine's attempts of library jobs through the JobRunner. The engine decides about
// times, retries, timeouts and overlap; this only runs what it is given. Owned by StoredJobs.
// Thread-safe.
class HandlerExecutor final : public engine::Executor, private RunOwner {
  public:
    // `runner` and `tasks`, which carries out the jobs of registered handlers, must outlive the
    // executor. Only runs of this process's jobs and handlers are taken; unless `shared` (other
    // processes may use the same store), runs of any if the jobs are very many.
    HandlerExecutor(JobRunner& runner, TaskExecutor& tasks, bool shared)
        : runner_(runner), tasks_(tasks), shared_(shared) {}

    void Add(JobEntry& entry);
    void Remove(const JobEntry& entry);
    // Returns null if this program has no such job.
    JobEntry* Find(const std::string& handler) const;
    // Whether this program has a job or a handler of this name.
    bool Knows(const std::string& handler) const;

    model::ActionKind kind() const override { return model::ActionKind::kHandler; }
    std::vector<std::string> types() const override;
    bool tells_news() const override { return true; }
    void Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) override;
    void Cancel(std::string_view exec_id) override;

  private:
    // An attempt that runs.
    struct Active {
        std::shared_ptr<const engine::ActiveAttempt> attempt;
        Done done;
        Execution* execution = nullptr;
        std::uint64_t run = 0;  // number of the execution
        SteadyPoint began{};
    };

    void Ended(Execution& execution, RunOutcome outcome) override;

    JobRunner& runner_;
    TaskExecutor& tasks_;
    const bool shared_;
    mutable Mutex mutex_;
    std::unordered_map<std::string, JobEntry*> entries_ KSANA_GUARDED_BY(mutex_);
    std::map<std::string, Active, std::less<>> active_ KSANA_GUARDED_BY(mutex_);  // by exec_id
};

}  // namespace ksana::sdk
