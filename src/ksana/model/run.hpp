#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/policy.hpp"

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
    std::optional<EventKind> last_report;  // what ended the attempt exec_id; none while it runs
    std::string owner;

    std::optional<TimePoint> lease_until;  // liveness: renewed by progress
    std::optional<TimePoint> deadline;     // of the attempt itself
    std::optional<TimePoint> started_at;   // of the current or last attempt
    std::optional<TimePoint> finished_at;  // of the run

    std::int32_t progress = 0;  // percent
    std::string progress_note;
    bool cancel_requested = false;
    bool not_stopping = false;  // the attempt outlived the grace after its timeout

    std::string result;  // JSON
    std::string last_error;
    std::string remark;  // of the person who closed it
    SkipReason skip_reason = SkipReason::kNone;

    friend bool operator==(const RunStatus&, const RunStatus&) = default;
};

// One execution of something. The id stays over all attempts: the idempotency key.
struct Run {
    Uuid id;
    std::string job_id;  // empty: submitted directly
    std::string tenant = "default";
    std::string type;
    std::string category;
    std::string creator;
    RunTrigger trigger = RunTrigger::kSubmitted;
    std::int32_t priority = kDefaultPriority;
    std::optional<TimePoint> nominal_at;  // of a fire; unique together with job_id
    std::string payload;                  // JSON
    std::string unique_key;
    std::optional<Uuid> parent;
    TimePoint created_at{};
    TimePoint updated_at{};
    RunStatus status;

    friend bool operator==(const Run&, const Run&) = default;
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
};

// One try of a run, kept when it is over.
struct Attempt {
    Uuid run_id;
    std::int32_t number = 0;
    std::string exec_id;
    std::int64_t fence = 0;
    std::string owner;
    TimePoint started_at{};
    TimePoint ended_at{};
    AttemptOutcome outcome = AttemptOutcome::kSucceeded;
    std::string error;
    bool not_stopping = false;

    friend bool operator==(const Attempt&, const Attempt&) = default;
};

template <>
struct EnumNames<RunState> {
    static constexpr std::array<std::string_view, 12> kNames = {
        "scheduled", "queued",    "running",   "completing", "held",    "succeeded",
        "failed",    "timed_out", "cancelled", "resolved",   "skipped", "missed"};
};
template <>
struct EnumNames<RunTrigger> {
    static constexpr std::array<std::string_view, 5> kNames = {"fire", "manual", "backfill",
                                                               "submitted", "callback"};
};
template <>
struct EnumNames<EventKind> {
    static constexpr std::array<std::string_view, 19> kNames = {"due",
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
                                                                "miss"};
};
template <>
struct EnumNames<SkipReason> {
    static constexpr std::array<std::string_view, 6> kNames = {"none",     "overlap", "lock",
                                                               "calendar", "paused",  "dependency"};
};
template <>
struct EnumNames<AttemptOutcome> {
    static constexpr std::array<std::string_view, 8> kNames = {
        "succeeded", "failed", "timed_out", "lost", "cancelled", "snoozed", "released", "skipped"};
};

}  // namespace ksana::model
