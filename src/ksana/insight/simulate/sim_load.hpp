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

// Longer simulations measure concurrency per minute instead of per second.
inline constexpr Duration kSecondsWindow = std::chrono::days(62);

// Counts starts per minute and concurrent runs per cell (a second or a minute) in [from, to). For
// one thread.
class LoadMeter {
  public:
    LoadMeter(TimePoint from, TimePoint to);

    void Start(TimePoint at) { ++starts_[Index(at, kMinute)]; }
    // Counts a run in every cell that it touches, cut at the end of the window.
    void Ran(TimePoint begin, TimePoint end) {
        ++changes_[Index(begin, cell_)];
        const std::int64_t last = (end - from_).count() - 1;
        const std::size_t after = last < 0 ? 0 : static_cast<std::size_t>(last / cell_) + 1;
        --changes_[std::min(std::max(after, Index(begin, cell_) + 1), changes_.size() - 1)];
    }

    // Limits the concurrency to `slots`: runs that touch the same cell need not have overlapped.
    SimLoad Take(std::optional<std::int64_t> slots);

  private:
    static constexpr std::int64_t kMinute = 60'000'000;

    std::size_t Index(TimePoint at, std::int64_t cell) const {
        return static_cast<std::size_t>((at - from_).count() / cell);
    }

    TimePoint from_;
    std::int64_t cell_;  // microseconds
    std::vector<std::int32_t> starts_;
    std::vector<std::int32_t> changes_;  // changes of the number of running runs, per cell
};

using SimDurations = std::unordered_map<std::string, Duration>;  // by job id

// Adds the typical run duration of each job: the median of recently ended runs. Reads the latest
// runs of all jobs first, then the statistics of a bounded number of other jobs. Jobs without ended
// runs are left out.
Result<void> MeasureDurations(store::Store& store, std::span<const model::Job> jobs,
                              SimDurations& measured);

}  // namespace ksana::insight
