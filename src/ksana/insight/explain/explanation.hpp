#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/codec/schema/schema.hpp"
#include "ksana/insight/explain/fire_note.hpp"
#include "ksana/model/enum_names.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::insight {

// What became of a fire. The names are stable; docs/explain.md explains each.
enum class Verdict : std::uint8_t {
    kRan,      // the state of the run says how it ended
    kRanLate,  // as kRan, but started late
    kRetried,  // as kRan, started on time, but with more than one attempt
    kRunning,
    kWaiting,
    kMissed,
    kSkippedOverlap,
    kSkippedPaused,
    kSkippedCalendar,
    kSkippedLock,
    kSkippedDependency,
    kSkippedNoWorker,
    kCancelled,
    kNotAFire,
    kWillRun,
    kWillBeSkipped,
    kNotPlannedYet,
    kPurged,
    kUnknownJob,
};

// Why, for verdicts with more than one possible reason.
enum class Reason : std::uint8_t {
    kNone,
    // ran_late
    kOverdue,         // planned late: the server was down or overloaded
    kWaitedForRun,    // an earlier run of the job had not ended
    kWaitedForSlot,   // ready, but not claimed in time
    kWaitedForLimit,  // a limit or an open breaker deferred it
    kWaitedForJob,    // a job that it depends on had not succeeded
    // waiting
    kNotDue,       // its start time, with jitter, is in the future
    kRetry,        // between two attempts
    kBlocked,      // an earlier run of the job has not ended
    kNoSlot,       // all slots are in use
    kStartRate,    // the node limits the rate of overdue starts
    kUnclaimed,    // ready, but not claimed, for an unknown reason
    kNoWorker,     // ready, but nobody who is alive serves it
    kHeld,         // waits for a decision by a user
    kLimited,      // a limit of its node, group, type or host is used up
    kBreakerOpen,  // the breaker of its target is open
    kDependency,   // a job that it depends on has not succeeded
    kBroker,       // no consumer has taken it from its queue of the message broker
    // not_a_fire
    kOffSchedule,
    kDstGap,
    kDstFold,
    kBeforeStart,
    kAfterEnd,
    kBeforeCreated,
    kScheduleChanged,
    // will_be_skipped
    kPaused,
    kCalendar,
    // not_planned_yet
    kBehind,          // the server was down or is overloaded
    kScheduleBroken,  // the schedule names a calendar or zone that does not exist
    // purged
    kRetention,
    kRunLog,   // the job's run log keeps no finished runs
    kDeleted,  // deleted, and not by retention
    // cancelled
    kCancelOther,  // cancelled by a later fire, as the overlap policy says
};

// The run of the fire.
struct RunFacts {
    Uuid id;
    model::RunState state = model::RunState::kScheduled;
    model::RunTrigger trigger = model::RunTrigger::kFire;
    TimePoint created_at{};
    std::optional<TimePoint> started_at;  // of the first attempt
    std::optional<TimePoint> finished_at;
    std::optional<TimePoint> ready_at;  // only while it waits: its earliest start
    std::int32_t attempts = 0;
    std::int32_t progress = 0;
    std::optional<Duration> late;  // from the start time, with jitter, to the first start
    std::optional<Duration> took;  // from the first start to the end
    std::string owner;
    std::string error;  // last error, shortened and printable
};

// The ledger entry that covers the fire.
struct LedgerFacts {
    std::int64_t seq = 0;
    model::FireFate fate = model::FireFate::kMissed;
    std::int64_t count = 0;
    TimePoint first{};
    TimePoint last{};
    TimePoint recorded_at{};
};

// Another run of the job that affected this one.
struct RelatedRun {
    Uuid id;
    model::RunState state = model::RunState::kRunning;
    std::optional<TimePoint> nominal_at;
    TimePoint from{};                // its start, or its creation if it has not started
    std::optional<TimePoint> until;  // none: not ended
};

// The user behind an action, as far as known.
struct Actor {
    std::string user;
    std::optional<TimePoint> at;
    std::string reason;
};

struct CalendarFacts {
    std::string name;
    std::string rule;  // in words; empty: unknown
};

// The limit or breaker that holds a run back.
struct LimitFacts {
    std::string key;          // "group:etl", "host:example.com:443"
    std::int64_t before = 0;  // runs ahead of it when it was last examined
};

// The job that a run waits or waited for (depends_on).
struct DependencyFacts {
    std::string job_id;  // empty: not known any more
    std::optional<TimePoint> since;
    std::optional<TimePoint> until;  // it is skipped then
};

struct Explanation {
    std::string job_id;
    TimePoint asked_at{};
    TimePoint now{};
    Verdict verdict = Verdict::kUnknownJob;
    Reason reason = Reason::kNone;
    std::string text;  // one sentence for users, with times in the job's zone
    std::string zone = "UTC";

    std::optional<Fire> fire;           // the fire that the user means; none: no fire nearby
    bool snapped = false;               // the fire is not exactly at the requested time
    std::optional<TimePoint> start_at;  // nominal time plus jitter, if that differs
    std::optional<Fire> before;         // the neighbouring fires
    std::optional<Fire> after;

    std::optional<RunFacts> run;
    std::optional<LedgerFacts> ledger;
    std::optional<RelatedRun> related;
    std::optional<Actor> actor;
    std::optional<CalendarFacts> calendar;
    std::optional<LimitFacts> limit;
    std::optional<DependencyFacts> dependency;
    std::optional<model::MisfirePolicy> misfire;  // missed, not_planned_yet: the job's policy
    // not_planned_yet: the outcome that planning will have.
    std::optional<model::FireFate> expected;
    std::optional<TimePoint> planned_until;  // the job's
    std::vector<std::string> notes;          // further remarks
};

// Returns the JSON for the API and the command line. Empty members are omitted.
std::string ExplanationToJson(const Explanation& explanation);
extern const codec::NamedSchema kExplanationSchema;

}  // namespace ksana::insight

template <>
struct ksana::model::EnumNames<ksana::insight::Verdict> {
    static constexpr std::array<std::string_view, 19> kNames = {"ran",
                                                                "ran_late",
                                                                "retried",
                                                                "running",
                                                                "waiting",
                                                                "missed",
                                                                "skipped_overlap",
                                                                "skipped_paused",
                                                                "skipped_calendar",
                                                                "skipped_lock",
                                                                "skipped_dependency",
                                                                "skipped_no_worker",
                                                                "cancelled",
                                                                "not_a_fire",
                                                                "will_run",
                                                                "will_be_skipped",
                                                                "not_planned_yet",
                                                                "purged",
                                                                "unknown_job"};
};

template <>
struct ksana::model::EnumNames<ksana::insight::Reason> {
    static constexpr std::array<std::string_view, 33> kNames = {"none",
                                                                "overdue",
                                                                "waited_for_run",
                                                                "waited_for_slot",
                                                                "waited_for_limit",
                                                                "waited_for_job",
                                                                "not_due",
                                                                "retry",
                                                                "blocked",
                                                                "no_slot",
                                                                "start_rate",
                                                                "unclaimed",
                                                                "no_worker",
                                                                "held",
                                                                "limited",
                                                                "breaker_open",
                                                                "dependency",
                                                                "broker",
                                                                "off_schedule",
                                                                "dst_gap",
                                                                "dst_fold",
                                                                "before_start",
                                                                "after_end",
                                                                "before_created",
                                                                "schedule_changed",
                                                                "paused",
                                                                "calendar",
                                                                "behind",
                                                                "schedule_broken",
                                                                "retention",
                                                                "run_log",
                                                                "deleted",
                                                                "cancel_other"};
};
