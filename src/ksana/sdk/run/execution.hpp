#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/dispatch/attempt.hpp"
#include "ksana/job.hpp"
#include "ksana/lock/lock_manager.hpp"
#include "ksana/sdk/run/fault.hpp"
#include "ksana/sdk/run/job_entry.hpp"
#include "ksana/sdk/threads/job_threads.hpp"

namespace ksana::sdk {

class JobRunner;

// Why a run was asked to stop.
enum class CancelReason : std::uint8_t { kNone, kTimeout, kShutdown, kLockLost, kUser };

// How a run, or one attempt of it, ended.
struct RunOutcome {
    enum class Kind : std::uint8_t { kSucceeded, kFailed, kSkipped };
    Kind kind = Kind::kSucceeded;
    std::string error;
    std::optional<Fault> fault;  // of an exception
    Duration duration{};
    CancelReason cancelled = CancelReason::kNone;
};

// Hears that a run has ended: the timer, or the executor of the engine.
class RunOwner {
  public:
    virtual ~RunOwner() = default;
    // Called once for each run, on the thread that ended it. The execution is recycled afterwards.
    virtual void Ended(detail::Execution& execution, RunOutcome outcome) = 0;
};

}  // namespace ksana::sdk

namespace ksana::detail {

// One run of a job in this process, from the decision to start it to its end. Kept by JobRunner and
// used again for later runs. The members before `mutex` are set before the run is started and not
// changed by it.
class Execution : public WorkItem {
  public:
    explicit Execution(sdk::JobRunner& job_runner);

    // Asks the run with this number to stop; a later run in the same object is left alone. Any
    // thread.
    void Cancel(std::uint64_t of_run, sdk::CancelReason why);
    bool cancelled() const { return reason.load() != sdk::CancelReason::kNone; }

    sdk::JobRunner& runner;
    sdk::JobEntry* entry = nullptr;
    sdk::RunOwner* owner = nullptr;
    TimePoint fire{};
    bool scheduled = false;  // a fire of the schedule; false: a trigger
    // What the lock is to remember: the fire, unless this process has it already.
    std::optional<std::int64_t> stamp;
    bool has_fire = false;     // the lock was granted for this fire, now or for an earlier attempt
    std::string trace_parent;  // of the engine's attempt; empty: none
    std::int64_t fence = 0;    // of the lock, or of the engine's attempt; 0: none
    int attempt = 1;
    Duration timeout{};  // zero: none
    Parameters parameters;
    std::string exec_id;  // of the engine's attempt; empty: none
    // Of a task; null: a job of the library.
    std::shared_ptr<const engine::ActiveAttempt> attempt_at_task;
    model::Event answer;  // of a task: what its handler answered

    std::atomic<bool> taken{false};  // from JobRunner::Take to the end of the run

    // While it runs:
    std::atomic<sdk::CancelReason> reason{sdk::CancelReason::kNone};
    std::atomic<std::uint64_t> number{0};  // of the run; changes when the object is used again
    std::atomic<int> references{0};        // the run, and its timeout while that waits
    SteadyPoint started{};
    std::optional<TimePoint> deadline;
    std::optional<lock::Lock> held;
    std::optional<Logger> logger;
    std::optional<JobContext> context;
    Task<> task;

    struct Timeout : WorkItem {
        explicit Timeout(Execution& run_of);
        Execution& execution;
    } timeout_item{*this};

    Mutex mutex;
    SleepAwaiter* sleeping KSANA_GUARDED_BY(mutex) = nullptr;
    Wakeup thread_sleep;  // ends SleepOnThread
};

}  // namespace ksana::detail
