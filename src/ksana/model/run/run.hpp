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

// Where a run stands; docs/state_machine.md draws it. From kSucceeded on the states are final.
enum class RunState : std::uint8_t {
    kScheduled,   // its time has not come; also between attempts
    kQueued,      // ready
    kRunning,     // leased: exec_id, owner, deadline
    kCompleting,  // result in, callback not yet delivered
    kHeld,        // waits for a person
    kSucceeded,
    kFailed,
    kTimedOut,
    kCancelled,
    kResolved,  // a person closed it
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

// What made a run.
enum class RunTrigger : std::uint8_t { kFire, kManual, kBackfill, kSubmitted, kCallback };

// What happens to a run; Decide (decide.hpp) says what becomes of it.
enum class EventKind : std::uint8_t {
    kDue,       // its time has come
    kStart,     // an owner takes it
    kProgress,  // the owner is alive
    kSuccess,   // the owner reports
    kRetryableFailure,
    kPermanentFailure,
    kTimeout,    // the attempt took too long
    kLostOwner,  // the owner is gone
    kCancel,     // somebody wants it to stop
    kCancelled,  // the owner has stopped it
    kCallbackDelivered,
    kCallbackFailed,
    kHold,      // a person keeps it back
    kResolve,   // a person closes it
    kSendBack,  // a person lets it run again
    kSnooze,    // the owner wants it later
    kShutdown,  // the owner gives it back unharmed
    kSkip,
    kMiss,
    kBlock,    // must wait until another run of its job is over
    kUnblock,  // need not wait any longer
};

// How an attempt ended.
enum class AttemptOutcome : std::uint8_t {
    kSucceeded,
    kFailed,
    kTimedOut,
    kLost,
    kCancelled,
    kSnoozed,
    kReleased,
    kSkipped,
    kDeferred,  // never began: a limit or a breaker was in its way
};

// Why a run was skipped or a fire made none.
enum class SkipReason : std::uint8_t { kNone, kOverlap, kLock, kCalendar, kPaused, kDependency };

// The part of a run that events change. Every change of it is a compare-and-set on (state,
// exec_id) in the store.
struct RunStatus {
    RunState state = RunState::kScheduled;
    TimePoint ready_at{};  // not started before

    std::int32_t attempt = 0;   // number of the current or last attempt; 0: none yet
    std::int32_t failures = 0;  // attempts that counted against the retries
    std::int64_t fence = 0;     // grows with every attempt; for the target to check
    // Of the current attempt, and kept after its end so that a repeated report is recognised.
    std::string exec_id;
    std::optional<EventKind> last_report;   // what ended the attempt exec_id; none while it runs
    std::optional<AttemptOutcome> outcome;  // of the last attempt; none while it runs
    std::string owner;                      // of the current or last attempt

    std::optional<TimePoint> lease_until;  // liveness: renewed by progress
    std::optional<TimePoint> deadline;     // of the attempt itself
    std::optional<TimePoint> started_at;   // of the current or last attempt
    std::optional<TimePoint> ended_at;     // of the last attempt; none while it runs
    std::optional<TimePoint> finished_at;  // of the run

    std::int32_t progress = 0;  // percent
    std::string progress_note;
    bool cancel_requested = false;
    bool not_stopping = false;  // the attempt outlived the grace after its timeout
    bool blocked = false;       // queued, but waits for another run of its job

    std::string result;  // JSON
    std::string last_error;
    std::string detail;  // JSON: what the last attempt left behind (answer, timings, trace)
    std::string remark;  // of the person who closed it
    SkipReason skip_reason = SkipReason::kNone;

    friend bool operator==(const RunStatus&, const RunStatus&) = default;
};

using RunStates = std::uint16_t;  // a set: bit n is RunState n

constexpr RunStates SetOf(RunState state) {
    return static_cast<RunStates>(1U << static_cast<unsigned>(state));
}

inline constexpr RunStates kAllStates = (1U << kEnumCount<RunState>)-1;
inline constexpr RunStates kUnfinishedStates = SetOf(RunState::kSucceeded) - 1;

// One run of a tenant at a time holds a key: while its state is among `states` and, where there is
// one, `until` has not passed.
struct UniqueRule {
    std::string key;  // empty: none
    RunStates states = kUnfinishedStates;
    std::optional<TimePoint> until;
    friend bool operator==(const UniqueRule&, const UniqueRule&) = default;
};

// One execution of something. The id stays over all attempts: the idempotency key.
struct Run {
    Uuid id;
    std::string job_id;  // empty: submitted directly
    std::string tenant = "default";
    std::string type;
    std::string category;
    std::string creator;
    ActionKind kind = ActionKind::kQueue;  // who carries it out
    RunTrigger trigger = RunTrigger::kSubmitted;
    std::int32_t priority = kDefaultPriority;
    std::optional<TimePoint> nominal_at;  // of a fire; unique together with job_id
    std::string payload;                  // JSON
    TextMap selector;                     // only for workers with these labels
    UniqueRule unique;
    std::optional<Uuid> parent;
    RunPolicy policy;
    TimePoint created_at{};
    TimePoint updated_at{};
    RunStatus status;

    friend bool operator==(const Run&, const Run&) = default;
};

// One try of a run, kept when it is over.
struct Attempt {
    Uuid run_id;
    std::int32_t number = 0;
    std::string exec_id;
    std::int64_t fence = 0;
    std::string owner;
    TimePoint started_at{};
    std::optional<TimePoint> ended_at;      // none: under way
    std::optional<AttemptOutcome> outcome;  // likewise
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
    static constexpr std::array<std::string_view, 21> kNames = {"due",
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
                                                                "unblock"};
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
