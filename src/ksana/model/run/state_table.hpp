#pragma once

#include <cstdint>
#include <string_view>

#include "ksana/model/run/run.hpp"

namespace ksana::model {

// What an event does to a run in a given state. decide.cpp implements the effects.
enum class Effect : std::uint8_t {
    kRefuse,           // not possible in this state
    kEnqueue,          // → queued
    kBegin,            // → running, with a new attempt
    kRenew,            // stays running; the lease is extended, progress is stored
    kTake,             // stays running; a consumer of the broker has begun it
    kFinish,           // → succeeded, or completing if a callback must be delivered first
    kRetryOrFail,      // → scheduled, failed or held; cancelled if a cancel was requested
    kRetryNowOrFail,   // → queued, failed or held; cancelled if a cancel was requested
    kFail,             // → failed or held; cancelled if a cancel was requested
    kRetryOrTimeOut,   // → scheduled, timed_out or held; cancelled if a cancel was requested
    kCancelNow,        // → cancelled
    kAskToCancel,      // stays running; the owner is asked to stop. At the broker: → cancelled
    kDeliver,          // → succeeded
    kNoteUndelivered,  // stays completing; the error is stored
    kHold,             // → held
    kResolve,          // → resolved
    kSendBack,         // → queued, or scheduled if ready_at is in the future; retries restart
    kPostpone,         // → scheduled, no retry used up; cancelled if a cancel was requested
    kRelease,          // → queued, no retry used up; cancelled if a cancel was requested
    kSkip,             // → skipped
    kMiss,             // → missed
    kBlock,            // → queued, not claimable until unblocked
    kUnblock,          // stays queued, claimable again
};

// Returns the effect of an event in a state.
Effect EffectOf(RunState state, EventKind event);

// Returns the states an effect may lead to, in the notation of docs/state_machine.md ("succeeded,
// completing").
std::string_view TargetsOf(Effect effect);

// Returns whether an event belongs to an attempt and so must carry its exec_id.
bool IsFenced(EventKind event);

}  // namespace ksana::model
