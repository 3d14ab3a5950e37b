#pragma once

#include <string>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job_tally.hpp"
#include "ksana/store_kit/driver/transaction.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

// The ended runs of each job, for lists and statistics of one job. A run that ends is noted in
// job_state.recent, together with what else its end changes there. Now and then those of a job move
// to job_runs, where they are in order: then neighbours come together, and a page is written for
// many of them instead of for one. Whoever reads a job's runs looks into both.

namespace ksana::store_sqlite {

// Adds to the bookkeeping of jobs, and notes the runs that ended.
Result<void> AddTallyRows(WriteSession& session, const std::vector<model::JobTally>& tallies);

// Runs that were just written: those that are final and that no tally has noted.
Result<void> NoteFinalRuns(WriteSession& session, const store_kit::RunRefs& runs,
                           const std::vector<std::int64_t>& seqs);
// A run that was inserted as one that has ended.
Result<void> ListEndedRun(WriteSession& session, const model::Run& run, std::int64_t seq);

// Before the run, or the row of the job, is deleted.
Result<void> UnlistRun(WriteSession& session, const model::Run& run);
Result<void> ListRecentRuns(ReadSession& session, const std::string& job_id);

}  // namespace ksana::store_sqlite
