#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ksana/base/time/time.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::store {

// Statistics look at no more than so many of the latest ended runs of a window.
inline constexpr std::size_t kMaxStatisticsRuns = 10'000;

// What statistics need of an ended run.
struct RunSample {
    model::RunState state = model::RunState::kSucceeded;
    std::optional<Duration> duration;  // of the last attempt; none: it never started
};

struct JobStatistics {
    std::int64_t runs = 0;  // that started and ended
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;  // failed, timed out, held or resolved
    std::int64_t cancelled = 0;
    std::int64_t skipped = 0;
    std::int64_t missed = 0;
    // Succeeded among succeeded and failed; none without either.
    std::optional<double> success_rate;
    // Of the runs that started; nearest rank. None without any.
    std::optional<Duration> average;
    std::optional<Duration> p50;
    std::optional<Duration> p90;
    std::optional<Duration> p99;
    std::optional<Duration> longest;
    bool sampled = false;  // there were more runs than were looked at
    friend bool operator==(const JobStatistics&, const JobStatistics&) = default;
};

JobStatistics Summarise(std::span<const RunSample> samples);

}  // namespace ksana::store
