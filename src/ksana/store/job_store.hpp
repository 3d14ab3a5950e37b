#pragma once

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

// What is to be written about the fires of a job, all of it or nothing.
struct JobPlan {
    std::vector<model::Run> runs;            // each with its nominal time
    std::vector<model::LedgerRange> ranges;  // fires without a run
    TimePoint planned_until{};               // every fire up to here is now accounted for
    std::optional<TimePoint> next_run_at;    // none: it will not fire again
    std::optional<model::JobTally> tally;    // what `ranges` change about the bookkeeping
};

enum class WriteMode : std::uint8_t {
    kCreate,   // fails when it is there
    kReplace,  // fails when it is not
    kUpsert,
};

// Definition and plan of one job. Bookkeeping (last_run_at, total_runs, …) stays as the store has
// it; version, created_at and updated_at are set by the store.
struct JobWrite {
    model::Job job;
    WriteMode mode = WriteMode::kCreate;
    std::optional<std::int64_t> expected_version;  // fails with kConflict when it is another one
    // For a new job its planned_until and next_run_at are taken from `job` itself. An existing one
    // keeps its own unless a plan is given, which is written if job.planned_until is still what the
    // store has (else kConflict: the planner was faster, ask again).
    std::optional<JobPlan> plan;
    // Kept in the same transaction if the job is written; the store sets `at`.
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
    std::optional<model::AuditEvent> audit;  // as that of a JobWrite
};

struct PlanParams {
    std::optional<TimePoint> now;
    // Also jobs that are due within this, unless a run of the job that must not overlap with the
    // fire is not over: what becomes of such a fire is decided when its time has come.
    Duration look_ahead{};
    std::size_t limit = 100;       // jobs
    std::optional<StartAs> start;  // runs that can start at once are stored as started
};

struct PlanJobsParams {
    std::optional<TimePoint> now;
    std::vector<std::string> ids;  // at most kMaxBatch
};

struct Planned {
    TimePoint now{};  // of the transaction
    std::size_t jobs = 0;
    std::size_t runs = 0;        // written
    std::size_t duplicates = 0;  // not written: the fire had a run already
    std::size_t skipped = 0;     // of `runs`: an earlier run of the job was not over
    std::vector<model::Run> started;
    std::vector<model::Job> of_started;  // at least the jobs of these, in the same order
    bool more = false;                   // further jobs are due: call again
};

// Called inside the transaction, perhaps more than once for the same job: pure, quick, and without
// a call of the store. `now` is the time of the transaction.
using Planner = std::function<JobPlan(const model::Job& job, TimePoint now)>;

struct StatisticsParams {
    std::string job_id;
    std::optional<TimePoint> from;   // runs that ended at or after this
    std::optional<TimePoint> until;  // and before this
};

struct LedgerParams {
    std::string job_id;             // empty: of all jobs
    std::optional<TimePoint> from;  // entries that reach into [from, until)
    std::optional<TimePoint> until;
    std::size_t limit = kDefaultPageSize;
    std::string cursor;
};

// Jobs and the account of their fires. Thread-safe.
class JobStore {
  public:
    virtual ~JobStore() = default;

    // Each with its own outcome; the call fails as a whole when the store does.
    virtual Result<std::vector<Result<model::Job>>> Write(WriteJobsParams params) = 0;
    // Runs that have not started are cancelled with it; what runs is left to end. Refused with
    // kConflict while another job depends on it.
    virtual Result<void> Delete(DeleteJobParams params) = 0;

    virtual Result<model::Job> Get(const std::string& id) = 0;
    // Those that exist, in the order asked for.
    virtual Result<std::vector<model::Job>> GetMany(const std::vector<std::string>& ids) = 0;
    virtual Result<Page<model::Job>> List(const JobQuery& query) = 0;
    virtual Result<Counted> CountWithin(const JobFilter& filter, const CountBounds& bounds) = 0;
    // Counts up to `most` and stops there.
    Result<std::int64_t> Count(const JobFilter& filter, std::int64_t most) {
        KSANA_TRY(const Counted counted, CountWithin(filter, {.most = most}));
        return counted.count;
    }
    virtual Result<std::vector<GroupSize>> Groups(const GroupQuery& query) = 0;

    // Takes enabled jobs whose next fire is due (on PostgreSQL those that no other node has in
    // hand), and writes what `planner` says about each in one transaction. A nominal time that has
    // a run already gets no second one, whoever made it.
    virtual Result<Planned> PlanDue(const PlanParams& params, const Planner& planner) = 0;

    // The same for these jobs, due or not, enabled or not: what their schedules mean has changed.
    // Their versions stay. Those that are not there are left out.
    virtual Result<Planned> PlanJobs(const PlanJobsParams& params, const Planner& planner) = 0;

    // Over the latest kMaxStatisticsRuns final runs of the window.
    virtual Result<JobStatistics> Statistics(const StatisticsParams& params) = 0;
    // By the order in which they were recorded.
    virtual Result<Page<model::LedgerEntry>> Ledger(const LedgerParams& params) = 0;
    // The run of a fire, if it made one.
    virtual Result<std::optional<model::Run>> FindFire(const std::string& job_id,
                                                       TimePoint nominal) = 0;
    // Those of the times (at most kMaxBatch) that have a run, in the order asked for.
    virtual Result<std::vector<TimePoint>> FindFires(const std::string& job_id,
                                                     const std::vector<TimePoint>& nominals) = 0;
};

}  // namespace ksana::store
