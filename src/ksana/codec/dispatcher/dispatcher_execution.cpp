#include "ksana/codec/dispatcher/dispatcher_execution.hpp"

#include <fmt/core.h>

#include <boost/json/object.hpp>
#include <charconv>

#include "ksana/codec/json/json_parse.hpp"
#include "ksana/model/run/decide.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/model/vocabulary.hpp"

namespace ksana::codec {

using model::Attempt;
using model::AttemptOutcome;
using model::Run;
using model::RunState;

namespace {

bool CountsAsFailure(const std::optional<AttemptOutcome>& outcome) {
    return outcome == AttemptOutcome::kFailed || outcome == AttemptOutcome::kTimedOut ||
           outcome == AttemptOutcome::kLost;
}

std::string_view ExecutionWord(RunState state) {
    return model::WordFor(model::Dialect::kDispatcher, state, 0).value_or("");
}

// A run that must wait for another one has not been handed out, whatever its state; nor has one of
// which it is not yet known whether it must.
std::string_view ExecutionWord(const Run& run, ReadyRun ready) {
    const model::RunStatus& status = run.status;
    const bool unasked = run.policy.depends && !status.wait_until;
    const bool unpublished = ready == ReadyRun::kToBePublished;
    const bool kept =
        status.state == RunState::kQueued && (status.blocked || unasked || unpublished);
    // Claimed for the message broker: handed out as soon as the broker has confirmed it.
    if (model::IsWithBroker(status)) {
        return ExecutionWord(status.detail.empty() ? RunState::kScheduled : RunState::kQueued);
    }
    return ExecutionWord(kept ? RunState::kScheduled : status.state);
}

bool Waits(const Run& run) {
    return run.status.state == RunState::kScheduled || run.status.state == RunState::kQueued ||
           model::IsWithBroker(run.status);
}

// Returns whether the last failure of the run was its end. A held run has failed for good unless a
// person sends it back, which makes a new execution.
bool EndsWithFailure(RunState state) {
    return state == RunState::kFailed || state == RunState::kTimedOut || state == RunState::kHeld ||
           state == RunState::kResolved;
}

// Returns the id of the worker in "ID/INCARNATION".
std::string_view WorkerOf(std::string_view owner) {
    const auto slash = owner.rfind('/');
    const bool has = slash != std::string_view::npos && Uuid::Parse(owner.substr(slash + 1));
    return has ? owner.substr(0, slash) : owner;
}

void PrintableOrNull(JsonOutput& output, std::string_view key, std::string_view text) {
    output.Key(key);
    if (text.empty()) {
        output.Null();
    } else {
        output.PrintableText(text);
    }
}

std::string ExecutionError(const Run& run, const DispatcherExecution& execution) {
    if (execution.attempt != nullptr && !execution.attempt->error.empty()) {
        return execution.attempt->error;
    }
    if (!execution.current || run.status.state != RunState::kSkipped) return "";
    if (!run.status.last_error.empty()) return run.status.last_error;
    return fmt::format("skipped: {}", model::NameOf(run.status.skip_reason));
}

std::optional<TimePoint> EndOf(const Run& run, const DispatcherExecution& execution) {
    if (execution.attempt != nullptr) return execution.attempt->ended_at;
    return execution.current ? run.status.finished_at : std::nullopt;
}

void WriteTimes(const ValueWriter& writer, const Run& run, const DispatcherExecution& execution) {
    std::optional<TimePoint> start;
    std::optional<std::int64_t> duration;
    if (execution.attempt != nullptr) {
        start = execution.attempt->started_at;
        if (execution.attempt->ended_at) {
            const Duration took = std::max(*execution.attempt->ended_at - *start, Duration::zero());
            duration = std::chrono::floor<std::chrono::milliseconds>(took).count();
        }
    }
    const bool waits = execution.current && Waits(run);
    writer.Member("scheduled_time", run.nominal_at.value_or(run.created_at));
    ValueOrNull(writer, "next_run_time", waits ? std::optional(run.status.ready_at) : std::nullopt);
    ValueOrNull(writer, "start_time", start);
    ValueOrNull(writer, "end_time", EndOf(run, execution));
    ValueOrNull(writer, "duration_ms", duration);
}

void WriteResult(const ValueWriter& writer, const Run& run, const DispatcherExecution& execution,
                 DispatcherView view) {
    const bool has = execution.current && execution.attempt != nullptr &&
                     execution.attempt->outcome == AttemptOutcome::kSucceeded &&
                     !run.status.result.empty();
    const bool left_out =
        has && view == DispatcherView::kListed && run.status.result.size() > kMaxListedJson;
    writer.output().Key("result");
    if (has && !left_out) {
        writer.WriteJsonText(run.status.result);
    } else {
        writer.output().Null();
    }
    if (left_out) writer.Member("result_omitted", true);
}

// Writes the parts of {"log": ["line"], "error": {"stack": "…"}, …}, which an agent's reports make.
void WriteDetail(const ValueWriter& writer, const Attempt* attempt) {
    JsonOutput& output = writer.output();
    boost::json::object detail;
    if (attempt != nullptr && !attempt->detail.empty()) {
        auto value = ParseJson(attempt->detail, LimitsOfStoredJson(attempt->detail));
        if (value && value->is_object()) detail = std::move(value->get_object());
    }
    const auto* const error = detail.if_contains("error");
    const auto* const stack =
        error != nullptr && error->is_object() ? error->get_object().if_contains("stack") : nullptr;
    output.Key("stack_trace");
    if (stack != nullptr) {
        WriteValue(output, *stack);
    } else {
        output.Null();
    }
    const auto* const log = detail.if_contains("log");
    output.Key("log");
    WriteValue(output, log != nullptr ? *log : boost::json::value(boost::json::array()));
    detail.erase("log");
    output.Key("detail");
    if (detail.empty()) {
        output.Null();
    } else {
        WriteValue(output, detail);
    }
}

}  // namespace

std::vector<DispatcherExecution> ExecutionsOf(const Run& run, std::span<const Attempt> attempts,
                                              ReadyRun ready) {
    std::vector<DispatcherExecution> executions;
    const Attempt* open = nullptr;  // the last attempt since the last failure
    for (const Attempt& attempt : attempts) {
        open = &attempt;
        if (!CountsAsFailure(attempt.outcome)) continue;
        const bool timed_out = attempt.outcome == AttemptOutcome::kTimedOut;
        executions.push_back(
            {.retry_count = static_cast<std::int32_t>(executions.size()),
             .status = ExecutionWord(timed_out ? RunState::kTimedOut : RunState::kFailed),
             .attempt = &attempt});
        open = nullptr;
    }
    const bool over = open == nullptr && !executions.empty() && EndsWithFailure(run.status.state);
    if (!over) {
        executions.push_back({.retry_count = static_cast<std::int32_t>(executions.size()),
                              .status = ExecutionWord(run, ready),
                              .attempt = Waits(run) ? nullptr : open});
    }
    executions.back().current = true;
    return executions;
}

std::optional<std::size_t> ExecutionCount(const Run& run) {
    const model::RunStatus& status = run.status;
    const bool failed = CountsAsFailure(status.outcome);
    // If no attempt was given back, each one but the current has failed.
    const std::int32_t failures = status.attempt - (failed ? 0 : 1);
    if (status.attempt > 1 && status.failures != failures) return std::nullopt;
    const bool over = failed && EndsWithFailure(status.state);
    const std::int32_t count = std::max(status.attempt, 1) + (failed && !over ? 1 : 0);
    return static_cast<std::size_t>(count);
}

std::string ExecutionId(const Uuid& run, std::int32_t retry_count) {
    return fmt::format("{}.{}", run.ToString(), retry_count);
}

std::optional<ExecutionKey> ParseExecutionId(std::string_view text) {
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto run = Uuid::Parse(text.substr(0, dot));
    const std::string_view number = text.substr(dot + 1);
    std::int32_t count = 0;
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), count);
    const bool whole = fault == std::errc() && end == number.data() + number.size();
    // One spelling for each execution: no "007".
    if (!run || !whole || ExecutionId(*run, count) != text) return std::nullopt;
    return ExecutionKey{*run, count};
}

std::string ExecutionToJson(const Run& run, const DispatcherExecution& execution,
                            DispatcherView view) {
    JsonOutput output;
    const ValueWriter writer(JsonForm::kDefinition, output);
    output.BeginObject();
    output.TextMember("id", ExecutionId(run.id, execution.retry_count));
    writer.Member("task_id", run.job_id);
    writer.Member("run_id", run.id);
    output.TextMember("status", execution.status);
    writer.Member("retry_count", execution.retry_count);
    PrintableOrNull(output, "worker_id",
                    execution.attempt != nullptr ? WorkerOf(execution.attempt->owner) : "");
    writer.Member("trigger", run.trigger);
    WriteTimes(writer, run, execution);
    WriteResult(writer, run, execution, view);
    PrintableOrNull(output, "error", ExecutionError(run, execution));
    output.TextMember("trace_id", model::TraceIdOf(run));
    if (view == DispatcherView::kWhole) {
        output.Key("params");
        writer.WriteJsonText(run.payload.empty() ? "{}" : run.payload);
        WriteDetail(writer, execution.attempt);
    }
    output.EndObject();
    return output.Take();
}

}  // namespace ksana::codec
