#include "ksana/store_postgres/rows/job_columns.hpp"

#include <fmt/core.h>

#include "ksana/store_kit/driver/job_definition.hpp"
#include "ksana/store_kit/driver/rows.hpp"

namespace ksana::store_postgres {
namespace {

constexpr std::string_view kStateColumns =
    "s.id, s.revision, s.planned_until, s.next_run_at, s.last_run_at, s.last_state, "
    "s.last_error, s.total_runs, s.consecutive_failures, s.dependants";

constexpr std::string_view kDefinitionColumns =
    "j.definition, j.version, j.created_at, j.updated_at";

}  // namespace

std::string SelectJobStates(std::string_view rest) {
    return fmt::format("SELECT {} FROM ksana.job_state s {}", kStateColumns, rest);
}

std::string SelectJobs(std::string_view rest) {
    return fmt::format("SELECT {}, {} FROM ksana.job_state s JOIN ksana.jobs j ON j.id = s.id {}",
                       kStateColumns, kDefinitionColumns, rest);
}

// OFFSET 0 keeps the planner from joining whole tables.
std::string SelectJobsAmong(std::string_view rest) {
    return fmt::format(
        "SELECT {}, {} FROM unnest($1::text[]) AS a(id) CROSS JOIN LATERAL ("
        "SELECT * FROM ksana.job_state s WHERE s.id = a.id OFFSET 0) s CROSS JOIN LATERAL ("
        "SELECT * FROM ksana.jobs j WHERE j.id = a.id OFFSET 0) j {}",
        kStateColumns, kDefinitionColumns, rest);
}

JobStateRow ReadJobState(RowReader& row) {
    JobStateRow read;
    read.id = row.Text();
    read.revision = row.Int64();
    model::JobState& state = read.state;
    state.planned_until = row.MaybeTime();
    state.next_run_at = row.TimeOrNone(store_kit::kNoTime);
    state.last_run_at = row.TimeOrNone(store_kit::kNoTime);
    state.last_state = row.MaybeEnum<model::RunState>();
    state.last_error = row.Text();
    state.total_runs = row.Int64();
    state.consecutive_failures = row.Int32();
    state.dependants = row.Int32();
    return read;
}

Result<model::Job> ReadDefinition(RowReader& row) {
    auto job = store_kit::DefinitionFromText(row.Text());
    if (!job) return job;
    job->state.version = row.Int64();
    job->state.created_at = row.Time();
    job->state.updated_at = row.Time();
    return job;
}

model::Job Combine(const model::Job& stored, const JobStateRow& row) {
    model::Job job{stored.definition(), row.state};
    job.state.version = stored.state.version;
    job.state.created_at = stored.state.created_at;
    job.state.updated_at = stored.state.updated_at;
    return job;
}

std::shared_ptr<const model::Job> JobCache::Find(std::int64_t revision) {
    const MutexLock lock(mutex_);
    const auto found = jobs_.find(revision);
    return found == jobs_.end() ? nullptr : found->second;
}

// When the cache is full, drops all entries: this is rare, and entries are read again as needed.
void JobCache::Remember(std::int64_t revision, model::Job job) {
    auto kept = std::make_shared<const model::Job>(std::move(job));
    const MutexLock lock(mutex_);
    if (jobs_.size() >= kMaxJobs) jobs_.clear();
    jobs_.insert_or_assign(revision, std::move(kept));
}

}  // namespace ksana::store_postgres
