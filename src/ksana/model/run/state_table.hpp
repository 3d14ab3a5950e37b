#pragma once

#include <cstdint>
#include <string_view>

#include "ksana/model/run/run.hpp"

namespace ksana::model {

// What an event does to a run in some state. The rules behind the words are in decide.cpp.
enum class Effect : std::uint8_t {
    kRefuse,           // not possible in this state
    kEnqueue,          // → queued
    kBegin,            // → running, a new attempt
    kRenew,            // the lease is longer, progress is noted
    kFinish,           // → succeeded, or completing when somebody must be told first
    kRetryOrFail,      // → scheduled again, or failed, or held; cancelled when that was asked for
    kFail,             // → failed, or held; cancelled when that was asked for
    kRetryOrTimeOut,   // → scheduled again, or timed_out, or held; cancelled when asked for
    kCancelNow,        // → cancelled
    kAskToCancel,      // stays running, and the owner is told
    kDeliver,          // → succeeded
    kNoteUndelivered,  // stays completing
    kHold,             // → held
    kResolve,          // → resolved
    kSendBack,         // → queued, or scheduled before its time; with its retries anew
    kPostpone,         // → scheduled, no retry used up; cancelled when asked for
    kRelease,          // → queued, no retry used up; cancelled when asked for
    kSkip,             // → skipped
    kMiss,             // → missed
    kBlock,            // → queued, and not claimed until unblocked
    kUnblock,          // stays queued, and may be claimed
};

// The one table of transitions.
Effect EffectOf(RunState state, EventKind event);

// The states an effect may lead to, as docs/state_machine.md writes them ("succeeded, completing").
std::string_view TargetsOf(Effect effect);

// Whether an event speaks for an attempt and so must carry its exec_id.
bool IsFenced(EventKind event);

}  // namespace ksana::model
