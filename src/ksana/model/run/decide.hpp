#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/state_table.hpp"

namespace ksana::model {

// What the end of an attempt says about the health of its target; from kDown on, nothing good.
enum class TargetHealth : std::uint8_t {
    kNone,      // nothing: the call was not sent, was stopped, or its answer timed out
    kAnswered,  // the target answered, with whatever status
    kDown,      // the target was unreachable
    // 502, 503 or 504: the host is there, but what the path of the call leads to is down or busy.
    kUnavailable,
};

// An event of a run. The comment of a field names the kinds that use it; other kinds ignore it.
struct Event {
    EventKind kind = EventKind::kDue;
    // Id of the attempt that the event is about; for kStart the id of the new attempt. Fenced
    // events (IsFenced) without the current id are stale.
    std::string exec_id;
    // kStart and kTake: who has the attempt from now on. Other fenced events: who says so, where
    // that is known; they are stale if another one has the attempt. Of an attempt that the broker
    // has, they are also the news that it was begun.
    std::string owner;
    // Of a report over the routes of agents: the name that the reporter gives itself; empty: none.
    // It must be that of the owner, and only runs of agents and workers take such a report.
    std::optional<std::string> agent;
    Duration lease{};    // kStart, kProgress; kTake: zero: the attempt ends with its timeout only
    std::string result;  // kSuccess
    std::string error;   // failures, kTimeout, kLostOwner, kCallbackFailed
    std::string detail;  // every event that ends an attempt: JSON, stored with it
    std::optional<Duration> after;         // kRetryableFailure: the Retry-After; kSnooze: the delay
    std::optional<std::int32_t> progress;  // kProgress
    std::string note;                      // kProgress
    std::string log;  // kProgress and every event that ends an attempt: log lines (attempt_log.hpp)
    std::string remark;                     // kResolve
    SkipReason reason = SkipReason::kNone;  // kSkip
    // kBlock: waits for other jobs until then, and `detail` names one; none: for its own job's run.
    std::optional<TimePoint> wait_until;
    bool not_stopping = false;  // kTimeout: the stop grace has run out, too
    // kPermanentFailure: fails the run even if its policy says `need_manual`.
    bool without_person = false;
    // kSuccess: skips the callback; the agent has informed the receiver.
    bool without_callback = false;
    // kSnooze: the attempt never started and does not count. kProgress: the attempt is still
    // waiting at its owner (then `detail` says for what), or has just begun; its time limit counts
    // from now.
    bool not_begun = false;
    TargetHealth target = TargetHealth::kNone;  // read by the engine; not stored
};

// An event and the run that it happens to: what agents and dispatchers report.
struct RunEvent {
    Uuid run_id;
    Event event;
};

// Longer leases and snoozes are reduced to these.
inline constexpr Duration kMaxLease = std::chrono::hours(24);
inline constexpr Duration kMaxSnooze = std::chrono::hours(24 * 366);

enum class EventVerdict : std::uint8_t {
    kApplied,    // the run has changed: write it
    kDuplicate,  // this report was applied before: answer as before, write nothing
    kStale,      // the event belongs to an attempt that is over: refuse, write nothing
    kRefused,    // not possible in this state, or it contradicts the report before: write nothing
    kNotFound,   // there is no such run: from a store, never from Decide
};

enum class CallbackWanted : std::uint8_t { kNone, kSuccess, kError };

struct Transition {
    EventVerdict verdict = EventVerdict::kRefused;
    CallbackWanted callback = CallbackWanted::kNone;
    std::string reason;    // of kStale and kRefused: a text for the caller
    bool goes_on = false;  // kStale: the attempt is not over, another one has it
};

// Applies an event to a run. Changes `run.status` if the verdict is kApplied, and else leaves it as
// it is. Pure: depends on its arguments only. Every state change goes through this function. The
// store writes the result on the condition that (state, exec_id) are still those that were decided
// about.
Transition Decide(Run& run, const Event& event, TimePoint now);

// Returns the current or last attempt from the fields of the run, or nullopt before the first
// attempt. `ended_at` is not set while the attempt runs. Earlier attempts are rows of their own.
std::optional<Attempt> LastAttempt(const Run& run);

// Returns whether the current attempt is with the message broker: no consumer has begun it.
bool IsWithBroker(const RunStatus& status);

// Returns whether the run has had an attempt and is not over: a later fire of the same job must not
// overlap with it.
bool IsUnderWay(const RunStatus& status);

// Returns when the reaper takes a running run from its owner, or nullopt if the run is not running.
std::optional<TimePoint> ExpiresAt(const Run& run);
// Returns the event with which the reaper ends the attempt (kLostOwner or kTimeout; kShutdown for
// one that the broker had: its message may be lost, and the run is published again), or nullopt if
// the attempt has not expired.
std::optional<Event> OverdueEvent(const Run& run, TimePoint now);

// How often a run that waits for other jobs is looked at, in case its release was lost.
inline constexpr Duration kLookAgain = std::chrono::seconds(30);

// Returns whether the run waits for jobs that its job depends on.
bool AwaitsJobs(const RunStatus& status);
// Returns when the reaper looks at a run that waits for other jobs: when its wait ends, or
// kLookAgain after the last look. nullopt if it does not wait for any.
std::optional<TimePoint> LooksAgainAt(const Run& run);

// Returns whether the run occupies its unique key at this time.
bool HoldsKey(const Run& run, TimePoint now);

// Maps an HTTP status to an event (K-09). 2xx is success; 408, 425, 429 and 5xx are retryable; all
// others, redirects included, are permanent failures.
constexpr EventKind OutcomeOfHttpStatus(int status) {
    if (status >= 200 && status <= 299) return EventKind::kSuccess;
    const bool again =
        status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
    return again ? EventKind::kRetryableFailure : EventKind::kPermanentFailure;
}

}  // namespace ksana::model
