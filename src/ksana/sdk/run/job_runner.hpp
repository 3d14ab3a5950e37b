#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/process/cond_var.hpp"
#include "ksana/context.hpp"
#include "ksana/sdk/run/execution.hpp"

namespace ksana::sdk {

using detail::Execution;

// Carries out runs: takes the lock of a kSingleNode job, calls the job, tells the listener, writes
// the log (N-17) and counts. It decides neither when a job runs nor whether it is tried again: its
// callers do (RunOwner). Owned by the scheduler. Thread-safe.
class JobRunner {
  public:
    struct Options {
        Clock& clock;
        Context& context;
        bool renew_locks = false;
        JobThreads& threads;
        JobThreads& blocking;  // for functions that block; started at their first use
    };

    explicit JobRunner(Options options) : options_(std::move(options)) {}

    // Before the first run. Both may be null: then runs take no lock, and nothing is told.
    void Use(lock::LockManager* locks, JobExecutionListener* listener) {
        locks_ = locks;
        listener_ = listener;
    }

    // Returns an execution to fill in and start.
    Execution& Take();
    // Starts the run on the calling thread, one of `threads`. Its owner hears of its end.
    void Start(Execution& execution);
    // The same on another thread.
    void Post(Execution& execution) { options_.threads.Post(execution); }

    // Records a fire that does not start, because an earlier run is not over; `count` such fires in
    // a row count as one call of the listener.
    void Skip(JobEntry& entry, TimePoint fire, std::int64_t count, std::string_view reason);
    // Records fires that were too late.
    void Miss(JobEntry& entry, TimePoint first, std::int64_t count);

    std::string LastError(const JobEntry& entry) const;
    void Forget(const JobEntry& entry);

    // Waits until no run is left, at most until the deadline.
    bool AwaitIdle(SteadyPoint deadline);
    // Asks all runs to stop, also those that start later, until Resume.
    void CancelAll(CancelReason reason);
    void Resume() { cancels_ = CancelReason::kNone; }
    // The jobs that run now.
    std::vector<std::string> Running() const;

    Clock& clock() const { return options_.clock; }
    Context& context() const { return options_.context; }
    JobThreads& threads() const { return options_.threads; }
    JobThreads& Blocking();

  private:
    friend class detail::Execution;

    struct Driver;  // a coroutine around the one of the job
    static Driver Drive(JobRunner& runner, Execution& execution);
    static void StartPosted(WorkItem& item);

    // Without threads, in the test kit, a run keeps its lock: the notice of a loss would come on
    // another thread, at any moment.
    bool NoticesLosses() const { return options_.threads.size() > 0; }
    bool TakeLock(Execution& execution);
    Result<lock::Tried> TryBehind(const JobEntry& entry, const std::string& name,
                                  lock::LockOptions wanted);
    void Call(Execution& execution);
    void Finish(Execution& execution, const Fault* fault);
    void End(Execution& execution, RunOutcome outcome);
    void ArmTimeout(Execution& execution);
    void Drop(Execution& execution);
    std::atomic<Execution*>& SpareOfThread();
    bool IsIdle() const;
    template <class Telling>
    void Tell(const JobEntry& entry, Telling tell);
    void NoteError(const JobEntry& entry, const std::string& error);

    const Options options_;
    lock::LockManager* locks_ = nullptr;
    JobExecutionListener* listener_ = nullptr;
    std::atomic<bool> awaited_{false};                        // AwaitIdle waits
    std::atomic<CancelReason> cancels_{CancelReason::kNone};  // CancelAll was called
    Wakeup idle_;
    mutable Mutex mutex_;
    // The execution that a thread used last, for its next run: without the lock. Threads that share
    // a slot use the list below, too.
    struct alignas(64) Spare {
        std::atomic<Execution*> execution{nullptr};
    };
    std::array<Spare, 64> spares_;
    std::deque<Execution> all_ KSANA_GUARDED_BY(mutex_);
    std::vector<Execution*> free_ KSANA_GUARDED_BY(mutex_);
    // Of jobs whose last run failed.
    std::unordered_map<const JobEntry*, std::string> errors_ KSANA_GUARDED_BY(mutex_);
    std::atomic<bool> blocking_started_{false};
};

}  // namespace ksana::sdk
