#pragma once

#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/job/job_tally.hpp"
#include "ksana/store_sqlite/wire/session.hpp"

// Jobs as rows: the definition in jobs, the bookkeeping of the engine in job_state.

namespace ksana::store_sqlite {

// Reads the remaining rows of a query whose columns are KSANA_JOB_COLUMNS.
Result<std::vector<model::Job>> ReadJobs(Query& query);
Result<std::vector<model::Job>> LoadJobs(ReadSession& session, const std::vector<std::string>& ids);

// Returns for each job whether it was inserted: false if the id exists.
Result<std::vector<bool>> InsertJobRows(ReadSession& session, const std::vector<model::Job>& jobs);
Result<void> UpdateJobRows(ReadSession& session, const std::vector<model::Job>& jobs);
Result<void> UpdatePlanRows(ReadSession& session, const std::vector<model::Job>& jobs);
Result<void> UpdateDependantRows(ReadSession& session, const std::vector<model::Job>& jobs);
Result<void> DeleteJobRow(ReadSession& session, const std::string& id);

}  // namespace ksana::store_sqlite
