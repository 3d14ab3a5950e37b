#include "ksana/model/job/job_tally.hpp"

namespace ksana::model {

void AddToTally(JobTally& tally, const Run& run) {
    const RunStatus& status = run.status;
    tally.last_state = status.state;
    tally.last_error = status.last_error;
    if (status.started_at) tally.last_run_at = status.started_at;
    switch (status.state) {
        case RunState::kCompleting:
        case RunState::kSucceeded:
            tally.runs += 1;
            tally.failures_reset = true;
            tally.failures = 0;
            break;
        case RunState::kFailed:
        case RunState::kTimedOut:
        case RunState::kHeld:
            tally.runs += 1;
            tally.failures += 1;
            break;
        default:
            if (status.attempt > 0) tally.runs += 1;
            break;
    }
}

void ApplyTally(const JobTally& tally, Job& job) {
    job.state.total_runs += tally.runs;
    if (tally.failures_reset) job.state.consecutive_failures = 0;
    job.state.consecutive_failures += tally.failures;
    if (tally.last_run_at) job.state.last_run_at = tally.last_run_at;
    if (tally.last_state) {
        job.state.last_state = tally.last_state;
        job.state.last_error = tally.last_error;
    }
}

}  // namespace ksana::model
