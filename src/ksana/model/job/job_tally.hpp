#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/job/job.hpp"

namespace ksana::model {

// What the runs that ended (and the fires that were missed) change about their job's bookkeeping
// (K-16, G-02), added up, so that a store writes a job once however many of its runs ended.
struct JobTally {
    std::string job_id;
    std::int64_t runs = 0;                 // more to total_runs
    bool failures_reset = false;           // consecutive_failures starts anew before…
    std::int32_t failures = 0;             // …these are added
    std::optional<TimePoint> last_run_at;  // none: unchanged
    std::optional<RunState> last_state;    // none: unchanged, and last_error with it
    std::string last_error;
    // Runs that are final now and stay in the store, which may list them by job.
    struct Ended {
        Uuid id;
        TimePoint at{};
        friend bool operator==(const Ended&, const Ended&) = default;
    };
    std::vector<Ended> ended;
    friend bool operator==(const JobTally&, const JobTally&) = default;
};

// Adds a run that has ended: it is final or held, or its result is in (completing).
void AddToTally(JobTally& tally, const Run& run);

void ApplyTally(const JobTally& tally, Job& job);

// Whether a job's bookkeeping changes when a run goes from one state to the other.
constexpr bool EndsForJob(RunState before, RunState after) {
    const auto over = [](RunState state) {
        return IsFinal(state) || state == RunState::kCompleting || state == RunState::kHeld;
    };
    return !over(before) && over(after);
}

}  // namespace ksana::model
