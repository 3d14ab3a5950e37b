#include "ksana/model/run/state_table.hpp"

#include <array>

namespace ksana::model {
namespace {

constexpr std::size_t kStates = kEnumCount<RunState>;
constexpr std::size_t kEvents = kEnumCount<EventKind>;

struct Rule {
    RunState state;
    EventKind event;
    Effect effect;
};

// All transitions. A pair that is not listed is refused; final states are never listed.
constexpr Rule kRules[] = {
    {RunState::kScheduled, EventKind::kDue, Effect::kEnqueue},
    {RunState::kScheduled, EventKind::kStart, Effect::kBegin},
    {RunState::kScheduled, EventKind::kCancel, Effect::kCancelNow},
    {RunState::kScheduled, EventKind::kHold, Effect::kHold},
    {RunState::kScheduled, EventKind::kSkip, Effect::kSkip},
    {RunState::kScheduled, EventKind::kMiss, Effect::kMiss},
    {RunState::kScheduled, EventKind::kBlock, Effect::kBlock},

    {RunState::kQueued, EventKind::kStart, Effect::kBegin},
    {RunState::kQueued, EventKind::kCancel, Effect::kCancelNow},
    {RunState::kQueued, EventKind::kHold, Effect::kHold},
    {RunState::kQueued, EventKind::kSkip, Effect::kSkip},
    {RunState::kQueued, EventKind::kMiss, Effect::kMiss},
    {RunState::kQueued, EventKind::kBlock, Effect::kBlock},
    {RunState::kQueued, EventKind::kUnblock, Effect::kUnblock},

    {RunState::kRunning, EventKind::kProgress, Effect::kRenew},
    {RunState::kRunning, EventKind::kTake, Effect::kTake},
    {RunState::kRunning, EventKind::kSuccess, Effect::kFinish},
    {RunState::kRunning, EventKind::kRetryableFailure, Effect::kRetryOrFail},
    {RunState::kRunning, EventKind::kPermanentFailure, Effect::kFail},
    {RunState::kRunning, EventKind::kTimeout, Effect::kRetryOrTimeOut},
    {RunState::kRunning, EventKind::kLostOwner, Effect::kRetryNowOrFail},
    {RunState::kRunning, EventKind::kCancel, Effect::kAskToCancel},
    {RunState::kRunning, EventKind::kCancelled, Effect::kCancelNow},
    {RunState::kRunning, EventKind::kSnooze, Effect::kPostpone},
    {RunState::kRunning, EventKind::kShutdown, Effect::kRelease},
    {RunState::kRunning, EventKind::kSkip, Effect::kSkip},

    {RunState::kCompleting, EventKind::kCallbackDelivered, Effect::kDeliver},
    {RunState::kCompleting, EventKind::kCallbackFailed, Effect::kNoteUndelivered},
    {RunState::kCompleting, EventKind::kResolve, Effect::kResolve},

    {RunState::kHeld, EventKind::kCancel, Effect::kCancelNow},
    {RunState::kHeld, EventKind::kResolve, Effect::kResolve},
    {RunState::kHeld, EventKind::kSendBack, Effect::kSendBack},
};

constexpr auto kTable = [] {
    std::array<std::array<Effect, kEvents>, kStates> table{};
    for (const Rule& rule : kRules) {
        table[static_cast<std::size_t>(rule.state)][static_cast<std::size_t>(rule.event)] =
            rule.effect;
    }
    return table;
}();

constexpr bool FinalStatesStayFinal() {
    for (const Rule& rule : kRules) {
        if (IsFinal(rule.state)) return false;
    }
    return true;
}
static_assert(FinalStatesStayFinal());

}  // namespace

Effect EffectOf(RunState state, EventKind event) {
    return kTable.at(static_cast<std::size_t>(state)).at(static_cast<std::size_t>(event));
}

std::string_view TargetsOf(Effect effect) {
    switch (effect) {
        case Effect::kRefuse:
            return "";
        case Effect::kEnqueue:
        case Effect::kBlock:
        case Effect::kUnblock:
            return "queued";
        case Effect::kSendBack:
            return "queued, scheduled";
        case Effect::kRelease:
            return "queued, cancelled";
        case Effect::kBegin:
        case Effect::kRenew:
        case Effect::kTake:
            return "running";
        case Effect::kAskToCancel:
            return "running, cancelled";
        case Effect::kFinish:
            return "succeeded, completing";
        case Effect::kRetryOrFail:
            return "scheduled, failed, held, cancelled";
        case Effect::kRetryNowOrFail:
            return "queued, failed, held, cancelled";
        case Effect::kFail:
            return "failed, held, cancelled";
        case Effect::kRetryOrTimeOut:
            return "scheduled, timed_out, held, cancelled";
        case Effect::kCancelNow:
            return "cancelled";
        case Effect::kDeliver:
            return "succeeded";
        case Effect::kNoteUndelivered:
            return "completing";
        case Effect::kHold:
            return "held";
        case Effect::kResolve:
            return "resolved";
        case Effect::kPostpone:
            return "scheduled, cancelled";
        case Effect::kSkip:
            return "skipped";
        case Effect::kMiss:
            return "missed";
    }
    return "";
}

bool IsFenced(EventKind event) {
    switch (event) {
        case EventKind::kProgress:
        case EventKind::kSuccess:
        case EventKind::kRetryableFailure:
        case EventKind::kPermanentFailure:
        case EventKind::kTimeout:
        case EventKind::kLostOwner:
        case EventKind::kCancelled:
        case EventKind::kSnooze:
        case EventKind::kShutdown:
        case EventKind::kTake:
            return true;
        default:
            return false;
    }
}

}  // namespace ksana::model
