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

// What becomes of a nominal fire.
enum class FireFate : std::uint8_t {
    kOnTime,           // a run, at its time or within the grace
    kCaughtUp,         // a run, late, because the misfire policy says so
    kMissed,           // no run: too late
    kSkippedCalendar,  // no run: a calendar excludes it
    kSkippedPaused,    // no run: the job was paused
    kDeleted,          // its run was deleted by somebody
};

struct PlannedFire {
    TimePoint nominal;
    TimePoint start_at;  // nominal plus jitter
    FireFate fate = FireFate::kOnTime;
    friend bool operator==(const PlannedFire&, const PlannedFire&) = default;
};

// Fires without a run, as one ledger entry however many they are.
struct LedgerRange {
    FireFate fate = FireFate::kMissed;
    schedule::FireRange range;
    friend bool operator==(const LedgerRange&, const LedgerRange&) = default;
};

struct PlanInput {
    std::string_view job_id;  // feeds the jitter
    // Every fire up to and including this is in the ledger already.
    TimePoint planned_until{};
    bool paused = false;
    Misfire misfire;
    TimePoint now{};
    TimePoint look_ahead_until{};  // plan fires up to here; at least now
    std::size_t max_fires = 100;   // at least 1; further ones wait for the next call
};

struct PlanResult {
    std::vector<PlannedFire> fires;   // by nominal time
    std::vector<LedgerRange> ranges;  // at most one of each fate
    // The new planned_until: fires and ranges together are all the fires up to here.
    TimePoint planned_until{};
    std::optional<TimePoint> next_fire;  // the first one after that
    bool more = false;                   // max_fires was reached: call again
};

// What to do about the fires of a job since the last time. Never enumerates what it does not fire:
// ten years of downtime of a one-second job cost microseconds.
PlanResult Plan(const schedule::Schedule& schedule, const PlanInput& input);

template <>
struct EnumNames<FireFate> {
    static constexpr std::array<std::string_view, 6> kNames = {
        "on_time", "caught_up", "missed", "skipped_calendar", "skipped_paused", "deleted"};
};

// Fires of a job that made no run, as one entry however many they are. Together with the runs that
// have a nominal time these are all the fires there were.
struct LedgerEntry {
    std::int64_t seq = 0;  // given by the store; grows
    std::string job_id;
    LedgerRange range;
    TimePoint recorded_at{};
    friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

}  // namespace ksana::model
