#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/text/text_map.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/action.hpp"
#include "ksana/model/job/policy.hpp"

namespace ksana::model {

// The state of a run; docs/state_machine.md has the diagram. kSucceeded and all states after it are
// final.
enum class RunState : std::uint8_t {
    kScheduled,   // waits for its time, also between attempts
    kQueued,      // ready to be claimed
    kRunning,     // claimed, with an exec_id, an owner, a lease and a deadline
    kCompleting,  // the result is stored, the callback is not yet delivered
    kHeld,        // waits for a decision by a user
    kSucceeded,
    kFailed,
    kTimedOut,
    kCancelled,
    kResolved,  // closed by a user
    kSkipped,
    kMissed,
};

template <>
struct EnumNames<RunState> {
    static constexpr std::array<std::string_view, 12> kNames = {
        "scheduled", "queued",    "running",   "completing", "held",    "succeeded",
        "failed",    "timed_out", "cancelled", "resolved",   "skipped", "missed"};
};

constexpr bool IsFinal(RunState state) { return state >= RunState::kSucceeded; }

// The owner of a running attempt that a message broker has and no consumer has begun. No agent or
// worker can have this name: it is not an identifier.
inline constexpr std::string_view kBrokerOwner = "message broker";

// What created a run.
enum class RunTrigger : std::uint8_t { kFire, kManual, kBackfill, kSubmitted, kCallback };

// An event of a run; Decide (decide.hpp) applies it.
enum class EventKind : std::uint8_t {
    kDue,       // ready_at has passed
    kStart,     // an owner claims it
    kProgress,  // a heartbeat of the owner, with or without progress
    // Reports of the owner.
    kSuccess,
    kRetryableFailure,
    kPermanentFailure,
    kTimeout,    // the attempt exceeded its time limit
    kLostOwner,  // the lease expired
    kCancel,     // a request to stop
    kCancelled,  // the owner has stopped the attempt
    kCallbackDelivered,
    kCallbackFailed,
    kHold,      // a user holds it back
    kResolve,   // a user closes it
    kSendBack,  // a user releases it from `held`
    kSnooze,    // the owner postpones it
    kShutdown,  // the owner returns it unfinished, without using up a retry
    kSkip,
    kMiss,
    kBlock,    // another run of its job, or of a job it depends on, must end first
    kUnblock,  // the run that blocked it has ended
    kTake,     // a consumer of the message broker has begun the attempt
};

enum class AttemptOutcome : std::uint8_t {
    kSucceeded,
    kFailed,
    kTimedOut,
    kLost,
    kCancelled,
    kSnoozed,
    kReleased,
    kSkipped,
    kDeferred,  // never began: held up by a limit or a breaker
};

// Why a run was skipped. kOverlap and kDependency are set at present.
enum class SkipReason : std::uint8_t { kNone, kOverlap, kLock, kCalendar, kPaused, kDependency };

// The part of a run that events change. The store writes it with a compare-and-set on (state,
// exec_id).
struct RunStatus {
    RunState state = RunState::kScheduled;
    TimePoint ready_at{};  // earliest start of the next attempt

    std::int32_t attempt = 0;   // number of the current or last attempt; 0: none yet
    std::int32_t failures = 0;  // attempts that count against the retries
    std::int64_t fence = 0;     // grows with every attempt; targets may check it
    // Of the current or last attempt; kept after its end to recognise repeated reports.
    std::string exec_id;
    // the event that ended the last attempt; none while it runs
    std::optional<EventKind> last_report;
    std::optional<AttemptOutcome> outcome;  // of the last attempt; none while it runs
    std::string owner;                      // of the current or last attempt

    std::optional<TimePoint> lease_until;  // renewed by progress
    std::optional<TimePoint> deadline;     // end of the current attempt's time limit
    std::optional<TimePoint> started_at;   // of the current or last attempt
    std::optional<TimePoint> ended_at;     // of the last attempt; none while it runs
    std::optional<TimePoint> finished_at;  // of the run

    std::int32_t progress = 0;  // percent
    std::string progress_note;
    bool cancel_requested = false;
    bool not_stopping = false;  // the last attempt outlived its timeout and the stop grace
    bool blocked = false;       // queued, but must wait for a run of its job or of another one
    // Of a run with policy.depends. Blocked: it waits for the jobs that its job depends on, at most
    // until then. Not blocked: these have let it pass. None: it did not have to wait.
    std::optional<TimePoint> wait_until;
    // Other jobs are told when it ends: their fires wait for it or follow it.
    bool watched = false;

    std::string result;  // JSON
    std::string last_error;
    std::string detail;  // JSON about the last attempt: response, timings, trace, log
    std::string remark;  // by the user who closed the run
    SkipReason skip_reason = SkipReason::kNone;

    friend bool operator==(const RunStatus&, const RunStatus&) = default;
};

using RunStates = std::uint16_t;  // a set: bit n is RunState n

constexpr RunStates SetOf(RunState state) {
    return static_cast<RunStates>(1U << static_cast<unsigned>(state));
}

inline constexpr RunStates kAllStates = (1U << kEnumCount<RunState>)-1;
inline constexpr RunStates kUnfinishedStates = SetOf(RunState::kSucceeded) - 1;

// A unique key within a tenant. At most one run holds it: a run does while its state is in `states`
// and `until`, if set, has not passed.
struct UniqueRule {
    std::string key;  // empty: none
    RunStates states = kUnfinishedStates;
    std::optional<TimePoint> until;
    friend bool operator==(const UniqueRule&, const UniqueRule&) = default;
};

// One execution of a job or task. The id stays the same for all attempts and serves as the
// idempotency key.
struct Run {
    Uuid id;
    std::string job_id;  // empty: a task that was submitted directly
    std::string tenant = "default";
    std::string type;
    std::string category;
    std::string creator;
    ActionKind kind = ActionKind::kQueue;  // selects the executor
    RunTrigger trigger = RunTrigger::kSubmitted;
    std::int32_t priority = kDefaultPriority;
    std::optional<TimePoint> nominal_at;  // time of the scheduled fire; unique together with job_id
    std::string payload;                  // JSON
    TextMap selector;                     // labels that an agent must have to claim the run
    // While the run waits for its first attempt, only agents with these labels may claim it until
    // prefer_for after its ready_at; then all may.
    TextMap prefer;
    Duration prefer_for{};
    UniqueRule unique;
    std::optional<Uuid> parent;
    // The trace that the run belongs to, or the run that caused it (trace_context.hpp). Empty: the
    // run begins a trace of its own.
    std::string trace_parent;
    RunPolicy policy;
    TimePoint created_at{};
    TimePoint updated_at{};
    RunStatus status;

    friend bool operator==(const Run&, const Run&) = default;
};

// When a run that waits is offered to all who serve it; TimePoint{}: at once.
inline TimePoint PreferredUntil(const Run& run) {
    const bool prefers = !run.prefer.empty() && run.status.attempt == 0;
    return prefers ? run.status.ready_at + run.prefer_for : TimePoint{};
}

// One attempt of a run.
struct Attempt {
    Uuid run_id;
    std::int32_t number = 0;
    std::string exec_id;
    std::int64_t fence = 0;
    std::string owner;
    TimePoint started_at{};
    std::optional<TimePoint> ended_at;      // none: still running
    std::optional<AttemptOutcome> outcome;  // none: still running
    std::string error;
    std::string detail;  // JSON
    bool not_stopping = false;

    friend bool operator==(const Attempt&, const Attempt&) = default;
};

template <>
struct EnumNames<RunTrigger> {
    static constexpr std::array<std::string_view, 5> kNames = {"fire", "manual", "backfill",
                                                               "submitted", "callback"};
};
template <>
struct EnumNames<EventKind> {
    static constexpr std::array<std::string_view, 22> kNames = {"due",
                                                                "start",
                                                                "progress",
                                                                "success",
                                                                "retryable_failure",
                                                                "permanent_failure",
                                                                "timeout",
                                                                "lost_owner",
                                                                "cancel",
                                                                "cancelled",
                                                                "callback_delivered",
                                                                "callback_failed",
                                                                "hold",
                                                                "resolve",
                                                                "send_back",
                                                                "snooze",
                                                                "shutdown",
                                                                "skip",
                                                                "miss",
                                                                "block",
                                                                "unblock",
                                                                "take"};
};
template <>
struct EnumNames<SkipReason> {
    static constexpr std::array<std::string_view, 6> kNames = {"none",     "overlap", "lock",
                                                               "calendar", "paused",  "dependency"};
};
template <>
struct EnumNames<AttemptOutcome> {
    static constexpr std::array<std::string_view, 9> kNames = {
        "succeeded", "failed",   "timed_out", "lost",    "cancelled",
        "snoozed",   "released", "skipped",   "deferred"};
};

}  // namespace ksana::model
