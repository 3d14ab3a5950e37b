#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job_tally.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

// The finished runs of each job, for lists and statistics of one job. The end of a run appends its
// seq to job_state.recent, in the same update as the job's bookkeeping. From time to time the
// recent runs of a job move to job_runs, where they are in order: neighbours are then written
// together, one page for many of them instead of one page for each. Every read of a job's runs
// looks into both.

namespace ksana::store_sqlite {

// Adds to the bookkeeping of jobs, and records the runs that ended.
Result<void> AddTallyRows(WriteSession& session, const std::vector<model::JobTally>& tallies);

// Records the final runs among those that were just written, except for those that a tally has
// recorded.
Result<void> NoteFinalRuns(WriteSession& session, const store_kit::RunRefs& runs,
                           const std::vector<std::int64_t>& seqs);
// Records a run that was inserted in a final state.
Result<void> ListEndedRun(WriteSession& session, const model::Run& run, std::int64_t seq);

// Call before the run, or the row of the job, is deleted.
Result<void> UnlistRun(WriteSession& session, const model::Run& run);
// Moves the recent runs of the job to job_runs.
Result<void> ListRecentRuns(ReadSession& session, const std::string& job_id);

}  // namespace ksana::store_sqlite
