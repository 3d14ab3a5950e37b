#include "ksana/sdk/run/execution.hpp"

#include <algorithm>

#include "ksana/sdk/run/job_runner.hpp"

namespace ksana::detail {

Execution::Execution(sdk::JobRunner& job_runner)
    : WorkItem(&sdk::JobRunner::StartPosted), runner(job_runner) {}

Execution::Timeout::Timeout(Execution& run_of)
    : WorkItem([](WorkItem& item) {
          Execution& of = static_cast<Timeout&>(item).execution;
          of.Cancel(of.number, sdk::CancelReason::kTimeout);
          of.runner.Drop(of);
      }),
      execution(run_of) {}

void Execution::Cancel(std::uint64_t of_run, sdk::CancelReason why) {
    const MutexLock lock(mutex);
    if (number != of_run || cancelled()) return;
    reason = why;
    if (sleeping != nullptr) runner.threads().RunEarly(*sleeping);
    thread_sleep.Notify();
}

SleepAwaiter::SleepAwaiter(Execution& execution, Duration time)
    : WorkItem(&SleepAwaiter::Resume), execution_(execution), time_(time) {}

bool SleepAwaiter::await_ready() const noexcept { return false; }

// Under the lock of the execution, so that a cancellation finds the sleeper in the timers or not at
// all. After the unlock another thread may have destroyed this object.
bool SleepAwaiter::await_suspend(std::coroutine_handle<> caller) {
    const MutexLock lock(execution_.mutex);
    if (execution_.cancelled()) return false;
    caller_ = caller;
    execution_.sleeping = this;
    sdk::JobRunner& runner = execution_.runner;
    const Duration time = std::max(time_, Duration::zero());
    runner.threads().PostAt(*this, runner.clock().SteadyNow() + time);
    return true;
}

void SleepAwaiter::Resume(WorkItem& item) {
    auto& sleep = static_cast<SleepAwaiter&>(item);
    {
        const MutexLock lock(sleep.execution_.mutex);
        sleep.execution_.sleeping = nullptr;
    }
    sleep.caller_.resume();
}

BlockingCall::BlockingCall(Execution& execution)
    : WorkItem(&BlockingCall::RunCall), execution_(execution) {}

void BlockingCall::Suspend(std::coroutine_handle<> caller) {
    caller_ = caller;
    execution_.runner.Blocking().Post(*this);
}

void BlockingCall::RunCall(WorkItem& item) {
    auto& call = static_cast<BlockingCall&>(item);
    call.Call();
    call.execution_.runner.threads().Post(call.resumption_);
}

void BlockingCall::Resume(WorkItem& item) { static_cast<Resumption&>(item).call.caller_.resume(); }

}  // namespace ksana::detail

namespace ksana {

const std::string& JobContext::job_id() const { return execution_.entry->id; }

Context& JobContext::context() const { return execution_.runner.context(); }

std::int64_t JobContext::fire_time() const {
    using std::chrono::milliseconds;
    return std::chrono::floor<milliseconds>(execution_.fire).time_since_epoch().count();
}

const Logger& JobContext::logger() const {
    const MutexLock lock(execution_.mutex);
    if (!execution_.logger) execution_.logger.emplace("ksana.jobs." + job_id());
    return *execution_.logger;
}

const Parameters& JobContext::parameters() const { return execution_.parameters; }

int JobContext::attempt() const { return execution_.attempt; }

const std::string& JobContext::traceparent() const { return execution_.trace_parent; }
std::int64_t JobContext::fence() const { return execution_.fence; }

bool JobContext::cancelled() const { return execution_.cancelled(); }

std::optional<TimePoint> JobContext::deadline() const { return execution_.deadline; }

// Without threads, in the test kit, nothing would end the wait.
bool JobContext::SleepOnThread(Duration time) {
    if (execution_.runner.threads().size() == 0) return !cancelled();
    const SteadyPoint until = execution_.runner.clock().SteadyNow() + time;
    while (!cancelled()) {
        const auto outcome = execution_.runner.clock().Wait(execution_.thread_sleep, until, {});
        if (outcome == WaitOutcome::kDeadline) return !cancelled();
    }
    return false;
}

}  // namespace ksana
