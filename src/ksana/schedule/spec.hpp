#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ksana/base/time/time.hpp"
#include "ksana/schedule/cron/cron_spec.hpp"

// What a schedule is made of, as plain data: for whoever keeps schedules and asks them nothing.

namespace ksana::schedule {

// A fixed time of day that the clocks skip in spring: fire once at the first instant after the gap,
// or not at all.
enum class GapPolicy : std::uint8_t { kRunAfter, kSkip };

// A fixed time of day that comes twice in autumn: on which pass to fire.
enum class FoldPolicy : std::uint8_t { kFirst, kSecond, kBoth };

struct DstPolicy {
    GapPolicy gap = GapPolicy::kRunAfter;
    FoldPolicy fold = FoldPolicy::kFirst;
    friend bool operator==(const DstPolicy&, const DstPolicy&) = default;
};

// What a change of the clocks had to do with a fire.
enum class DstNote : std::uint8_t { kNone, kAfterGap, kFirstPass, kSecondPass };

inline constexpr Duration kMaxJitter = std::chrono::hours(24);

enum class ScheduleKind : std::uint8_t { kOnce, kEvery, kCron };

// When a job fires, as a user writes it. Plain data; Schedule::Compile checks it and makes it
// answer questions.
struct ScheduleSpec {
    ScheduleKind kind = ScheduleKind::kOnce;
    CronDialect dialect = CronDialect::kStandard;  // these three: of a cron
    DayMatch day_match = DayMatch::kOr;
    DstPolicy dst;

    TimePoint run_at{};  // once
    Duration every{};    // every
    std::string cron;    // cron

    std::string zone = "UTC";           // cron, and what a calendar's dates mean
    std::optional<TimePoint> start_at;  // every: the grid's origin; cron: nothing before
    std::optional<TimePoint> end_at;    // nothing after
    Duration jitter{};                  // each fire is delayed by up to this
    std::string calendar;               // name; empty: none

    friend bool operator==(const ScheduleSpec&, const ScheduleSpec&) = default;
};

// Fires that were taken away, as one entry: how many, and between which.
struct FireRange {
    std::int64_t count = 0;
    TimePoint first{};
    TimePoint last{};
    friend bool operator==(const FireRange&, const FireRange&) = default;
};

}  // namespace ksana::schedule
