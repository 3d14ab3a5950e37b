#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// A row of the table job_state.
struct JobStateRow {
    std::string id;
    std::int64_t revision = 0;  // identifies the definition in `jobs` that belongs to this row
    model::JobState state;      // without version, created_at and updated_at: those are in `jobs`
};

// Returns a SELECT of the columns for ReadJobState, from job_state s.
std::string SelectJobStates(std::string_view rest);
// Returns a SELECT of the columns for ReadJobState and then ReadDefinition, from job_state s and
// jobs j.
std::string SelectJobs(std::string_view rest);
// As SelectJobs, for the jobs with the ids in $1::text[]. The rows are looked up one by one,
// whatever number of them the planner expects. `rest` filters and orders them.
std::string SelectJobsAmong(std::string_view rest);

JobStateRow ReadJobState(RowReader& row);
// Reads definition, version, created_at and updated_at. Returns kDataLoss if the definition cannot
// be parsed.
Result<model::Job> ReadDefinition(RowReader& row);

// Returns the job with the definition from `stored` (as ReadDefinition returns it) and the state
// from `row`.
model::Job Combine(const model::Job& stored, const JobStateRow& row);

// Cache of job definitions by revision. The database gives every version of every job its own
// revision, so an entry is never outdated. Holds at most kMaxJobs entries. Owned by
// PostgresBackend. Thread-safe.
class JobCache {
  public:
    // Returns null if the revision is not cached.
    std::shared_ptr<const model::Job> Find(std::int64_t revision);
    void Remember(std::int64_t revision, model::Job job);

  private:
    static constexpr std::size_t kMaxJobs = 50'000;

    Mutex mutex_;
    std::unordered_map<std::int64_t, std::shared_ptr<const model::Job>> jobs_
        KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store_postgres
