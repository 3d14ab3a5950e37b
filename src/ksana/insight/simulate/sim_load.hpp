#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/insight/simulate/simulation.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

// Longer windows are looked at by the minute.
inline constexpr Duration kSecondsWindow = std::chrono::days(62);

// Counts starts and what runs at once. In [from, to); what lies outside is cut.
class LoadMeter {
  public:
    LoadMeter(TimePoint from, TimePoint to);

    void Start(TimePoint at) { ++starts_[Index(at, kMinute)]; }
    // From the first to the last cell that it touches.
    void Ran(TimePoint begin, TimePoint end) {
        ++changes_[Index(begin, cell_)];
        const std::int64_t last = (end - from_).count() - 1;
        const std::size_t after = last < 0 ? 0 : static_cast<std::size_t>(last / cell_) + 1;
        --changes_[std::min(std::max(after, Index(begin, cell_) + 1), changes_.size() - 1)];
    }

    // With limited slots no more than those run at once, whatever touches the same second.
    SimLoad Take(std::optional<std::int64_t> slots);

  private:
    static constexpr std::int64_t kMinute = 60'000'000;

    std::size_t Index(TimePoint at, std::int64_t cell) const {
        return static_cast<std::size_t>((at - from_).count() / cell);
    }

    TimePoint from_;
    std::int64_t cell_;  // microseconds
    std::vector<std::int32_t> starts_;
    std::vector<std::int32_t> changes_;  // of how many run, from one cell to the next
};

using SimDurations = std::unordered_map<std::string, Duration>;  // by job id

// Adds how long the runs of each job take: the median of what has ended lately. First from the
// latest runs of all jobs together; jobs that are not among them are asked for one by one, so far
// as that stays bounded. A job without ended runs is left out.
Result<void> MeasureDurations(store::Store& store, std::span<const model::Job> jobs,
                              SimDurations& measured);

}  // namespace ksana::insight
