#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/time/time.hpp"
#include "ksana/schedule/cron/cron_spec.hpp"

// The parts of a schedule as plain data, for code that stores or shows schedules but does not
// compute fires.

namespace ksana::schedule {

// What to do if the clocks skip a fixed time of day in spring: fire once at the first instant after
// the gap, or not at all.
enum class GapPolicy : std::uint8_t { kRunAfter, kSkip };

// On which pass to fire if a fixed time of day occurs twice in autumn.
enum class FoldPolicy : std::uint8_t { kFirst, kSecond, kBoth };

struct DstPolicy {
    GapPolicy gap = GapPolicy::kRunAfter;
    FoldPolicy fold = FoldPolicy::kFirst;
    friend bool operator==(const DstPolicy&, const DstPolicy&) = default;
};

// How a change of the clocks affected a fire.
enum class DstNote : std::uint8_t { kNone, kAfterGap, kFirstPass, kSecondPass };

inline constexpr Duration kMaxJitter = std::chrono::hours(24);

enum class ScheduleKind : std::uint8_t { kOnce, kEvery, kCron, kAfter };

// Which ends of the other jobs' runs make a fire of a schedule of kind `after`.
enum class AfterOn : std::uint8_t { kSuccess, kFailure, kAny };
// Whether all of the other jobs must have ended since the last fire, or each end makes a fire.
enum class AfterJoin : std::uint8_t { kAll, kEach };

// When a job fires, as the user writes it. Plain data; Schedule::Compile validates it and makes a
// Schedule of it.
struct ScheduleSpec {
    ScheduleKind kind = ScheduleKind::kOnce;
    // The next three members are for kCron only.
    CronDialect dialect = CronDialect::kStandard;
    DayMatch day_match = DayMatch::kOr;
    DstPolicy dst;
    // The next two members and `jobs` are for kAfter only.
    AfterOn on = AfterOn::kSuccess;
    AfterJoin join = AfterJoin::kAll;

    TimePoint run_at{};             // kOnce
    Duration every{};               // kEvery
    std::string cron;               // kCron
    std::vector<std::string> jobs;  // kAfter: ids of the jobs whose runs end

    std::string zone = "UTC";  // IANA name, for kCron and for the calendar's dates
    // No fire before this time; for kEvery also the origin of the grid.
    std::optional<TimePoint> start_at;
    std::optional<TimePoint> end_at;  // no fire after this time
    Duration jitter{};                // maximum delay of a fire
    std::string calendar;             // name of the calendar; empty: none

    friend bool operator==(const ScheduleSpec&, const ScheduleSpec&) = default;
};

// A number of fires, with the first and the last of them.
struct FireRange {
    std::int64_t count = 0;
    TimePoint first{};
    TimePoint last{};
    friend bool operator==(const FireRange&, const FireRange&) = default;
};

}  // namespace ksana::schedule
