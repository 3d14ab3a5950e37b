#include "ksana/insight/simulate/sim_load.hpp"

#include <algorithm>
#include <vector>

namespace ksana::insight {

LoadMeter::LoadMeter(TimePoint from, TimePoint to)
    : from_(from), cell_(to - from <= kSecondsWindow ? 1'000'000 : kMinute) {
    const std::int64_t span = (to - from).count();
    const auto cells = [&](std::int64_t size) {
        return static_cast<std::size_t>((span + size - 1) / size);
    };
    starts_.resize(cells(kMinute));
    changes_.resize(cells(cell_) + 1);
}

SimLoad LoadMeter::Take(std::optional<std::int64_t> slots) {
    SimLoad load;
    load.starts = std::move(starts_);
    load.running.resize(load.starts.size());
    for (std::size_t minute = 0; minute < load.starts.size(); ++minute) {
        if (load.starts[minute] <= load.max_starts) continue;
        load.max_starts = load.starts[minute];
        load.max_starts_at = from_ + std::chrono::minutes(minute);
    }
    std::int32_t touching = 0;
    for (std::size_t i = 0; i + 1 < changes_.size(); ++i) {
        touching += changes_[i];
        const auto running =
            static_cast<std::int32_t>(std::min<std::int64_t>(touching, slots.value_or(touching)));
        const auto since = static_cast<std::int64_t>(i) * cell_;
        auto& most = load.running[static_cast<std::size_t>(since / kMinute)];
        most = std::max(most, running);
        if (running <= load.max_running) continue;
        load.max_running = running;
        load.max_running_at = from_ + Duration(since);
    }
    return load;
}

namespace {

// The most runs read for all jobs together, and the most jobs read one by one.
constexpr std::size_t kLatestRuns = 20'000;
constexpr std::size_t kAskedJobs = 1'000;

using Samples = std::unordered_map<std::string, std::vector<Duration>>;

Result<void> ReadLatest(store::Store& store, Samples& samples) {
    store::RunQuery query;
    query.filter.states = model::SetOf(model::RunState::kSucceeded) |
                          model::SetOf(model::RunState::kFailed) |
                          model::SetOf(model::RunState::kTimedOut);
    query.sort = store::RunSort::kFinished;
    query.limit = store::kMaxPageSize;
    for (std::size_t seen = 0; seen < kLatestRuns;) {
        KSANA_TRY(const auto page, store.runs().List(query));
        seen += page.items.size();
        for (const model::Run& run : page.items) {
            const model::RunStatus& status = run.status;
            if (run.job_id.empty() || !status.started_at || !status.ended_at) continue;
            samples[run.job_id].push_back(
                std::max(*status.ended_at - *status.started_at, Duration::zero()));
        }
        query.cursor = page.next;
        if (query.cursor.empty()) break;
    }
    return {};
}

// Nearest rank, like store::JobStatistics.
Duration Median(std::vector<Duration>& samples) {
    const auto middle = samples.begin() + static_cast<std::ptrdiff_t>((samples.size() - 1) / 2);
    std::ranges::nth_element(samples, middle);
    return *middle;
}

}  // namespace

Result<void> MeasureDurations(store::Store& store, std::span<const model::Job> jobs,
                              SimDurations& measured) {
    Samples samples;
    KSANA_TRY_VOID(ReadLatest(store, samples));
    for (auto& [id, durations] : samples) measured[id] = Median(durations);
    std::size_t asked = 0;
    for (const model::Job& job : jobs) {
        if (job.state.total_runs == 0 || measured.contains(job.id)) continue;
        if (++asked > kAskedJobs) break;
        KSANA_TRY(const auto statistics,
                  store.jobs().Statistics({.job_id = job.id, .from = {}, .until = {}}));
        if (statistics.p50) measured[job.id] = *statistics.p50;
    }
    return {};
}

}  // namespace ksana::insight
