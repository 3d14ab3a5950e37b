#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/model/run/state_table.hpp"

namespace ksana::model {

// What an attempt tells about the target that it called.
enum class TargetHealth : std::uint8_t {
    kNone,      // nothing: it was not sent, was stopped, or had no answer in its time
    kAnswered,  // somebody is there, whatever the answer
    kDown,      // nobody could be reached, or only something in front of it
};

// Something that happens to a run. Only the fields that the kind speaks of are looked at.
struct Event {
    EventKind kind = EventKind::kDue;
    // The attempt it speaks for; for kStart the fresh one. Fenced events are refused without it.
    std::string exec_id;
    std::string owner;                     // kStart
    Duration lease{};                      // kStart, kProgress
    std::string result;                    // kSuccess
    std::string error;                     // failures, kTimeout, kLostOwner, kCallbackFailed
    std::string detail;                    // whatever ends an attempt: JSON, kept with it
    std::optional<Duration> after;         // kRetryableFailure: Retry-After; kSnooze: how long
    std::optional<std::int32_t> progress;  // kProgress
    std::string note;                      // kProgress
    std::string log;     // kProgress, whatever ends an attempt: lines (attempt_log.hpp)
    std::string remark;  // kResolve
    SkipReason reason = SkipReason::kNone;  // kSkip
    bool not_stopping = false;              // kTimeout: the grace ran out, too
    bool without_person = false;  // kPermanentFailure: ends it, also where the policy would hold it
    bool without_callback = false;  // kSuccess: the agent has told whoever had to know
    // kSnooze: nothing was started, so that the attempt does not count. kProgress: it waits at its
    // owner, or did until now; its time counts from here, and `detail` says what it waits for.
    bool not_begun = false;
    TargetHealth target = TargetHealth::kNone;  // for the engine; not kept
};

// An event and the run that it happens to: what agents and dispatchers report.
struct RunEvent {
    Uuid run_id;
    Event event;
};

// Longer leases and snoozes are cut to these.
inline constexpr Duration kMaxLease = std::chrono::hours(24);
inline constexpr Duration kMaxSnooze = std::chrono::hours(24 * 366);

enum class EventVerdict : std::uint8_t {
    kApplied,    // the run is what became of it: write it
    kDuplicate,  // this very report was taken before: answer as then, write nothing
    kStale,      // speaks for an attempt that is over: refuse, write nothing
    kRefused,    // not possible in this state: refuse, write nothing
    kNotFound,   // there is no such run: from a store, never from Decide
};

enum class CallbackWanted : std::uint8_t { kNone, kSuccess, kError };

struct Transition {
    EventVerdict verdict = EventVerdict::kRefused;
    CallbackWanted callback = CallbackWanted::kNone;
    std::string reason;  // of kStale and kRefused, for the caller
};

// What becomes of a run: its status is changed where the verdict is kApplied, and else as it was.
// Looks at nothing but its arguments: every backend and every door asks this one function and
// writes what it says, under the condition that (state, exec_id) are still what was asked about.
Transition Decide(Run& run, const Event& event, TimePoint now);

// The last attempt of a run as its row tells it, also while it runs (then ended_at is not set);
// nothing before the first. Earlier ones are rows of their own.
std::optional<Attempt> LastAttempt(const Run& run);

// Started and not over: what a later fire of the same job may not overlap.
bool IsUnderWay(const RunStatus& status);

// When the reaper takes a running run away from its owner, and as what.
std::optional<TimePoint> ExpiresAt(const Run& run);
std::optional<Event> OverdueEvent(const Run& run, TimePoint now);

// Whether the run keeps others from its unique key at this time.
bool HoldsKey(const Run& run, TimePoint now);

// What an HTTP status means for a run (K-09): 2xx is success; 408, 425, 429 and 5xx may be tried
// again; everything else, redirects included, is a permanent failure.
constexpr EventKind OutcomeOfHttpStatus(int status) {
    if (status >= 200 && status <= 299) return EventKind::kSuccess;
    const bool again =
        status == 408 || status == 425 || status == 429 || (status >= 500 && status <= 599);
    return again ? EventKind::kRetryableFailure : EventKind::kPermanentFailure;
}

}  // namespace ksana::model
