#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/audit_event.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/model/job/job_tally.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/store/job_query.hpp"
#include "ksana/store/run_store.hpp"
#include "ksana/store/statistics.hpp"

namespace ksana::store {

// The result of planning one job's fires. Written in one transaction or not at all.
struct JobPlan {
    std::vector<model::Run> runs;  // one per fire, with its nominal time
    // The other runs of a broadcast: each has one of `runs` as its parent, and is stored if and
    // only if that one is stored and not skipped. The parent is skipped if any run of the job has
    // not ended, unless the job allows overlap; none of them counts against the others.
    std::vector<model::Run> followers = {};
    std::vector<model::LedgerRange> ranges;  // fires that make no run
    TimePoint planned_until{};               // every fire up to here is accounted for
    std::optional<TimePoint> next_run_at;    // none: the job does not fire again
    std::optional<model::JobTally> tally;    // what `ranges` change in the job's bookkeeping
};

enum class WriteMode : std::uint8_t {
    kCreate,   // kAlreadyExists if the job exists
    kReplace,  // kNotFound if it does not
    kUpsert,
};

// A write of one job's definition, optionally with a plan. The store keeps the bookkeeping of an
// existing job (last_run_at, total_runs, …) and sets version, created_at and updated_at.
struct JobWrite {
    model::Job job;
    WriteMode mode = WriteMode::kCreate;
    // kConflict if the stored version differs; kNotFound if a version above 0 is expected of a job
    // that does not exist.
    std::optional<std::int64_t> expected_version;
    // Without a plan, a new job takes planned_until and next_run_at from `job`, and an existing job
    // keeps its own. With a plan, job.planned_until must equal the stored one; otherwise the
    // planner was faster and the outcome is kConflict: read the job again.
    std::optional<JobPlan> plan;
    // Stored in the same transaction as the job; the store sets `at`.
    std::optional<model::AuditEvent> audit;
};

struct WriteJobsParams {
    std::optional<TimePoint> now;  // none: the store's clock
    std::vector<JobWrite> writes;  // at most kMaxBatch
};

struct DeleteJobParams {
    std::optional<TimePoint> now;
    std::string id;
    std::optional<std::int64_t> expected_version;
    std::optional<model::AuditEvent> audit;  // as in JobWrite
};

struct PlanParams {
    std::optional<TimePoint> now;
    // Also plans jobs that become due within this time. Skips a job whose fire must not overlap
    // with a run that has not ended: such a fire is decided when its time has come.
    Duration look_ahead{};
    std::size_t limit = 100;       // jobs; at most kMaxBatch
    std::optional<StartAs> start;  // runs that can start at once are stored as started
};

struct PlanJobsParams {
    std::optional<TimePoint> now;
    std::vector<std::string> ids;  // at most kMaxBatch
};

// Fires by fate.
using FireCounts = std::array<std::int64_t, model::kEnumCount<model::FireFate>>;

struct Planned {
    TimePoint now{};  // time of the transaction
    std::size_t jobs = 0;
    std::size_t runs = 0;        // stored
    std::size_t duplicates = 0;  // not stored: the fire already had a run
    // Of `runs`: stored as skipped, because an earlier run of the job has not ended.
    std::size_t skipped = 0;
    FireCounts without_run{};  // fires that made no run
    std::vector<model::Run> started;
    std::vector<model::Job> of_started;  // contains the jobs of `started`, in the same order
    bool more = false;                   // more jobs are due: call again
};

// Decides the fires of one job. Called inside the transaction, possibly more than once for a job.
// Must be pure and quick, and must not call the store. `now` is the time of the transaction.
using Planner = std::function<JobPlan(const model::Job& job, TimePoint now)>;

// Makes the run of a job for a fire. Called inside a transaction, possibly more than once. Must be
// pure, quick and thread-safe, and must not call the store.
using RunMaker = std::function<model::Run(const model::Job& job)>;

struct StatisticsParams {
    std::string job_id;
    std::optional<TimePoint> from;   // runs that ended at or after this
    std::optional<TimePoint> until;  // runs that ended before this
};

struct LedgerParams {
    std::string job_id;             // empty: all jobs
    std::optional<TimePoint> from;  // entries that overlap [from, until)
    std::optional<TimePoint> until;
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
};

// The jobs and the ledger of their fires. Owned by the Store. Thread-safe. Each call is one
// transaction; after an error nothing has changed (store.hpp names the exception). Invalid input is
// kInvalidArgument.
class JobStore {
  public:
    virtual ~JobStore() = default;

    // Writes the jobs in one transaction and returns one outcome per write, in order: the stored
    // job or an error (see JobWrite; kInvalidArgument for bad input or an id that occurs twice). An
    // error outcome does not affect the other writes. Jobs named in depends_on and in `after`
    // schedules must exist or be written before it in the same call, and must not form a cycle,
    // also with changes that other callers make at the same time; else the outcome is
    // kInvalidArgument. The call itself fails, with nothing written, if the store fails or if
    // another writer has just created a job that comes with a plan (kConflict: try again).
    virtual Result<std::vector<Result<model::Job>>> Write(WriteJobsParams params) = 0;
    // Deletes the job and cancels its runs that have had no attempt yet; other runs go on. Returns
    // kNotFound if there is no such job, kConflict if the version differs or another job depends on
    // it.
    virtual Result<void> Delete(DeleteJobParams params) = 0;

    // Returns kNotFound if there is no such job.
    virtual Result<model::Job> Get(const std::string& id) = 0;
    // Returns the jobs that exist, in the order of `ids` (at most kMaxBatch).
    virtual Result<std::vector<model::Job>> GetMany(const std::vector<std::string>& ids) = 0;
    virtual Result<Page<model::Job>> List(const JobQuery& query) = 0;
    // Returns the ids of the jobs that name this one in depends_on or in an `after` schedule.
    virtual Result<std::vector<std::string>> Dependants(const std::string& id) = 0;
    virtual Result<Counted> CountWithin(const JobFilter& filter, const CountBounds& bounds) = 0;
    // Counts matching jobs, at most up to `most`.
    Result<std::int64_t> Count(const JobFilter& filter, std::int64_t most) {
        KSANA_TRY(const Counted counted, CountWithin(filter, {.most = most}));
        return counted.count;
    }
    virtual Result<std::vector<GroupSize>> Groups(const GroupQuery& query) = 0;

    // Takes enabled jobs whose next fire is due and writes what `planner` returns for each, in one
    // transaction. On PostgreSQL it skips jobs that another transaction has locked. A fire that has
    // a run, made by any node, gets no second one.
    virtual Result<Planned> PlanDue(const PlanParams& params, const Planner& planner) = 0;

    // Does the same for the given jobs, due or not, enabled or not: for when the meaning of their
    // schedules has changed. Does not change their versions; ignores ids that do not exist.
    virtual Result<Planned> PlanJobs(const PlanJobsParams& params, const Planner& planner) = 0;

    // Summarises the latest kMaxStatisticsRuns final runs of the window.
    virtual Result<JobStatistics> Statistics(const StatisticsParams& params) = 0;
    // Lists entries in the order in which they were recorded.
    virtual Result<Page<model::LedgerEntry>> Ledger(const LedgerParams& params) = 0;
    // Returns the run that the fire made, if any.
    virtual Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                                       TimePoint nominal) = 0;
    // Returns those of `nominals` (at most kMaxBatch) that have a run, in the same order.
    virtual Result<std::vector<TimePoint>> FindFires(const std::string& job_id,
                                                     const std::vector<TimePoint>& nominals) = 0;
};

}  // namespace ksana::store
