#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::model {

// The sum of changes to a job's counters and last-run fields (K-16, G-02) caused by runs that ended
// and fires that were missed. A store writes each job once per batch, however many of its runs
// ended.
struct JobTally {
    std::string job_id;
    std::int64_t runs = 0;        // added to total_runs
    bool failures_reset = false;  // consecutive_failures is set to 0 before `failures` is added
    std::int32_t failures = 0;
    std::optional<TimePoint> last_run_at;  // none: unchanged
    std::optional<RunState> last_state;    // none: last_state and last_error stay unchanged
    std::string last_error;
    // Runs that became final and stay in the store, for an index of final runs by job.
    struct Ended {
        Uuid id;
        TimePoint at{};
        friend bool operator==(const Ended&, const Ended&) = default;
    };
    std::vector<Ended> ended;
    friend bool operator==(const JobTally&, const JobTally&) = default;
};

// Adds a run that has just ended for its job: final, held, or completing.
void AddToTally(JobTally& tally, const Run& run);

void ApplyTally(const JobTally& tally, Job& job);

// Returns whether a transition ends the run from the job's point of view, so that it counts in the
// job's tally.
constexpr bool EndsForJob(RunState before, RunState after) {
    const auto over = [](RunState state) {
        return IsFinal(state) || state == RunState::kCompleting || state == RunState::kHeld;
    };
    return !over(before) && over(after);
}

}  // namespace ksana::model
