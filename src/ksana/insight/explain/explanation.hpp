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

// What became of a fire, in a stable word; docs/explain.md says what each means.
enum class Verdict : std::uint8_t {
    kRan,      // its state tells how it ended
    kRanLate,  // likewise, but it started late
    kRetried,  // likewise, in time, but the first attempt was not the last
    kRunning,
    kWaiting,
    kMissed,
    kSkippedOverlap,
    kSkippedPaused,
    kSkippedCalendar,
    kSkippedLock,
    kSkippedDependency,
    kCancelled,
    kNotAFire,
    kWillRun,
    kWillBeSkipped,
    kNotPlannedYet,
    kPurged,
    kUnknownJob,
};

// Why, for the verdicts that have more than one reason.
enum class Reason : std::uint8_t {
    kNone,
    // ran_late
    kOverdue,         // planned late: the server was down or behind
    kWaitedForRun,    // an earlier run of the job was not over
    kWaitedForSlot,   // it was ready, and nobody took it
    kWaitedForLimit,  // a limit or an open breaker was in its way
    // waiting
    kNotDue,       // its time, with jitter, has not come
    kRetry,        // between two attempts
    kBlocked,      // an earlier run of the job is not over
    kNoSlot,       // all slots are taken
    kStartRate,    // overdue starts are held back for a ramp
    kUnclaimed,    // ready, and it is not known why nobody has taken it
    kHeld,         // a person has to look at it
    kLimited,      // a limit of its node, group, type or host is used up
    kBreakerOpen,  // what it calls is known to be down
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
    kBehind,          // the server was down or is behind
    kScheduleBroken,  // the schedule names something that is not there
    // purged
    kRetention,
    kRunLog,   // the job keeps nothing of runs that are over
    kDeleted,  // gone, and retention has not come that far
    // cancelled
    kCancelOther,  // a later fire took its place, by the overlap policy
};

// The run that the fire made.
struct RunFacts {
    Uuid id;
    model::RunState state = model::RunState::kScheduled;
    model::RunTrigger trigger = model::RunTrigger::kFire;
    TimePoint created_at{};
    std::optional<TimePoint> started_at;  // of the first attempt
    std::optional<TimePoint> finished_at;
    std::optional<TimePoint> ready_at;  // while it waits: not started before
    std::int32_t attempts = 0;
    std::int32_t progress = 0;
    std::optional<Duration> late;  // how long after its time, with jitter, it started
    std::optional<Duration> took;  // from the first start to the end
    std::string owner;
    std::string error;  // the last one; cut, and safe to print
};

// The entry of the ledger that the fire is part of.
struct LedgerFacts {
    std::int64_t seq = 0;
    model::FireFate fate = model::FireFate::kMissed;
    std::int64_t count = 0;
    TimePoint first{};
    TimePoint last{};
    TimePoint recorded_at{};
};

// Another run of the job that has to do with it.
struct RelatedRun {
    Uuid id;
    model::RunState state = model::RunState::kRunning;
    std::optional<TimePoint> nominal_at;
    TimePoint from{};                // when it started, or was made if it has not
    std::optional<TimePoint> until;  // none: not over
};

// Who did it, as far as is known.
struct Actor {
    std::string user;
    std::optional<TimePoint> at;
    std::string reason;
};

struct CalendarFacts {
    std::string name;
    std::string rule;  // in words; empty: not known
};

// What is in its way.
struct LimitFacts {
    std::string key;          // "group:etl", "host:example.com:443"
    std::int64_t before = 0;  // so many were in front of it when it was last looked at
};

struct Explanation {
    std::string job_id;
    TimePoint asked_at{};
    TimePoint now{};
    Verdict verdict = Verdict::kUnknownJob;
    Reason reason = Reason::kNone;
    std::string text;  // one sentence for people, with times in the job's zone
    std::string zone = "UTC";

    std::optional<Fire> fire;           // that is meant; none: nothing of the schedule is near
    bool snapped = false;               // it is not exactly at the time that was asked for
    std::optional<TimePoint> start_at;  // nominal time with jitter, where that differs
    std::optional<Fire> before;         // the fires around it
    std::optional<Fire> after;

    std::optional<RunFacts> run;
    std::optional<LedgerFacts> ledger;
    std::optional<RelatedRun> related;
    std::optional<Actor> actor;
    std::optional<CalendarFacts> calendar;
    std::optional<LimitFacts> limit;
    std::optional<model::MisfirePolicy> misfire;  // missed, not_planned_yet: the job's
    std::optional<model::FireFate> expected;      // not_planned_yet: what planning will make of it
    std::optional<TimePoint> planned_until;       // the job's
    std::vector<std::string> notes;               // what else is worth knowing
};

// As the API and the command line give it. Members that say nothing are left out.
std::string ExplanationToJson(const Explanation& explanation);
extern const codec::NamedSchema kExplanationSchema;

}  // namespace ksana::insight

template <>
struct ksana::model::EnumNames<ksana::insight::Verdict> {
    static constexpr std::array<std::string_view, 18> kNames = {"ran",
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
    static constexpr std::array<std::string_view, 29> kNames = {"none",
                                                                "overdue",
                                                                "waited_for_run",
                                                                "waited_for_slot",
                                                                "waited_for_limit",
                                                                "not_due",
                                                                "retry",
                                                                "blocked",
                                                                "no_slot",
                                                                "start_rate",
                                                                "unclaimed",
                                                                "held",
                                                                "limited",
                                                                "breaker_open",
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
