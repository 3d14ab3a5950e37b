#pragma once

#include <unordered_map>
#include <vector>

#include "ksana/sdk/run/job_runner.hpp"

namespace ksana::sdk {

// Fires the jobs of a scheduler without a store: keeps the next fire of each job in the heap of
// JobThreads, and nothing anywhere else. A fire that is due while the job runs is skipped; one that
// is later than the grace follows the job's misfire policy; a failed run is tried again as the job
// says. Owned by the scheduler. Thread-safe.
class JobTimer final : public RunOwner {
  public:
    // `runner` must outlive the timer.
    explicit JobTimer(JobRunner& runner);

    // The body of the timers of entries whose owner is this object.
    static void Fire(WorkItem& item);

    // Arms a job that is enabled and not armed: from now on, or after its initial delay.
    void Arm(JobEntry& entry);
    void Disarm(JobEntry& entry);
    // Runs the job now. Returns false if it is busy.
    bool TryTrigger(JobEntry& entry, Parameters parameters);
    // Returns by how much the wall clock was set since the last call; none: it was not.
    std::optional<Duration> TakeJump();
    // Arms a job anew after that.
    void AfterJump(JobEntry& entry, Duration jump);
    // Lets nothing fire any more.
    void Close() { closed_ = true; }
    void Open() { closed_ = false; }
    // Drops what is kept about a job that is removed.
    void Forget(const JobEntry& entry);

    void Ended(Execution& execution, RunOutcome outcome) override;

  private:
    // What a run needs to know, also over its retries.
    struct Attempt {
        TimePoint fire{};
        bool scheduled = false;
        bool has_fire = false;  // see Execution
        Parameters parameters;
    };

    Execution& Prepare(JobEntry& entry, Attempt attempt);
    void FireNow(JobEntry& entry);
    void Run(JobEntry& entry, TimePoint fire);
    void Retry(JobEntry& entry);
    // Returns the fire that runs now, after the misfire policy; none: none does, and the job is
    // armed again.
    std::optional<TimePoint> AfterMisfire(JobEntry& entry, TimePoint nominal, TimePoint now);
    std::optional<TimePoint> TakePending(const JobEntry& entry);
    bool TryAgain(JobEntry& entry, Execution& execution);
    void FreeUnfired(JobEntry& entry);
    void ArmAfterRun(JobEntry& entry, TimePoint armed, bool ran);
    void Arm(JobEntry& entry, std::optional<TimePoint> next);
    void PostAt(JobEntry& entry, TimePoint when);
    bool Fires(const JobEntry& entry) const;

    JobRunner& runner_;
    Clock& clock_;
    std::atomic<bool> closed_{false};
    std::atomic<std::int64_t> offset_;  // wall clock minus steady clock, microseconds
    std::atomic<Duration> set_back_{};  // by how much the wall clock was set back since the start
    Mutex mutex_;
    // Fires that run_all has still to make up for.
    std::unordered_map<const JobEntry*, std::deque<TimePoint>> pending_ KSANA_GUARDED_BY(mutex_);
    // Runs that are tried again, while they wait.
    std::unordered_map<const JobEntry*, Attempt> retried_ KSANA_GUARDED_BY(mutex_);
    std::atomic<std::size_t> pending_count_{0};  // entries of pending_, readable without the lock
};

// Returns the first fire after `after`; none: the schedule has ended. `last` is any fire of a fixed
// rate.
std::optional<TimePoint> NextFire(const JobEntry& entry, TimePoint last, TimePoint after);

// The number of fires after `last`, itself a fire, up to and with `until`.
std::int64_t CountFires(const JobEntry& entry, TimePoint last, TimePoint until);

}  // namespace ksana::sdk
