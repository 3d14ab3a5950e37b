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
#include "ksana/store_postgres/wire/rows.hpp"

namespace ksana::store_postgres {

// A row of the table job_state.
struct JobStateRow {
    std::string id;
    std::int64_t revision = 0;  // names the definition that belongs to it
    model::JobState state;      // without version, created_at and updated_at: those are in jobs
};

// Selects what ReadJobState takes, from job_state s.
std::string SelectJobStates(std::string_view rest);
// Selects what ReadJobState and then ReadDefinition take, from job_state s and jobs j.
std::string SelectJobs(std::string_view rest);
// The same of the jobs with the ids that $1::text[] holds, found one by one whatever the planner
// thinks of their number; `rest` says which of them.
std::string SelectJobsAmong(std::string_view rest);

JobStateRow ReadJobState(RowReader& row);
// Definition, version, created_at and updated_at.
Result<model::Job> ReadDefinition(RowReader& row);

// `stored` is what ReadDefinition has read.
model::Job Combine(const model::Job& stored, const JobStateRow& row);

// Definitions that were read, by their revision: the number that the database gives every version
// of every job once, so that nothing here is ever outdated. Bounded. Thread-safe.
class JobCache {
  public:
    std::shared_ptr<const model::Job> Find(std::int64_t revision);
    void Remember(std::int64_t revision, model::Job job);

  private:
    static constexpr std::size_t kMaxJobs = 50'000;

    Mutex mutex_;
    std::unordered_map<std::int64_t, std::shared_ptr<const model::Job>> jobs_
        KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store_postgres
