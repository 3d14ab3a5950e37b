#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ksana::store_sqlite {

// All SQL except for lists with filters (lists/list_sql.hpp), in one place, so that query_plan_test
// can check the plan of each statement.
enum class Sql : std::uint8_t {
    kBegin,
    kBeginRead,
    kTakeSnapshot,
    kCommit,
    kRollback,
    kFindSchemaTable,
    kListMigrations,
    kRecordMigration,
    kFindPolicy,
    kLoadPolicy,
    kListPolicies,
    kInsertPolicy,

    kInsertRuns,
    kUpdateRuns,
    kUpdateUnkeyedRuns,
    kUpdateTasks,
    kUpdateUnkeyedTasks,
    kFindRun,
    kNewestRun,
    kLastSeq,
    kLoadRun,
    kLoadRow,
    kDeleteRuns,
    kInsertPayload,
    kLoadPayload,
    kDeletePayload,
    kFindInRange,
    kFirstInRange,
    kIdsInRange,
    kCountInRange,
    kDepthsInRange,
    kFindTagged,
    kFirstTaggedType,
    kNextTaggedType,
    kInsertTag,
    kDeleteTag,
    kInsertReadyTag,
    kDeleteReadyTag,
    kLoadPlace,
    kGatesOfJob,
    kFindGated,
    kFindStray,
    kFindUnstarted,
    kFindFire,
    kSampleRuns,
    kSampleRecent,
    kListRecent,
    kClearRecent,
    kAddRecent,
    kListRun,
    kUnlistRun,
    kInsertAttempt,
    kLoadAttempts,
    kDeleteAttempts,
    kFindKey,
    kTakeKey,
    kFreeKey,

    kNextPlan,

    kInsertJob,
    kInsertJobState,
    kUpdateJob,
    kUpdateJobState,
    kUpdateDependants,
    kUpdatePlan,
    kAddTally,
    kLoadJob,
    kFindDueJobs,
    kDeleteJob,
    kDeleteJobState,
    kInsertLabel,
    kDeleteLabels,
    kInsertDependency,
    kDeleteDependencies,
    kFindDependants,

    kInsertLedger,
    kInsertEvent,
    kPurgeEvents,
    kEventUpTo,
    kEventFrom,
    kHasEventInBlock,
    kLoadDocument,
    kPutDocument,
    kDeleteDocument,
    kPurgeDocuments,
    kListDocuments,
    kListAllDocuments,

    kGroupSizes,
    kGroupSize,

    kCountJobs,
    kCountRuns,
    kCountAttempts,
    kCountLedger,
    kCountEvents,
    kCountDocuments,
    kEnd,  // not a statement
};

inline constexpr auto kSqlCount = static_cast<std::size_t>(Sql::kEnd);

std::string_view TextOf(Sql which);

// The columns that run_rows.hpp reads, in its order. In a query with these names, runs must be the
// only table that has them.
#define KSANA_RUN_COLUMNS "seq, id, type, job_id, nominal_at, kind, fixed, ready_at, status"

// The runs in job_state.recent of job_state s; e.value is the seq of the run.
#define KSANA_RECENT_RUNS                                                                \
    "job_state s CROSS JOIN json_each('['||substr(s.recent, 2)||']') e CROSS JOIN runs " \
    "ON runs.seq=e.value"

// The columns that job_rows.hpp reads, from jobs j and job_state s.
#define KSANA_JOB_COLUMNS                                                          \
    "j.id, j.definition, j.version, j.created_at, j.updated_at, s.planned_until, " \
    "s.next_run_at, s.last_run_at, s.last_state, s.last_error, s.total_runs, "     \
    "s.consecutive_failures, s.dependants"

}  // namespace ksana::store_sqlite
