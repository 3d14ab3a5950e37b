#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/model/job/policy.hpp"
#include "ksana/schedule/spec.hpp"

namespace ksana::schedule {
class Schedule;
}

namespace ksana::model {

// The outcome of a nominal fire.
enum class FireFate : std::uint8_t {
    kOnTime,           // became a run, at its time or within the grace
    kCaughtUp,         // became a run, late, as the misfire policy demands
    kMissed,           // no run: too late
    kSkippedCalendar,  // no run: a calendar excludes it
    kSkippedPaused,    // no run: the job was paused
    kDeleted,          // had a run, which a user deleted
    kNoWorker,         // no run: a broadcast, and no live worker serves it
};

struct PlannedFire {
    TimePoint nominal;
    TimePoint start_at;  // nominal plus jitter
    FireFate fate = FireFate::kOnTime;
    friend bool operator==(const PlannedFire&, const PlannedFire&) = default;
};

// Fires of one fate that have no run, as one entry however many there are.
struct LedgerRange {
    FireFate fate = FireFate::kMissed;
    schedule::FireRange range;
    friend bool operator==(const LedgerRange&, const LedgerRange&) = default;
};

struct PlanInput {
    std::string_view job_id;  // seeds the jitter
    // Every fire up to and including this time is already in the ledger.
    TimePoint planned_until{};
    bool paused = false;
    Misfire misfire;
    TimePoint now{};
    TimePoint look_ahead_until{};  // plan fires up to this time; values before `now` count as `now`
    std::size_t max_fires = 100;   // at least 1; further fires are left to the next call
};

struct PlanResult {
    std::vector<PlannedFire> fires;   // sorted by nominal time
    std::vector<LedgerRange> ranges;  // at most one per fate
    // The new planned_until. `fires` and `ranges` together cover every fire up to here.
    TimePoint planned_until{};
    // The first fire after planned_until; none: the schedule has ended.
    std::optional<TimePoint> next_fire;
    bool more = false;  // max_fires was reached: call again
};

// Decides what becomes of a job's fires since `input.planned_until`. Counts the fires that get no
// run instead of enumerating them: ten years of downtime of a one-second job cost microseconds.
PlanResult Plan(const schedule::Schedule& schedule, const PlanInput& input);

template <>
struct EnumNames<FireFate> {
    static constexpr std::array<std::string_view, 7> kNames = {
        "on_time",        "caught_up", "missed",   "skipped_calendar",
        "skipped_paused", "deleted",   "no_worker"};
};

// A stored LedgerRange. The ledger entries of a job and its runs with a nominal time together
// account for every fire.
struct LedgerEntry {
    std::int64_t seq = 0;  // assigned by the store; increasing
    std::string job_id;
    LedgerRange range;
    TimePoint recorded_at{};
    friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

}  // namespace ksana::model
