#include "ksana/sdk/stored/handler_executor.hpp"

#include <utility>

#include "ksana/codec/json/json_tree.hpp"
#include "ksana/model/run/retry.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/sdk/timer/job_timer.hpp"

namespace ksana::sdk {
namespace {

constexpr std::size_t kMostNamed = 100;

// The payload of a run as parameters: the members of an object, each as text.
Parameters ParametersOf(const std::string& payload) {
    Parameters parameters;
    if (payload.empty()) return parameters;
    const auto json = codec::Json::Parse(payload);
    if (!json) return parameters;
    for (const auto& [name, value] : json->Members()) parameters[name] = value.Text();
    return parameters;
}

model::Event Skipped(model::SkipReason reason) {
    model::Event event;
    event.kind = model::EventKind::kSkip;
    event.reason = reason;
    return event;
}

model::Event EventOf(const RunOutcome& outcome) {
    model::Event event;
    if (outcome.kind == RunOutcome::Kind::kSkipped) return Skipped(model::SkipReason::kLock);
    event.kind = model::EventKind::kSuccess;
    if (outcome.kind == RunOutcome::Kind::kFailed) {
        event.kind = model::EventKind::kRetryableFailure;
        event.error = outcome.error;
        if (outcome.fault) event.detail = outcome.fault->ToDetail();
    }
    // The dispatcher knows why it asked the attempt to stop. A lost lock is no wish of its.
    const bool stopped =
        outcome.cancelled != CancelReason::kNone && outcome.cancelled != CancelReason::kLockLost;
    if (stopped) event.kind = model::EventKind::kCancelled;
    return event;
}

}  // namespace

void HandlerExecutor::Add(JobEntry& entry) {
    const MutexLock lock(mutex_);
    entries_[entry.id] = &entry;
}

void HandlerExecutor::Remove(const JobEntry& entry) {
    const MutexLock lock(mutex_);
    entries_.erase(entry.id);
}

JobEntry* HandlerExecutor::Find(const std::string& handler) const {
    const MutexLock lock(mutex_);
    const auto found = entries_.find(handler);
    return found == entries_.end() ? nullptr : found->second;
}

bool HandlerExecutor::Knows(const std::string& handler) const {
    return Find(handler) != nullptr || tasks_.Serves(handler);
}

std::vector<std::string> HandlerExecutor::types() const {
    std::vector<std::string> names = tasks_.types();
    const MutexLock lock(mutex_);
    // Very many names would make every claim slow.
    if (!shared_ && entries_.size() > kMostNamed) return {};
    for (const auto& [name, entry] : entries_) names.push_back(name);
    // No names would mean any: handlers that this program lacks are left to workers.
    if (names.empty()) names.emplace_back();
    return names;
}

void HandlerExecutor::Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) {
    const model::Run& run = attempt->run;
    const std::string& exec_id = run.status.exec_id;
    JobEntry* const entry = Find(run.type);
    if (entry == nullptr && tasks_.Serves(run.type)) {
        return tasks_.Start(std::move(attempt), std::move(done));
    }
    if (entry == nullptr) {
        model::Event unknown;
        unknown.kind = model::EventKind::kPermanentFailure;
        unknown.error = "this program has no job \"" + run.type + "\"";
        return done(std::move(unknown));
    }
    // Busy: an attempt that the engine has given up still runs here.
    if (!entry->Occupy()) return done(Skipped(model::SkipReason::kOverlap));
    Execution* const execution = &runner_.Take();
    execution->entry = entry;
    {
        const MutexLock lock(mutex_);
        active_[exec_id] = {attempt, std::move(done), execution, execution->number,
                            runner_.clock().SteadyNow()};
    }
    execution->owner = this;
    execution->fire = run.nominal_at.value_or(run.created_at);
    execution->scheduled = run.nominal_at.has_value();
    execution->attempt = run.status.attempt;
    execution->timeout = {};  // the dispatcher cancels it
    if (run.policy.timeout < kNoTimeout) execution->deadline = run.status.deadline;
    execution->fence = run.status.fence;
    execution->trace_parent = model::TraceParentOf(run);
    execution->parameters = ParametersOf(run.payload);
    execution->exec_id = exec_id;
    runner_.Post(*execution);
}

void HandlerExecutor::Cancel(std::string_view exec_id) {
    Execution* execution = nullptr;
    std::uint64_t number = 0;
    Duration timeout{};
    SteadyPoint began{};
    {
        const MutexLock lock(mutex_);
        const auto found = active_.find(exec_id);
        if (found == active_.end()) return tasks_.Cancel(exec_id);
        execution = found->second.execution;
        number = found->second.run;
        timeout = found->second.attempt->run.policy.timeout;
        began = found->second.began;
    }
    const bool timed_out = runner_.clock().SteadyNow() - began >= timeout;
    execution->Cancel(number, timed_out ? CancelReason::kTimeout : CancelReason::kUser);
}

void HandlerExecutor::Ended(Execution& execution, RunOutcome outcome) {
    JobEntry& entry = *execution.entry;
    Active ended;
    {
        const MutexLock lock(mutex_);
        ended = std::move(active_.extract(execution.exec_id).mapped());
    }
    const model::Run& run = ended.attempt->run;
    const bool failed = outcome.kind == RunOutcome::Kind::kFailed;
    const bool again =
        failed && model::RetryDelay(run.policy.retry, run.status.failures + 1, {}, "").has_value();
    if (outcome.kind != RunOutcome::Kind::kSkipped && !again) entry.run_count.Add(1);
    if (failed && !again) entry.fail_count.Add(1);
    const TimePoint now = runner_.clock().Now();
    std::int64_t skipped = 0;
    if (execution.scheduled && entry.nominal != kNoTime) {
        skipped = CountFires(entry, execution.fire, now);
        const auto next = NextFire(entry, execution.fire, now);
        entry.nominal = next ? next->time_since_epoch().count() : kNoTime;
    }
    // The engine has recorded them.
    if (skipped > 0) {
        const auto first = NextFire(entry, execution.fire, execution.fire);
        runner_.Skip(entry, first.value_or(now), skipped, "running");
    }
    entry.Free();
    ended.done(EventOf(outcome));
}

}  // namespace ksana::sdk
