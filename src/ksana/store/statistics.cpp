#include "ksana/store/statistics.hpp"

#include <algorithm>
#include <vector>

namespace ksana::store {
namespace {

using model::RunState;

void Count(JobStatistics& statistics, RunState state) {
    switch (state) {
        case RunState::kSucceeded:
        case RunState::kCompleting:
            ++statistics.succeeded;
            break;
        case RunState::kTimedOut:
            ++statistics.timed_out;
            [[fallthrough]];
        case RunState::kFailed:
        case RunState::kHeld:
        case RunState::kResolved:
            ++statistics.failed;
            break;
        case RunState::kCancelled:
            ++statistics.cancelled;
            break;
        case RunState::kSkipped:
            ++statistics.skipped;
            break;
        case RunState::kMissed:
            ++statistics.missed;
            break;
        default:
            break;
    }
}

// Nearest rank: the smallest value v such that at least `percent` of the values are <= v.
Duration Percentile(const std::vector<Duration>& sorted, std::size_t percent) {
    const std::size_t rank = (sorted.size() * percent + 99) / 100;
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

JobStatistics Summarise(std::span<const RunSample> samples) {
    JobStatistics statistics;
    std::vector<Duration> durations;
    double sum = 0;
    for (const RunSample& sample : samples) {
        Count(statistics, sample.state);
        if (!sample.duration) continue;
        durations.push_back(*sample.duration);
        sum += static_cast<double>(sample.duration->count());
    }
    statistics.runs = static_cast<std::int64_t>(durations.size());
    statistics.sampled = samples.size() >= kMaxStatisticsRuns;
    if (const auto judged = statistics.succeeded + statistics.failed; judged > 0) {
        statistics.success_rate =
            static_cast<double>(statistics.succeeded) / static_cast<double>(judged);
    }
    if (durations.empty()) return statistics;
    std::ranges::sort(durations);
    statistics.average =
        Duration(static_cast<std::int64_t>(sum / static_cast<double>(durations.size())));
    statistics.p50 = Percentile(durations, 50);
    statistics.p90 = Percentile(durations, 90);
    statistics.p99 = Percentile(durations, 99);
    statistics.longest = durations.back();
    return statistics;
}

}  // namespace ksana::store
