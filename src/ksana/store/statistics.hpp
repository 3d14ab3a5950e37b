#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ksana/base/time/time.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::store {

// The most runs that statistics examine: the latest final runs of a window.
inline constexpr std::size_t kMaxStatisticsRuns = 10'000;

// What statistics need to know of a final run.
struct RunSample {
    model::RunState state = model::RunState::kSucceeded;
    std::optional<Duration> duration;  // of the last attempt; none: the run never started
};

struct JobStatistics {
    std::int64_t runs = 0;  // runs that started and ended
    std::int64_t succeeded = 0;
    std::int64_t failed = 0;     // failed, timed out or resolved
    std::int64_t timed_out = 0;  // how many of `failed` timed out
    std::int64_t cancelled = 0;
    std::int64_t skipped = 0;
    std::int64_t missed = 0;
    // succeeded / (succeeded + failed); none if both are 0.
    std::optional<double> success_rate;
    // Durations of the runs that started; percentiles by nearest rank. None if no run started.
    std::optional<Duration> average;
    std::optional<Duration> p50;
    std::optional<Duration> p90;
    std::optional<Duration> p99;
    std::optional<Duration> longest;
    bool sampled = false;  // kMaxStatisticsRuns was reached: older runs may be missing
    friend bool operator==(const JobStatistics&, const JobStatistics&) = default;
};

JobStatistics Summarise(std::span<const RunSample> samples);

}  // namespace ksana::store
