#include <unordered_map>
#include <unordered_set>

#include "ksana/model/job/dependency.hpp"
#include "ksana/store_kit/driver/job_definition.hpp"
#include "ksana/store_postgres/rows/job_columns.hpp"
#include "ksana/store_postgres/rows/packed_run.hpp"
#include "ksana/store_postgres/rows/postgres_transaction.hpp"

// Jobs: the definition is in `jobs`, the bookkeeping in `job_state`, whose row is the job's lock.

namespace ksana::store_postgres {
namespace {

using model::Job;
using model::JobTally;
using store_kit::kNoTime;

const std::string& JobsById() {
    static const std::string kSql = SelectJobs("WHERE s.id = ANY($1::text[])");
    return kSql;
}

const std::string& LockById(LockWait patience) {
    static const std::string kWait =
        SelectJobStates("WHERE s.id = ANY($1::text[]) ORDER BY s.id FOR UPDATE");
    static const std::string kNoWait = kWait + " NOWAIT";
    return patience == LockWait::kWait ? kWait : kNoWait;
}

const std::string& LockDue() {
    static const std::string kSql = SelectJobStates(
        "WHERE s.enabled AND s.next_run_at <= $1::bigint ORDER BY s.next_run_at, s.id "
        "LIMIT $2::bigint FOR UPDATE SKIP LOCKED");
    return kSql;
}

constexpr std::string_view kDefinitions =
    "SELECT revision, definition, version, created_at, updated_at FROM ksana.jobs "
    "WHERE revision = ANY($1::bigint[]) AND id = ANY($2::text[])";

constexpr std::string_view kInsertJobs =
    "WITH v AS (SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], "
    "$5::text[], $6::text[], $7::text[], $8::smallint[], $9::text[], $10::text[], $11::text[], "
    "$12::bigint[], $13::bigint[], $14::boolean[], $15::bigint[], $16::bigint[], $17::text[], "
    "$18::bigint[], $19::smallint[], $20::text[], $21::bigint[], $22::integer[]) AS v(id, version, "
    "definition, tenant, grp, owner, name, kind, type, labels, depends_on, created_at, updated_at, "
    "enabled, planned_until, next_run_at, calendar, last_run_at, last_state, last_error, "
    "total_runs, "
    "consecutive_failures)), "
    "s AS (INSERT INTO ksana.job_state (id, revision, enabled, planned_until, next_run_at, "
    "last_run_at, last_state, last_error, total_runs, consecutive_failures) "
    "SELECT id, nextval('ksana.job_revisions'), enabled, planned_until, next_run_at, last_run_at, "
    "last_state, last_error, total_runs, consecutive_failures FROM v ORDER BY id "
    "ON CONFLICT DO NOTHING RETURNING id, revision), "
    "j AS (INSERT INTO ksana.jobs (id, revision, version, definition, tenant, grp, owner, name, "
    "kind, type, labels, depends_on, created_at, updated_at, enabled, calendar) "
    "SELECT id, s.revision, version, definition, tenant, grp, owner, name, kind, type, "
    "labels::text[], depends_on::text[], created_at, updated_at, enabled, calendar FROM v "
    "JOIN s USING (id)) "
    "SELECT id FROM s";

constexpr std::string_view kUpdateJobs =
    "WITH v AS (SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], "
    "$5::text[], $6::text[], $7::text[], $8::smallint[], $9::text[], $10::text[], $11::text[], "
    "$12::bigint[], $13::bigint[], $14::boolean[], $15::bigint[], $16::bigint[], $17::text[]) "
    "AS v(id, version, definition, tenant, grp, owner, name, kind, type, labels, depends_on, "
    "created_at, updated_at, enabled, planned_until, next_run_at, calendar)), "
    "s AS (UPDATE ksana.job_state s SET revision = nextval('ksana.job_revisions'), "
    "enabled = v.enabled, planned_until = v.planned_until, next_run_at = v.next_run_at "
    "FROM v WHERE s.id = v.id RETURNING s.id, s.revision) "
    "UPDATE ksana.jobs j SET revision = s.revision, version = v.version, "
    "definition = v.definition, tenant = v.tenant, grp = v.grp, owner = v.owner, name = v.name, "
    "kind = v.kind, type = v.type, labels = v.labels::text[], "
    "depends_on = v.depends_on::text[], updated_at = v.updated_at, enabled = v.enabled, "
    "calendar = v.calendar "
    "FROM v JOIN s USING (id) WHERE j.id = v.id";

constexpr std::string_view kUpdatePlans =
    "UPDATE ksana.job_state s SET planned_until = v.planned_until, next_run_at = v.next_run_at "
    "FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS v(id, planned_until, next_run_at) "
    "WHERE s.id = v.id";

constexpr std::string_view kUpdateDependants =
    "UPDATE ksana.job_state s SET dependants = v.dependants "
    "FROM unnest($1::text[], $2::integer[]) AS v(id, dependants) WHERE s.id = v.id";

// Does what model::ApplyTally does. Locks the rows in the same statement and without waiting: a job
// may have been deleted and created again since this transaction locked its jobs, and another
// transaction may hold the new row.
constexpr std::string_view kAddTallies =
    "WITH l AS (SELECT id FROM ksana.job_state WHERE id = ANY($1::text[]) ORDER BY id "
    "FOR UPDATE NOWAIT) UPDATE ksana.job_state s SET total_runs = s.total_runs + v.runs, "
    "consecutive_failures = CASE WHEN v.reset THEN 0 ELSE s.consecutive_failures END + v.failures, "
    "last_run_at = coalesce(v.last_run_at, s.last_run_at), "
    "last_state = coalesce(v.last_state, s.last_state), "
    "last_error = CASE WHEN v.last_state IS NULL THEN s.last_error ELSE v.last_error END "
    "FROM unnest($1::text[], $2::bigint[], $3::boolean[], $4::integer[], $5::bigint[], "
    "$6::smallint[], $7::text[]) AS v(id, runs, reset, failures, last_run_at, last_state, "
    "last_error) JOIN l ON l.id = v.id WHERE s.id = v.id";

constexpr std::string_view kDeleteJob =
    "WITH s AS (DELETE FROM ksana.job_state WHERE id = $1::text) "
    "DELETE FROM ksana.jobs WHERE id = $1::text";

std::int64_t OrNoTime(const std::optional<TimePoint>& time) {
    return Micros(time).value_or(kNoTime);
}

using JobRefs = std::vector<const Job*>;

// Parameters 1 to 17 of kInsertJobs and kUpdateJobs.
Params DefinitionParams(const JobRefs& jobs) {
    const auto text = [](std::string Job::*member) {
        return [member](const Job* job) -> const std::string& { return job->*member; };
    };
    return std::move(
        Params()
            .Array(jobs, text(&Job::id))
            .Array(jobs, [](const Job* job) { return job->state.version; })
            .Array(jobs, [](const Job* job) { return store_kit::DefinitionText(*job); })
            .Array(jobs, text(&Job::tenant))
            .Array(jobs, text(&Job::group))
            .Array(jobs, text(&Job::owner))
            .Array(jobs, text(&Job::name))
            .Array(jobs, [](const Job* job) { return Small(model::KindOf(job->action)); })
            .Array(jobs, [](const Job* job) { return store::RunTypeOf(*job); })
            .Array(jobs, [](const Job* job) { return ArrayText(PairTexts(job->labels)); })
            .Array(jobs, [](const Job* job) { return ArrayText(model::ParentsOf(*job)); })
            .Array(jobs, [](const Job* job) { return Micros(job->state.created_at); })
            .Array(jobs, [](const Job* job) { return Micros(job->state.updated_at); })
            .Array(jobs, [](const Job* job) { return job->enabled; })
            .Array(jobs, [](const Job* job) { return Micros(job->state.planned_until); })
            .Array(jobs, [](const Job* job) { return OrNoTime(job->state.next_run_at); })
            .Array(jobs,
                   [](const Job* job) -> const std::string& { return job->schedule.calendar; }));
}

// Returns the first job of each id.
JobRefs Distinct(const std::vector<Job>& jobs) {
    JobRefs refs;
    std::unordered_set<std::string_view> seen;
    for (const Job& job : jobs) {
        if (seen.insert(job.id).second) refs.push_back(&job);
    }
    return refs;
}

}  // namespace

Result<std::vector<Job>> PostgresTransaction::Jobs(const std::vector<std::string>& ids) {
    if (ids.empty()) return std::vector<Job>();
    KSANA_TRY(const Rows rows, session_.Query(JobsById(), Params().Array(ids)));
    return ReadJobs(rows);
}

Result<std::vector<Job>> PostgresTransaction::ReadJobs(const Rows& rows) {
    std::vector<Job> jobs;
    jobs.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        const JobStateRow state = ReadJobState(row);
        auto definition = jobs_.Find(state.revision);
        if (!definition) {
            KSANA_TRY(Job read, ReadDefinition(row));
            jobs_.Remember(state.revision, read);
            definition = std::make_shared<const Job>(std::move(read));
        }
        jobs.push_back(Combine(*definition, state));
    }
    return jobs;
}

// While waiting for a lock the definition may have changed, which the locking statement does not
// see. So a later statement reads the definition that belongs to the locked row, unless it is
// cached.
Result<std::vector<Job>> PostgresTransaction::ReadLockedJobs(const Rows& rows) {
    std::vector<JobStateRow> states;
    std::vector<std::int64_t> missing;
    std::vector<std::string> missing_ids;
    std::unordered_map<std::int64_t, std::shared_ptr<const Job>> definitions;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        const JobStateRow& state = states.emplace_back(ReadJobState(row));
        locks_.NoteHeld(state.id);
        auto known = jobs_.Find(state.revision);
        if (known) {
            definitions.emplace(state.revision, std::move(known));
        } else {
            missing.push_back(state.revision);
            missing_ids.push_back(state.id);
        }
    }
    if (!missing.empty()) {
        KSANA_TRY(const Rows read,
                  session_.Query(kDefinitions, Params().Array(missing).Array(missing_ids)));
        for (std::size_t i = 0; i < read.size(); ++i) {
            RowReader row(read, i);
            const std::int64_t revision = row.Int64();
            KSANA_TRY(Job job, ReadDefinition(row));
            jobs_.Remember(revision, job);
            definitions.emplace(revision, std::make_shared<const Job>(std::move(job)));
        }
    }
    std::vector<Job> jobs;
    jobs.reserve(states.size());
    for (const JobStateRow& state : states) {
        const auto found = definitions.find(state.revision);
        if (found == definitions.end()) {
            return Error(Code::kDataLoss, "a job has no definition: " + state.id);
        }
        jobs.push_back(Combine(*found->second, state));
    }
    return jobs;
}

Result<std::vector<Job>> PostgresTransaction::LockJobs(const std::vector<std::string>& ids) {
    if (ids.empty()) return std::vector<Job>();
    const std::string& sql = LockById(locks_.ForJobs(ids));
    KSANA_TRY(const Rows rows, session_.Query(sql, Params().Array(ids)));
    return ReadLockedJobs(rows);
}

Result<std::vector<Job>> PostgresTransaction::LockDueJobs(TimePoint until, std::size_t limit) {
    KSANA_TRY(const Rows rows,
              session_.Query(LockDue(),
                             Params().Add(Micros(until)).Add(static_cast<std::int64_t>(limit))));
    return ReadLockedJobs(rows);
}

Result<std::vector<bool>> PostgresTransaction::InsertJobs(const std::vector<Job>& jobs) {
    if (jobs.empty()) return std::vector<bool>();
    const JobRefs refs = Distinct(jobs);
    Params params = DefinitionParams(refs);
    params.Array(refs, [](const Job* job) { return OrNoTime(job->state.last_run_at); })
        .Array(refs, [](const Job* job) { return Small(job->state.last_state); })
        .Array(refs, [](const Job* job) -> const std::string& { return job->state.last_error; })
        .Array(refs, [](const Job* job) { return job->state.total_runs; })
        .Array(refs, [](const Job* job) { return job->state.consecutive_failures; });
    KSANA_TRY(const Rows rows, session_.Query(kInsertJobs, std::move(params)));
    std::unordered_set<std::string> inserted;
    for (std::size_t i = 0; i < rows.size(); ++i) inserted.insert(RowReader(rows, i).Text());
    std::vector<bool> outcomes;
    for (const Job& job : jobs) outcomes.push_back(inserted.erase(job.id) != 0);
    return outcomes;
}

Result<void> PostgresTransaction::UpdateJobs(const std::vector<Job>& jobs) {
    if (!jobs.empty()) session_.Defer(kUpdateJobs, DefinitionParams(Distinct(jobs)));
    return {};
}

Result<void> PostgresTransaction::UpdatePlans(const std::vector<Job>& jobs) {
    if (jobs.empty()) return {};
    session_.Defer(
        kUpdatePlans,
        Params()
            .Array(jobs, [](const Job& job) -> const std::string& { return job.id; })
            .Array(jobs, [](const Job& job) { return Micros(job.state.planned_until); })
            .Array(jobs, [](const Job& job) { return OrNoTime(job.state.next_run_at); }));
    return {};
}

Result<void> PostgresTransaction::UpdateDependants(const std::vector<Job>& jobs) {
    if (jobs.empty()) return {};
    session_.Defer(kUpdateDependants,
                   Params()
                       .Array(jobs, [](const Job& job) -> const std::string& { return job.id; })
                       .Array(jobs, [](const Job& job) { return job.state.dependants; }));
    return {};
}

Result<void> PostgresTransaction::AddTallies(const std::vector<JobTally>& tallies) {
    if (tallies.empty()) return {};
    const auto id = [](const JobTally& tally) -> const std::string& { return tally.job_id; };
    std::set<std::string> asked;
    for (const JobTally& tally : tallies) asked.insert(tally.job_id);
    locks_.ForJobs(asked);
    session_.DeferFirst(
        kAddTallies,
        Params()
            .Array(tallies, id)
            .Array(tallies, [](const JobTally& tally) { return tally.runs; })
            .Array(tallies, [](const JobTally& tally) { return tally.failures_reset; })
            .Array(tallies, [](const JobTally& tally) { return tally.failures; })
            .Array(tallies, [](const JobTally& tally) { return Micros(tally.last_run_at); })
            .Array(tallies, [](const JobTally& tally) { return Small(tally.last_state); })
            .Array(tallies,
                   [](const JobTally& tally) -> const std::string& { return tally.last_error; }));
    return {};
}

Result<void> PostgresTransaction::DeleteJob(const std::string& id) {
    session_.Defer(kDeleteJob, Params().Add(id));
    return {};
}

}  // namespace ksana::store_postgres
