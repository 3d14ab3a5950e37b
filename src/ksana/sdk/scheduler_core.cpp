#include "ksana/sdk/scheduler_core.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/sdk/job_check.hpp"

namespace ksana::detail {
namespace {

constexpr Duration kClockLook = std::chrono::seconds(1);
// Threads for functions that block (JobContext::Blocking).
constexpr std::size_t kBlockingThreads = 16;
// How long runs that were cancelled are waited for.
constexpr Duration kStopPatience = std::chrono::seconds(5);

std::size_t ThreadsOf(const SchedulerOptions& options) {
    if (options.threads == kNoThreads) return 0;
    if (options.threads > 0) return static_cast<std::size_t>(options.threads);
    return std::max(2U, std::thread::hardware_concurrency());
}

std::optional<std::int64_t> Given(std::int64_t value) {
    return value == sdk::kNoTime ? std::nullopt : std::optional(value);
}

Error NoSuchJob(std::string_view id) {
    return {Code::kNotFound, fmt::format("there is no job \"{}\"", Printable(id))};
}

}  // namespace

SchedulerCore::SchedulerCore(Context& context, SchedulerOptions options)
    : context_(context),
      options_(std::move(options)),
      clock_(options_.clock != nullptr ? *options_.clock : system_clock_),
      threads_(clock_, "ksana-jobs", ThreadsOf(options_)),
      blocking_(clock_, "ksana-blocking", options_.threads == kNoThreads ? 0 : kBlockingThreads),
      runner_({.clock = clock_,
               .context = context_,
               .renew_locks = options_.renew_locks,
               .threads = threads_,
               .blocking = blocking_}),
      timer_(runner_) {}

SchedulerCore::~SchedulerCore() = default;

Result<void> SchedulerCore::Start() {
    const MutexLock life(life_);
    {
        const MutexLock lock(mutex_);
        if (state_ == State::kRunning) return {};
        if (state_ == State::kStopping) {
            return Error(Code::kConflict, "runs from before the shutdown have not ended");
        }
    }
    auto started = Prepare();
    if (started) started = Run();
    if (!started) Close();
    return started;
}

Result<void> SchedulerCore::Run() {
    timer_.Open();
    runner_.Resume();
    KSANA_TRY_VOID(threads_.Start());
    if (!options_.store.empty() || !options_.http.empty()) {
        KSANA_TRY(auto opened, sdk::StoredJobs::Open({.store = options_.store,
                                                      .http = options_.http,
                                                      .http_token_file = options_.http_token_file,
                                                      .clock = clock_,
                                                      .random = random_,
                                                      .runner = runner_,
                                                      .handlers = handlers_,
                                                      .admin = admin_}));
        const MutexLock lock(mutex_);
        stored_ = std::move(opened);
    }
    {
        const MutexLock lock(mutex_);
        for (const auto& [id, entry] : entries_) {
            if (auto begun = Begin(*entry); !begun) {
                return std::move(begun).error().WithContext(id);
            }
        }
        state_ = State::kRunning;
    }
    if (const auto jobs = stored()) KSANA_TRY_VOID(jobs->Start());
    if (options_.threads != kNoThreads) {
        threads_.PostAt(clock_item_, clock_.SteadyNow() + kClockLook);
    }
    return {};
}

std::shared_ptr<sdk::StoredJobs> SchedulerCore::stored() const {
    const MutexLock lock(mutex_);
    return stored_;
}

void SchedulerCore::Disarm() {
    const MutexLock lock(mutex_);
    state_ = State::kStopping;
    for (const auto& [id, entry] : entries_) timer_.Disarm(*entry);
}

// Stops all parts. The threads are waited for without mutex_: what they run may want it.
void SchedulerCore::Close() {
    timer_.Close();
    Disarm();
    if (const auto jobs = stored()) jobs->Stop(Duration::zero());
    threads_.Stop();
    blocking_.Stop();
    threads_.Withdraw(clock_item_);
    const MutexLock lock(mutex_);
    stored_.reset();
    locks_.reset();
    lock_driver_.reset();
    runner_.Use(nullptr, nullptr);
    state_ = State::kStopped;
}

bool SchedulerCore::Shutdown(Duration timeout) {
    const MutexLock life(life_);
    Duration patience = kStopPatience;
    {
        const MutexLock lock(mutex_);
        if (state_ == State::kStopped) return true;
        if (state_ == State::kStopping) timeout = patience = {};  // waited for before
    }
    const SteadyPoint deadline = clock_.SteadyNow() + timeout;
    timer_.Close();
    Disarm();
    if (const auto jobs = stored()) jobs->Stop(timeout);
    bool idle = runner_.AwaitIdle(deadline);
    if (!idle) {
        runner_.CancelAll(sdk::CancelReason::kShutdown);
        idle = runner_.AwaitIdle(clock_.SteadyNow() + patience);
    }
    if (!idle) {
        for (const std::string& id : runner_.Running()) {
            Log(LogLevel::kError, "job.not_stopping", {{"jobId", id}});
        }
        return false;
    }
    Close();
    Log(LogLevel::kInfo, "the scheduler has shut down");
    return true;
}

// Jobs that every process runs stay out of a store that several processes share: it has one entry
// for each fire.
bool SchedulerCore::IsStored(const sdk::JobEntry& entry) const {
    return stored_ && (entry.policy->spec.mode == ExecutionMode::kSingleNode || !stored_->shared());
}

Result<void> SchedulerCore::Begin(sdk::JobEntry& entry) {
    if (IsStored(entry)) return stored_->Put(entry, enabled_);
    if (enabled_ && entry.enabled) timer_.Arm(entry);
    return {};
}

sdk::JobEntry* SchedulerCore::Find(std::string_view id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : found->second.get();
}

sdk::JobEntry& SchedulerCore::NewEntry(std::string id) {
    const auto free =
        std::ranges::find_if(removed_, [](const auto& entry) { return entry->Occupy(); });
    std::unique_ptr<sdk::JobEntry> entry;
    if (free == removed_.end()) {
        entry = std::make_unique<sdk::JobEntry>(&sdk::JobTimer::Fire, &timer_, std::move(id));
        entry->Occupy();
    } else {
        entry = std::move(*free);
        removed_.erase(free);
        threads_.Withdraw(*entry);
        entry->Reset(std::move(id));
    }
    sdk::JobEntry& made = *entry;
    entries_.emplace(made.id, std::move(entry));
    return made;
}

Result<void> SchedulerCore::AddEntry(JobSpec spec, JobObject object, bool declared) {
    if (Find(spec.id) != nullptr) {
        return Error(Code::kAlreadyExists,
                     fmt::format("there is a job \"{}\" already", Printable(spec.id)));
    }
    KSANA_TRY_VOID(sdk::CheckJob(spec));
    sdk::JobEntry& entry = NewEntry(spec.id);
    if (auto applied = Apply(std::move(spec), entry); !applied) {
        entry.Free();
        Discard(entries_.find(entry.id));
        return applied;
    }
    entry.object = std::move(object);
    entry.declared = declared;
    entry.Free();
    return {};
}

Result<void> SchedulerCore::Add(JobSpec spec, JobObject object) {
    const MutexLock lock(mutex_);
    const std::string id = spec.id;
    const bool single = spec.mode == ExecutionMode::kSingleNode;
    if (state_ == State::kRunning && single && !locks_ && !stored_) {
        return Error(std::vector<Problem>{
            {.path = "/mode", .message = "a job for a single node needs a lock or a store"}});
    }
    KSANA_TRY_VOID(AddEntry(std::move(spec), std::move(object), false));
    if (state_ != State::kRunning) return {};
    auto begun = Begin(*Find(id));
    if (!begun) Discard(entries_.find(id));
    return begun;
}

// Takes a job out of the table. Its object stays, as its timer or its run may not be over.
void SchedulerCore::Discard(Entries::iterator found) {
    sdk::JobEntry& entry = *found->second;
    entry.flags.fetch_or(sdk::JobEntry::kRemoved);
    timer_.Disarm(entry);
    timer_.Forget(entry);
    runner_.Forget(entry);
    auto removed = std::move(found->second);
    entries_.erase(found);
    removed_.push_back(std::move(removed));
}

Result<void> SchedulerCore::AddHandler(std::string type, TaskHandler handler) {
    const MutexLock lock(mutex_);
    if (state_ != State::kStopped) {
        return Error(Code::kConflict, "handlers are registered before Start");
    }
    return handlers_.Add(std::move(type), std::move(handler));
}

Result<void> SchedulerCore::Remove(std::string_view id) {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(id);
    if (found == entries_.end()) return NoSuchJob(id);
    sdk::JobEntry& entry = *found->second;
    if (entry.declared) {
        return Error(Code::kConflict, fmt::format("\"{}\" is declared with KSANA_JOB: it can be "
                                                  "disabled, not removed",
                                                  Printable(id)));
    }
    if (IsStored(entry)) KSANA_TRY_VOID(stored_->Remove(entry));
    Discard(found);
    return {};
}

engine::Actor SchedulerCore::Program() { return {.user = std::string(sdk::kLibrary)}; }

Result<void> SchedulerCore::Trigger(std::string_view id, Parameters parameters,
                                    const engine::Actor& by) {
    MutexLock lock(mutex_);
    sdk::JobEntry* const entry = Find(id);
    if (entry == nullptr) return NoSuchJob(id);
    if (state_ != State::kRunning) {
        return Error(Code::kUnavailable, "the scheduler is not running");
    }
    const TimePoint now = clock_.Now();
    if (IsStored(*entry)) {
        // Without the lock: the store may be slow, and Snapshot must not wait for it. A run of
        // another process is seen when the run is claimed.
        const std::shared_ptr<sdk::StoredJobs> jobs = stored_;
        const bool running = entry->Has(sdk::JobEntry::kBusy);
        lock.Unlock();
        if (!running) return jobs->Trigger(std::string(id), parameters, by);
        runner_.Skip(*entry, now, 1, "running");
        return {};
    }
    if (timer_.TryTrigger(*entry, std::move(parameters))) return {};
    lock.Unlock();  // the listener may call the scheduler
    runner_.Skip(*entry, now, 1, "running");
    return {};
}

Result<void> SchedulerCore::SetEnabled(std::string_view id, bool enabled, const engine::Actor& by) {
    MutexLock lock(mutex_);
    sdk::JobEntry* entry = Find(id);
    if (entry == nullptr) return NoSuchJob(id);
    if (state_ == State::kRunning && IsStored(*entry)) {
        const std::shared_ptr<sdk::StoredJobs> jobs = stored_;
        const bool fires = enabled && enabled_;
        lock.Unlock();
        KSANA_TRY(const auto next, jobs->SetEnabled(std::string(id), fires, by));
        lock.Lock();
        entry = Find(id);
        if (entry == nullptr) return {};  // removed meanwhile
        entry->enabled = enabled;
        entry->nominal = next ? next->time_since_epoch().count() : sdk::kNoTime;
        return {};
    }
    const bool before = entry->enabled.exchange(enabled);
    if (before == enabled || state_ != State::kRunning) return {};
    if (!enabled) timer_.Disarm(*entry);
    if (enabled && enabled_) timer_.Arm(*entry);
    return {};
}

JobStatus SchedulerCore::StatusOf(const sdk::JobEntry& entry) const {
    const JobSpec& spec = entry.policy->spec;
    JobStatus status;
    status.id = entry.id;
    status.enabled = entry.enabled;
    status.schedule = {.cron = spec.cron,
                       .fixed_rate = entry.fixed_rate,
                       .initial_delay = entry.initial_delay,
                       .zone = spec.zone};
    status.mode = spec.mode;
    status.last_fire_time = Given(entry.last_fire);
    status.last_duration = Given(entry.last_duration);
    if (entry.last_result >= 0) {
        status.last_result = static_cast<JobResult>(std::int8_t{entry.last_result});
    }
    // The library's dialect looks 370 days ahead (N-08); the timer does not forget what is later.
    const std::int64_t horizon = (clock_.Now() + std::chrono::days(schedule::kLibraryHorizonDays))
                                     .time_since_epoch()
                                     .count();
    const bool all = spec.cron.empty() || spec.dialect == CronDialect::kStandard;
    const auto next = Given(entry.nominal);
    if (next && entry.enabled && (all || *next <= horizon)) status.next_fire_time = *next / 1000;
    status.run_count = entry.run_count;
    status.fail_count = entry.fail_count;
    status.group = spec.group;
    status.running = entry.Has(sdk::JobEntry::kBusy);
    status.last_error = runner_.LastError(entry);
    status.skip_count = entry.skip_count;
    status.miss_count = entry.miss_count;
    return status;
}

std::vector<JobStatus> SchedulerCore::Snapshot() const {
    std::vector<JobStatus> all;
    {
        const MutexLock lock(mutex_);
        all.reserve(entries_.size());
        for (const auto& [id, entry] : entries_) all.push_back(StatusOf(*entry));
    }
    std::ranges::sort(all, {}, &JobStatus::id);
    return all;
}

std::uint16_t SchedulerCore::http_port() const {
    const MutexLock lock(mutex_);
    return stored_ ? stored_->http_port() : std::uint16_t{0};
}

bool SchedulerCore::LookAtClock() {
    const MutexLock lock(mutex_);
    if (state_ != State::kRunning) return false;
    const auto jump = timer_.TakeJump();
    if (!jump) return true;
    for (const auto& [id, entry] : entries_) {
        if (!IsStored(*entry)) timer_.AfterJump(*entry, *jump);
    }
    return true;
}

void SchedulerCore::WatchClock(WorkItem& item) {
    SchedulerCore& core = static_cast<ClockItem&>(item).core;
    if (!core.LookAtClock()) return;
    core.threads_.PostAt(item, core.clock_.SteadyNow() + kClockLook);
}

}  // namespace ksana::detail
