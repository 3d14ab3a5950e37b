#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/lock/lock_manager.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/scheduler.hpp"
#include "ksana/sdk/jobs_conf.hpp"
#include "ksana/sdk/run/job_runner.hpp"
#include "ksana/sdk/stored/scheduler_admin.hpp"
#include "ksana/sdk/stored/stored_jobs.hpp"
#include "ksana/sdk/tasks/task_handlers.hpp"
#include "ksana/sdk/timer/job_timer.hpp"

namespace ksana::detail {

// SchedulerOptions::threads for a scheduler without threads, for the test kit.
inline constexpr int kNoThreads = -1;

class SchedulerCore;

// For the test kit.
struct SchedulerAccess {
    static SchedulerCore& CoreOf(Scheduler& scheduler) { return *scheduler.core_; }
};

// The parts of a Scheduler: the table of jobs, and what runs them. Jobs are fired by a JobTimer, or
// by the engine of a server in this process if there is a store. Owned by Scheduler; a run that
// does not end keeps it alive beyond that. Thread-safe.
class SchedulerCore {
  public:
    SchedulerCore(Context& context, SchedulerOptions options);
    ~SchedulerCore();

    Result<void> Start();
    // Returns false if runs are left that do not end.
    bool Shutdown(Duration timeout);
    Result<void> Trigger(std::string_view id, Parameters parameters,
                         const engine::Actor& by = Program());
    std::vector<JobStatus> Snapshot() const;
    Result<void> SetEnabled(std::string_view id, bool enabled, const engine::Actor& by = Program());
    Result<void> Add(JobSpec spec, JobObject object);
    Result<void> Remove(std::string_view id);
    Result<void> AddHandler(std::string type, TaskHandler handler);
    std::uint16_t http_port() const;
    std::chrono::milliseconds shutdown_timeout() const { return options_.shutdown_timeout; }

    // For the test kit, which runs what is due on its own thread.
    sdk::JobThreads& threads() { return threads_; }
    // Uses this driver instead of that of the options. Before Start.
    void UseLocksForTest(std::unique_ptr<lock::LockDriver> driver);
    // Arms the jobs anew if the wall clock was set. Returns false if the scheduler has stopped.
    bool LookAtClock();

    // The program itself, in the audit log.
    static engine::Actor Program();

  private:
    enum class State : std::uint8_t {
        kStopped,
        kRunning,
        kStopping,  // also if runs are left that do not end
    };
    using Entries = std::unordered_map<std::string_view, std::unique_ptr<sdk::JobEntry>>;

    Result<void> Prepare() KSANA_REQUIRES(life_) KSANA_EXCLUDES(mutex_);
    Result<void> AddDeclared() KSANA_REQUIRES(mutex_);
    Result<void> ApplyConf() KSANA_REQUIRES(mutex_);
    Result<void> OpenLocks() KSANA_REQUIRES(mutex_);
    Result<void> CheckLocks() KSANA_REQUIRES(mutex_);
    Result<void> Run() KSANA_REQUIRES(life_) KSANA_EXCLUDES(mutex_);
    Result<void> AddEntry(JobSpec spec, JobObject object, bool declared) KSANA_REQUIRES(mutex_);
    void Disarm() KSANA_EXCLUDES(mutex_);
    void Close() KSANA_REQUIRES(life_) KSANA_EXCLUDES(mutex_);
    void Discard(Entries::iterator found) KSANA_REQUIRES(mutex_);
    std::shared_ptr<sdk::StoredJobs> stored() const KSANA_EXCLUDES(mutex_);
    Result<void> Apply(JobSpec spec, sdk::JobEntry& entry) KSANA_REQUIRES(mutex_);
    Result<std::shared_ptr<const sdk::JobPolicy>> PolicyOf(JobSpec spec) KSANA_REQUIRES(mutex_);
    sdk::JobEntry& NewEntry(std::string id) KSANA_REQUIRES(mutex_);
    sdk::JobEntry* Find(std::string_view id) const KSANA_REQUIRES(mutex_);
    bool IsStored(const sdk::JobEntry& entry) const KSANA_REQUIRES(mutex_);
    Result<void> Begin(sdk::JobEntry& entry) KSANA_REQUIRES(mutex_);
    JobStatus StatusOf(const sdk::JobEntry& entry) const KSANA_REQUIRES(mutex_);
    static void WatchClock(WorkItem& item);

    // The item that looks at the wall clock every second.
    struct ClockItem : WorkItem {
        explicit ClockItem(SchedulerCore& of) : WorkItem(&SchedulerCore::WatchClock), core(of) {}
        SchedulerCore& core;
    };

    Context& context_;
    const SchedulerOptions options_;
    SystemClock system_clock_;
    Clock& clock_;
    SystemRandom random_;
    schedule::ZoneDatabase zones_;
    sdk::JobThreads threads_;
    sdk::JobThreads blocking_;
    sdk::TaskHandlers handlers_;
    sdk::JobRunner runner_;
    sdk::JobTimer timer_;
    sdk::SchedulerAdmin admin_{*this};
    ClockItem clock_item_{*this};

    Mutex life_ KSANA_ACQUIRED_BEFORE(mutex_);  // held for all of Start and Shutdown
    mutable Mutex mutex_;
    State state_ KSANA_GUARDED_BY(mutex_) = State::kStopped;
    bool enabled_ KSANA_GUARDED_BY(mutex_) = true;  // the global switch
    Entries entries_ KSANA_GUARDED_BY(mutex_);
    // Removed entries, for later jobs; a timer or run of one may not be over yet.
    std::vector<std::unique_ptr<sdk::JobEntry>> removed_ KSANA_GUARDED_BY(mutex_);
    std::unordered_map<std::string, std::weak_ptr<const sdk::JobPolicy>> policies_
        KSANA_GUARDED_BY(mutex_);
    std::unique_ptr<lock::LockDriver> lock_driver_ KSANA_GUARDED_BY(mutex_);
    std::unique_ptr<lock::LockManager> locks_ KSANA_GUARDED_BY(mutex_);
    std::shared_ptr<sdk::StoredJobs> stored_ KSANA_GUARDED_BY(mutex_);  // null: no store
};

}  // namespace ksana::detail
