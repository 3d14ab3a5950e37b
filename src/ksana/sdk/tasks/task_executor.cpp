#include "ksana/sdk/tasks/task_executor.hpp"

#include <fmt/core.h>

#include <utility>

#include "ksana/codec/json/json_text.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/model/validate.hpp"

namespace ksana::sdk {
namespace {

using model::Event;
using model::EventKind;

Event Failure(EventKind kind, std::string error) {
    Event event;
    event.kind = kind;
    event.error = std::move(error);
    return event;
}

// A result that no store keeps is a failure that another attempt would repeat.
Event Succeeded(Event answer) {
    if (answer.result.size() > model::kMaxBodyLength) {
        return Failure(EventKind::kPermanentFailure,
                       fmt::format("the handler returned {} bytes; at most {} are kept",
                                   answer.result.size(), model::kMaxBodyLength));
    }
    if (!answer.result.empty() && !codec::IsJson(answer.result)) {
        return Failure(EventKind::kPermanentFailure, "the handler returned a text that is no JSON");
    }
    return answer;
}

Event EventOf(Event answer, RunOutcome outcome) {
    if (outcome.fault) {
        const Fault& fault = *outcome.fault;
        answer.error = fault.type.empty() ? fault.message : fault.type + ": " + fault.message;
        answer.detail = fault.ToDetail();
    }
    // A handler that finished its work although it was asked to stop has finished it.
    if (answer.kind == EventKind::kSuccess) return Succeeded(std::move(answer));
    if (outcome.cancelled != CancelReason::kNone && answer.kind == EventKind::kRetryableFailure) {
        answer.kind = EventKind::kCancelled;  // whoever asked knows why
    }
    return answer;
}

}  // namespace

void TaskExecutor::Start(std::shared_ptr<const engine::ActiveAttempt> attempt, Done done) {
    const model::Run& run = attempt->run;
    JobEntry* const entry = handlers_.Find(run.type);
    if (entry == nullptr) {
        return done(Failure(EventKind::kRetryableFailure,
                            "this program has no handler \"" + run.type + "\""));
    }
    Execution& execution = runner_.Take();
    execution.entry = entry;
    execution.owner = this;
    execution.fire = run.nominal_at.value_or(run.created_at);
    execution.scheduled = run.nominal_at.has_value();
    execution.attempt = run.status.attempt;
    execution.timeout = {};  // the caller cancels it
    execution.deadline = run.status.deadline;
    execution.fence = run.status.fence;
    execution.trace_parent = model::TraceParentOf(run);
    execution.exec_id = run.status.exec_id;
    {
        const MutexLock lock(mutex_);
        active_[run.status.exec_id] = {std::move(done), &execution, execution.number};
    }
    execution.attempt_at_task = std::move(attempt);
    runner_.Post(execution);
}

void TaskExecutor::Cancel(std::string_view exec_id) {
    Execution* execution = nullptr;
    std::uint64_t number = 0;
    {
        const MutexLock lock(mutex_);
        const auto found = active_.find(exec_id);
        if (found == active_.end()) return;
        execution = found->second.execution;
        number = found->second.run;
    }
    execution->Cancel(number, CancelReason::kUser);
}

void TaskExecutor::Ended(Execution& execution, RunOutcome outcome) {
    Active ended;
    {
        const MutexLock lock(mutex_);
        ended = std::move(active_.extract(execution.exec_id).mapped());
    }
    ended.done(EventOf(std::move(execution.answer), std::move(outcome)));
}

}  // namespace ksana::sdk
