#include "ksana/model/run/reporter.hpp"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "ksana/base/text/utf8.hpp"
#include "ksana/model/run/state_table.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::model {
namespace {

Transition Over() {
    return {
        .verdict = EventVerdict::kStale,
        .reason = "the attempt this speaks for is over; its exec_id is not the run's current one"};
}

// Returns whether the event comes from somebody else than the one who has the attempt: a message
// that the broker delivered twice reaches two consumers with one exec_id, and an exec_id may have
// got into the hands of another agent.
bool IsStrangers(const Run& run, const Event& event) {
    if (IsWithBroker(run.status)) return false;
    const std::string_view owner = run.status.owner;
    // An owner is NAME or NAME/INCARNATION.
    const bool named = event.agent && !event.agent->empty();
    if (named && owner.substr(0, owner.find('/')) != *event.agent) return true;
    return !event.owner.empty() && event.owner != owner;
}

// Returns why a report over the routes of agents is not for this run, or nothing.
std::optional<std::string> FaultOfAgent(const Run& run, const Event& event) {
    if (!event.agent || run.kind == ActionKind::kQueue) return std::nullopt;
    if (!IsForWorkers(run)) return "a server carries out this run, and no agent reports on it";
    if (!event.agent->empty()) return std::nullopt;
    return fmt::format("a report on a run of the kind {} must name its worker", NameOf(run.kind));
}

// Reports in which only the owner says how an attempt has ended. All others may also come from a
// server that takes the attempt from its owner.
bool IsOwnersWord(EventKind kind) {
    return kind == EventKind::kSuccess || kind == EventKind::kRetryableFailure ||
           kind == EventKind::kPermanentFailure || kind == EventKind::kSnooze;
}

bool EndsAttempt(EventKind kind) {
    return IsFenced(kind) && kind != EventKind::kProgress && kind != EventKind::kTake &&
           kind != EventKind::kLostOwner;
}

bool IsFailure(EventKind kind) {
    return kind == EventKind::kRetryableFailure || kind == EventKind::kPermanentFailure;
}

std::string Shown(EventKind kind, std::string_view content) {
    constexpr std::size_t kMost = 80;
    if (content.empty()) return std::string(NameOf(kind));
    return fmt::format("{} ({})", NameOf(kind), Excerpt(content, kMost));
}

// Compares a report on an attempt that is over with the report that ended it.
Transition SecondReport(const Run& run, const Event& event) {
    const RunStatus& status = run.status;
    const EventKind first = *status.last_report;
    // RunLog::kTrigger keeps no result.
    const bool has_result = first == EventKind::kSuccess && run.policy.run_log == RunLog::kFull;
    const bool same = first == event.kind && (!has_result || status.result == event.result) &&
                      (!IsFailure(first) || status.last_error == event.error);
    if (same) return {.verdict = EventVerdict::kDuplicate};
    if (!IsOwnersWord(first) || !EndsAttempt(event.kind)) return Over();
    const std::string& told = IsFailure(first) ? status.last_error : status.result;
    const std::string& now = event.kind == EventKind::kSuccess ? event.result : event.error;
    return {.verdict = EventVerdict::kRefused,
            .reason = fmt::format("this attempt was reported as {} before, and now as {}",
                                  Shown(first, told), Shown(event.kind, now))};
}

}  // namespace

std::optional<Transition> JudgeReporter(const Run& run, const Event& event) {
    const bool running = run.status.state == RunState::kRunning;
    if (event.exec_id.empty() || event.exec_id != run.status.exec_id) return Over();
    if (auto fault = FaultOfAgent(run, event)) {
        return Transition{.verdict = EventVerdict::kRefused, .reason = *std::move(fault)};
    }
    if (IsStrangers(run, event)) {
        if (!running) return Over();
        return Transition{.verdict = EventVerdict::kStale,
                          .reason = "somebody else has the attempt this speaks for",
                          .goes_on = true};
    }
    if (running) return std::nullopt;
    return run.status.last_report ? SecondReport(run, event) : Over();
}

}  // namespace ksana::model
