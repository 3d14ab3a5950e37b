#include "ksana/sdk/run/job_runner.hpp"

#include <algorithm>
#include <coroutine>
#include <exception>
#include <utility>

#include "ksana/base/error/check.hpp"
#include "ksana/base/log/log.hpp"

namespace ksana::sdk {
namespace {

std::int64_t Milliseconds(Duration duration) {
    return std::chrono::floor<std::chrono::milliseconds>(duration).count();
}
std::int64_t Milliseconds(TimePoint time) { return Milliseconds(time.time_since_epoch()); }

std::string_view TextOf(CancelReason reason) {
    switch (reason) {
        case CancelReason::kNone:
            return "";
        case CancelReason::kTimeout:
            return "timed out";
        case CancelReason::kShutdown:
            return "cancelled: the scheduler shut down";
        case CancelReason::kLockLost:
            return "cancelled: the lock was lost";
        case CancelReason::kUser:
            return "cancelled by a user";
    }
    return "";
}

// Whether the lock was last taken for a fire so far ahead that some clock must have been wrong.
bool IsFarAhead(std::optional<std::int64_t> last, std::optional<std::int64_t> stamp) {
    constexpr Duration kMost = std::chrono::hours(1);
    return last && stamp && *last > *stamp + kMost.count();
}

void SetResult(JobEntry& entry, JobResult result) {
    entry.last_result = static_cast<std::int8_t>(result);
}

}  // namespace

// The outermost coroutine of a run: awaits the job's task and finishes the run. It starts at once
// and destroys itself at its end.
struct JobRunner::Driver {
    struct promise_type {
        Driver get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

// Goes on on a thread of the scheduler.
struct HopAwaiter : WorkItem {
    explicit HopAwaiter(JobThreads& to)
        : WorkItem([](WorkItem& item) { static_cast<HopAwaiter&>(item).caller.resume(); }),
          threads(to) {}

    bool await_ready() const noexcept { return threads.IsCurrent(); }
    void await_suspend(std::coroutine_handle<> suspended) {
        caller = suspended;
        threads.Post(*this);
    }
    void await_resume() const noexcept {}

    JobThreads& threads;
    std::coroutine_handle<> caller;
};

// The job may have awaited something of its own, which resumed it on another thread. Finishing
// there could outlive the scheduler.
JobRunner::Driver JobRunner::Drive(JobRunner& runner, Execution& execution) {
    std::optional<Fault> fault;
    try {
        co_await execution.task;
    } catch (...) {
        fault = CurrentFault();
    }
    HopAwaiter hop(runner.threads());
    co_await hop;
    execution.task = {};
    runner.Finish(execution, fault ? &*fault : nullptr);
}

template <class Telling>
void JobRunner::Tell(const JobEntry& entry, Telling tell) {
    if (listener_ == nullptr) return;
    try {
        tell(*listener_);
    } catch (...) {
        Log(LogLevel::kError, "the listener threw",
            {{"jobId", entry.id}, {"error", CurrentFault().message}});
    }
}

std::atomic<Execution*>& JobRunner::SpareOfThread() {
    static std::atomic<std::size_t> threads_so_far{0};
    thread_local const std::size_t number = threads_so_far++;
    return spares_[number % spares_.size()].execution;
}

Execution& JobRunner::Take() {
    Execution* execution = SpareOfThread().exchange(nullptr);
    if (execution == nullptr) {
        const MutexLock lock(mutex_);
        if (free_.empty()) {
            execution = &all_.emplace_back(*this);
        } else {
            execution = free_.back();
            free_.pop_back();
        }
    }
    execution->taken = true;
    return *execution;
}

void JobRunner::StartPosted(WorkItem& item) {
    auto& execution = static_cast<Execution&>(item);
    execution.runner.Start(execution);
}

void JobRunner::Start(Execution& execution) {
    execution.references = 1;
    if (const CancelReason reason = cancels_; reason != CancelReason::kNone) {
        execution.Cancel(execution.number, reason);
    }
    execution.started = clock().SteadyNow();
    execution.entry->last_fire = Milliseconds(execution.fire);
    if (locks_ != nullptr && execution.entry->policy->spec.mode == ExecutionMode::kSingleNode) {
        if (!TakeLock(execution)) return;
    }
    if (LogEnabled(LogLevel::kInfo)) {
        Log(LogLevel::kInfo, "job.started",
            {{"jobId", execution.entry->id}, {"fireTime", Milliseconds(execution.fire)}});
    }
    Tell(*execution.entry, [&](JobExecutionListener& listener) {
        listener.OnStart(execution.entry->id, Milliseconds(execution.fire));
    });
    if (execution.timeout > Duration::zero()) ArmTimeout(execution);
    execution.context.emplace(execution);
    Call(execution);
}

// Takes the job's lock without waiting (N-11). If it does not get it, ends the run and returns
// false. The stamp keeps two processes whose clocks differ from running the same fire.
bool JobRunner::TakeLock(Execution& execution) {
    JobEntry& entry = *execution.entry;
    lock::LockOptions wanted;
    wanted.ttl = entry.policy->spec.lock_ttl;
    wanted.renew = options_.renew_locks;
    wanted.stamp = execution.stamp;
    if (NoticesLosses()) {
        wanted.on_lost = [&execution, run = execution.number.load()] {
            execution.Cancel(run, CancelReason::kLockLost);
        };
    }
    const std::string name = "job:" + entry.id;
    auto tried = locks_->TryLock(name, wanted);
    if (tried && !tried->lock && IsFarAhead(tried->last_stamp, wanted.stamp)) {
        tried = TryBehind(entry, name, std::move(wanted));
    }
    if (!tried) {
        const Fault fault{.type = {},
                          .message = "the lock could not be asked: " + tried.error().Describe(),
                          .stack = {}};
        Finish(execution, &fault);
        return false;
    }
    if (!tried->lock) {
        Skip(entry, execution.fire, 1, "lock");
        End(execution, {.kind = RunOutcome::Kind::kSkipped});
        return false;
    }
    execution.held = std::move(tried->lock);
    execution.fence = execution.held->fence();
    execution.has_fire = true;
    return true;
}

// The lock was last taken for a fire far ahead, by a process whose clock was wrong. Until that time
// has come, a second lock remembers the fires instead.
Result<lock::Tried> JobRunner::TryBehind(const JobEntry& entry, const std::string& name,
                                         lock::LockOptions wanted) {
    Log(LogLevel::kWarn,
        "the lock of a job was last taken for a fire that is more than an hour ahead; that is "
        "ignored, as some clock must have been wrong",
        {{"jobId", entry.id}});
    lock::LockOptions mark;
    mark.stamp = wanted.stamp;
    KSANA_TRY(lock::Tried marked, locks_->TryLock(name + ":behind", std::move(mark)));
    if (!marked.lock) return marked;
    KSANA_TRY_VOID(marked.lock->Release());
    wanted.stamp.reset();
    return locks_->TryLock(name, std::move(wanted));
}

void JobRunner::Skip(JobEntry& entry, TimePoint fire, std::int64_t count, std::string_view reason) {
    entry.skip_count.Add(count);
    entry.last_fire = Milliseconds(fire);
    SetResult(entry, JobResult::kSkipped);
    if (LogEnabled(LogLevel::kInfo)) {
        Log(LogLevel::kInfo, "job.skipped",
            {{"jobId", entry.id},
             {"fireTime", Milliseconds(fire)},
             {"reason", reason},
             {"count", count}});
    }
    Tell(entry,
         [&](JobExecutionListener& listener) { listener.OnSkipped(entry.id, Milliseconds(fire)); });
}

void JobRunner::Miss(JobEntry& entry, TimePoint first, std::int64_t count) {
    entry.miss_count.Add(count);
    Log(LogLevel::kWarn, "job.missed",
        {{"jobId", entry.id}, {"fireTime", Milliseconds(first)}, {"count", count}});
}

void JobRunner::ArmTimeout(Execution& execution) {
    execution.deadline = clock().Now() + execution.timeout;
    ++execution.references;
    threads().PostAt(execution.timeout_item, execution.started + execution.timeout);
}

void JobRunner::Call(Execution& execution) {
    const detail::JobObject& object = execution.entry->object;
    std::optional<Fault> fault;
    const ThrowStackScope stacks;
    try {
        if (object.plain) {
            object.plain->Run(*execution.context);
        } else {
            execution.task = object.coroutine->Run(*execution.context);
        }
    } catch (...) {
        fault = CurrentFault();
    }
    if (fault || object.plain) return Finish(execution, fault ? &*fault : nullptr);
    if (!execution.task.handle()) {
        fault = Fault{.type = {}, .message = "the job returned an empty Task", .stack = {}};
        return Finish(execution, &*fault);
    }
    Drive(*this, execution);
}

// The end of the job's own code, or of the try to start it. A run that was asked to stop has
// failed, however it ended: nothing tells whether it has done all of its work.
void JobRunner::Finish(Execution& execution, const Fault* fault) {
    JobEntry& entry = *execution.entry;
    // A process that was stopped may end a run before it is told that the lock was lost meanwhile.
    if (execution.held && NoticesLosses() && !execution.held->held()) {
        execution.Cancel(execution.number, CancelReason::kLockLost);
    }
    RunOutcome outcome{.kind = RunOutcome::Kind::kSucceeded};
    outcome.duration = std::chrono::floor<Duration>(clock().SteadyNow() - execution.started);
    outcome.cancelled = execution.reason;
    outcome.error = TextOf(outcome.cancelled);
    if (fault != nullptr) {
        outcome.error += (outcome.error.empty() ? "" : ": ") + fault->message;
        outcome.fault = *fault;
    }
    if (fault != nullptr || outcome.cancelled != CancelReason::kNone) {
        outcome.kind = RunOutcome::Kind::kFailed;
    }
    const std::int64_t fire = Milliseconds(execution.fire);
    const std::int64_t duration = Milliseconds(outcome.duration);
    entry.last_duration = duration;
    if (outcome.kind == RunOutcome::Kind::kFailed) {
        NoteError(entry, outcome.error);
        SetResult(entry, JobResult::kFailed);
        Log(LogLevel::kError, "job.failed",
            {{"jobId", entry.id},
             {"fireTime", fire},
             {"duration", duration},
             {"error", outcome.error}});
        Tell(entry, [&](JobExecutionListener& listener) {
            listener.OnFailure(entry.id, fire, duration, outcome.error);
        });
    } else {
        SetResult(entry, JobResult::kSuccess);
        if (LogEnabled(LogLevel::kInfo)) {
            Log(LogLevel::kInfo, "job.done",
                {{"jobId", entry.id}, {"fireTime", fire}, {"duration", duration}});
        }
        Tell(entry,
             [&](JobExecutionListener& listener) { listener.OnSuccess(entry.id, fire, duration); });
    }
    End(execution, std::move(outcome));
}

// Releases the lock, whatever happened, and hands the outcome to the owner.
void JobRunner::End(Execution& execution, RunOutcome outcome) {
    if (execution.held) {
        if (auto released = execution.held->Release();
            !released && released.error().code != Code::kLeaseLost) {
            Log(LogLevel::kWarn, "the lock of a job could not be released; it will expire",
                {{"jobId", execution.entry->id}, {"error", released.error().message}});
        }
        execution.held.reset();
    }
    if (execution.timeout > Duration::zero() && threads().Withdraw(execution.timeout_item)) {
        --execution.references;
    }
    execution.owner->Ended(execution, std::move(outcome));
    Drop(execution);
}

// Makes the object ready for another run, unless its timeout still runs; then that does it.
void JobRunner::Drop(Execution& execution) {
    if (--execution.references > 0) return;
    execution.context.reset();
    execution.logger.reset();
    execution.deadline.reset();
    execution.stamp.reset();
    execution.has_fire = false;
    execution.fence = 0;
    execution.attempt_at_task.reset();
    execution.answer = {};
    if (!execution.parameters.empty()) execution.parameters.clear();
    {
        // Cancel compares the number under this lock.
        const MutexLock lock(execution.mutex);
        ++execution.number;
        execution.reason = CancelReason::kNone;
    }
    execution.taken = false;
    Execution* none = nullptr;
    if (!SpareOfThread().compare_exchange_strong(none, &execution)) {
        const MutexLock lock(mutex_);
        free_.push_back(&execution);
    }
    if (awaited_) idle_.Notify();
}

void JobRunner::NoteError(const JobEntry& entry, const std::string& error) {
    const MutexLock lock(mutex_);
    errors_[&entry] = error;
}

std::string JobRunner::LastError(const JobEntry& entry) const {
    if (entry.last_result != static_cast<std::int8_t>(JobResult::kFailed)) return {};
    const MutexLock lock(mutex_);
    const auto found = errors_.find(&entry);
    return found == errors_.end() ? std::string() : found->second;
}

void JobRunner::Forget(const JobEntry& entry) {
    const MutexLock lock(mutex_);
    errors_.erase(&entry);
}

bool JobRunner::AwaitIdle(SteadyPoint deadline) {
    awaited_ = true;
    if (threads().size() == 0) {  // the test kit: nothing else runs them
        threads().RunReady();
        return IsIdle();
    }
    while (!IsIdle()) {
        if (clock().Wait(idle_, deadline, {}) == WaitOutcome::kDeadline) return IsIdle();
    }
    return true;
}

bool JobRunner::IsIdle() const {
    const MutexLock lock(mutex_);
    return std::ranges::none_of(all_, [](const Execution& one) { return one.taken.load(); });
}

void JobRunner::CancelAll(CancelReason reason) {
    cancels_ = reason;
    std::vector<std::pair<Execution*, std::uint64_t>> runs;
    {
        const MutexLock lock(mutex_);
        for (Execution& execution : all_) runs.emplace_back(&execution, execution.number.load());
    }
    for (const auto& [execution, number] : runs) {
        if (execution->references > 0) execution->Cancel(number, reason);
    }
}

std::vector<std::string> JobRunner::Running() const {
    std::vector<std::string> ids;
    const MutexLock lock(mutex_);
    for (const Execution& execution : all_) {
        if (execution.references > 0) ids.push_back(execution.entry->id);
    }
    return ids;
}

JobThreads& JobRunner::Blocking() {
    if (options_.blocking.size() == 0) return threads();
    if (!blocking_started_.exchange(true)) {
        if (auto started = options_.blocking.Start(); !started) {
            Log(LogLevel::kError, "threads for blocking calls cannot be started",
                {{"error", started.error().message}});
            blocking_started_ = false;
            return threads();
        }
    }
    return options_.blocking;
}

}  // namespace ksana::sdk
