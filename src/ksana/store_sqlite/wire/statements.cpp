#include "ksana/store_sqlite/wire/statements.hpp"

#include <array>

#include "ksana/base/error/check.hpp"

namespace ksana::store_sqlite {
namespace {

struct Entry {
    Sql which;
    std::string_view text;
};

#define SELECT_RUN "SELECT " KSANA_RUN_COLUMNS " FROM runs "
#define SELECT_JOB "SELECT " KSANA_JOB_COLUMNS " FROM "

#define STATUS_COLUMNS "place, ready_at, final_key, final_at, gate, status"
// Columns of runs and of run_batch.
#define WRITTEN_COLUMNS "seq, id, type, job_id, nominal_at, kind, fixed, " STATUS_COLUMNS
#define IN_RANGE "INDEXED BY runs_place WHERE place>=? AND place<? "
// The scheduled, queued or running runs of a job (gate in run_batch.cpp).
#define OPEN_OF_JOB "INDEXED BY runs_open WHERE job_id=? AND final_at IS NULL AND gate<12 "

// In the order of Sql.
constexpr std::array<Entry, kSqlCount> kEntries = {{
    {Sql::kBegin, "BEGIN IMMEDIATE"},
    {Sql::kBeginRead, "BEGIN"},
    {Sql::kTakeSnapshot, "SELECT 1 FROM sqlite_schema LIMIT 1"},
    {Sql::kCommit, "COMMIT"},
    {Sql::kRollback, "ROLLBACK"},
    {Sql::kFindSchemaTable,
     "SELECT 1 FROM sqlite_schema WHERE type='table' AND name='ksana_schema'"},
    {Sql::kListMigrations, "SELECT version, name FROM ksana_schema ORDER BY version"},
    {Sql::kRecordMigration, "INSERT INTO ksana_schema(version, name, applied_at) VALUES(?,?,?)"},
    {Sql::kFindPolicy, "SELECT id FROM policies WHERE body=?"},
    {Sql::kLoadPolicy, "SELECT body FROM policies WHERE id=?"},
    {Sql::kListPolicies, "SELECT id, body FROM policies ORDER BY id LIMIT ?"},
    {Sql::kInsertPolicy, "INSERT INTO policies(body) VALUES(?)"},

    {Sql::kInsertRuns,
     "INSERT INTO runs(" WRITTEN_COLUMNS ") SELECT " WRITTEN_COLUMNS " FROM run_batch WHERE true "
     "ON CONFLICT DO NOTHING"},
    // An insert that always finds its row: unlike UPDATE … FROM it makes no copy of the batch. OR
    // FAIL: SQLite then keeps no copies of pages to undo the statement alone. A statement that
    // fails halfway is undone with its transaction (Connection::changes).
    {Sql::kUpdateRuns,
     "INSERT OR FAIL INTO runs(" WRITTEN_COLUMNS
     ") SELECT seq, NULL, NULL, NULL, NULL, NULL, NULL, " STATUS_COLUMNS
     " FROM run_batch WHERE true ON CONFLICT(seq) DO UPDATE SET "
     "place=excluded.place, ready_at=excluded.ready_at, final_key=excluded.final_key, "
     "final_at=excluded.final_at, gate=excluded.gate, status=excluded.status"},
    // Variants for batches in which no run has or had a final_key, and for runs without a job:
    // SQLite visits every index on a column in SET, even if no such run is in it.
    {Sql::kUpdateUnkeyedRuns,
     "INSERT OR FAIL INTO runs(seq, place, ready_at, final_at, gate, status) SELECT seq, place, "
     "ready_at, final_at, gate, status FROM run_batch WHERE true ON CONFLICT(seq) DO UPDATE SET "
     "place=excluded.place, ready_at=excluded.ready_at, final_at=excluded.final_at, "
     "gate=excluded.gate, status=excluded.status"},
    {Sql::kUpdateTasks,
     "INSERT OR FAIL INTO runs(seq, place, ready_at, final_key, status) SELECT seq, place, "
     "ready_at, final_key, status FROM run_batch WHERE true ON CONFLICT(seq) DO UPDATE SET "
     "place=excluded.place, ready_at=excluded.ready_at, final_key=excluded.final_key, "
     "status=excluded.status"},
    {Sql::kUpdateUnkeyedTasks,
     "INSERT OR FAIL INTO runs(seq, place, ready_at, status) SELECT seq, place, ready_at, status "
     "FROM run_batch WHERE true ON CONFLICT(seq) DO UPDATE SET "
     "place=excluded.place, ready_at=excluded.ready_at, status=excluded.status"},
    {Sql::kFindRun, "SELECT seq FROM runs WHERE id=?"},
    {Sql::kNewestRun, "SELECT id FROM runs ORDER BY id DESC LIMIT 1"},
    {Sql::kLastSeq, "SELECT seq FROM runs ORDER BY seq DESC LIMIT 1"},
    {Sql::kLoadRun, SELECT_RUN "WHERE id=?"},
    {Sql::kLoadRow, SELECT_RUN "WHERE seq=?"},
    {Sql::kDeleteRuns, "DELETE FROM runs WHERE seq IN (SELECT seq FROM run_batch)"},
    {Sql::kInsertPayload, "INSERT INTO payloads(run_id, body) VALUES(?,?)"},
    {Sql::kLoadPayload, "SELECT body FROM payloads WHERE run_id=?"},
    {Sql::kDeletePayload, "DELETE FROM payloads WHERE run_id=?"},
    {Sql::kFindInRange, SELECT_RUN IN_RANGE "ORDER BY place LIMIT ?"},
    {Sql::kFirstInRange, "SELECT place FROM runs " IN_RANGE "ORDER BY place LIMIT 1"},
    {Sql::kIdsInRange, "SELECT id, place FROM runs " IN_RANGE "ORDER BY place LIMIT ?"},
    {Sql::kCountInRange, "SELECT count(*), min(ready_at) FROM runs " IN_RANGE},
    {Sql::kDepthsInRange,
     "SELECT kind, coalesce(type, ''), count(*), min(ready_at) FROM runs " IN_RANGE
     "GROUP BY kind, type"},
    {Sql::kFindTagged,
     "SELECT " KSANA_RUN_COLUMNS " FROM ready_tags CROSS JOIN runs ON id=run_id WHERE tag=? AND "
     "tag_value=? AND tag_kind=? AND tag_type=? AND tag_rank<=? ORDER BY tag_rank, run_id"},
    {Sql::kFirstTaggedType,
     "SELECT tag_type FROM ready_tags WHERE tag=? AND tag_value=? AND tag_kind=? "
     "ORDER BY tag_type LIMIT 1"},
    {Sql::kNextTaggedType,
     "SELECT tag_type FROM ready_tags WHERE tag=? AND tag_value=? AND tag_kind=? AND tag_type>? "
     "ORDER BY tag_type LIMIT 1"},
    {Sql::kInsertTag, "INSERT INTO run_tags(tag, tag_value, run_id) VALUES(?,?,?)"},
    {Sql::kDeleteTag, "DELETE FROM run_tags WHERE tag=? AND tag_value=? AND run_id=?"},
    {Sql::kInsertReadyTag,
     "INSERT INTO ready_tags(tag, tag_value, tag_kind, tag_type, tag_rank, run_id) "
     "VALUES(?,?,?,?,?,?)"},
    {Sql::kDeleteReadyTag,
     "DELETE FROM ready_tags WHERE tag=? AND tag_value=? AND tag_kind=? AND tag_type=? AND "
     "tag_rank=? AND run_id=?"},
    {Sql::kLoadPlace, "SELECT place FROM runs WHERE id=?"},
    {Sql::kGatesOfJob, "SELECT gate FROM runs " OPEN_OF_JOB},
    {Sql::kFindGated, SELECT_RUN OPEN_OF_JOB "AND (gate&3)<>0"},
    {Sql::kFindStray, SELECT_RUN IN_RANGE
     "AND NOT EXISTS (SELECT 1 FROM runs g INDEXED BY runs_open WHERE "
     "g.job_id=runs.job_id AND g.final_at IS NULL AND g.gate<12 AND (g.gate&1)) "
     "ORDER BY place LIMIT ?"},
    // Scheduled or queued, without an attempt.
    {Sql::kFindUnstarted, SELECT_RUN OPEN_OF_JOB "AND gate<8 AND (gate&1)=0 LIMIT ?"},
    {Sql::kFindFire, SELECT_RUN "INDEXED BY runs_fire WHERE job_id=? AND nominal_at=?"},
    {Sql::kSampleRuns,
     "SELECT j.final_at, j.id, runs.status FROM job_runs j INDEXED BY job_runs_final "
     "CROSS JOIN runs ON runs.seq=j.seq WHERE j.job_id=? AND j.final_at>=? AND j.final_at<? "
     "ORDER BY j.final_at DESC, j.id DESC LIMIT ?"},
    {Sql::kSampleRecent, "SELECT runs.final_at, runs.id, runs.status FROM " KSANA_RECENT_RUNS
                         " WHERE s.job_id=? AND runs.final_at>=? AND runs.final_at<?"},
    {Sql::kListRecent,
     "INSERT INTO job_runs(job_id, id, final_at, seq) SELECT runs.job_id, runs.id, runs.final_at, "
     "runs.seq FROM " KSANA_RECENT_RUNS " WHERE s.job_id=?"},
    {Sql::kClearRecent, "UPDATE job_state SET recent='' WHERE job_id=?"},
    {Sql::kAddRecent, "UPDATE job_state SET recent=iif(?1, '', recent)||?2 WHERE job_id=?3"},
    {Sql::kListRun, "INSERT INTO job_runs(job_id, id, final_at, seq) VALUES(?,?,?,?)"},
    {Sql::kUnlistRun, "DELETE FROM job_runs WHERE job_id=? AND id=?"},
    {Sql::kInsertAttempt,
     "INSERT INTO attempts(run_id, number, exec_id, fence, owner, started_at, ended_at, outcome, "
     "error, detail, not_stopping) VALUES(?,?,?,?,?,?,?,?,?,?,?)"},
    {Sql::kLoadAttempts,
     "SELECT run_id, number, exec_id, fence, owner, started_at, ended_at, outcome, error, detail, "
     "not_stopping FROM attempts WHERE run_id=? ORDER BY number"},
    {Sql::kDeleteAttempts, "DELETE FROM attempts WHERE run_id=?"},
    {Sql::kFindKey, "SELECT run_id, until FROM run_keys WHERE tenant=? AND key=?"},
    {Sql::kTakeKey, "INSERT OR REPLACE INTO run_keys(tenant, key, run_id, until) VALUES(?,?,?,?)"},
    {Sql::kFreeKey, "DELETE FROM run_keys WHERE tenant=? AND key=? AND run_id=?"},

    {Sql::kNextPlan,
     "SELECT next_run_at FROM job_state INDEXED BY job_due WHERE enabled=1 "
     "ORDER BY next_run_at LIMIT 1"},

    {Sql::kInsertJob,
     "INSERT INTO jobs(id, tenant, grp, owner, name, enabled, kind, type, created_at, updated_at, "
     "version, definition, calendar) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING"},
    {Sql::kInsertJobState,
     "INSERT INTO job_state(job_id, enabled, planned_until, next_run_at, last_run_at, last_state, "
     "last_error, total_runs, consecutive_failures) VALUES(?,?,?,?,?,?,?,?,?)"},
    {Sql::kUpdateJob,
     "UPDATE jobs SET tenant=?, grp=?, owner=?, name=?, enabled=?, kind=?, type=?, updated_at=?, "
     "version=?, definition=?, calendar=? WHERE id=?"},
    {Sql::kUpdateJobState,
     "UPDATE job_state SET enabled=?, planned_until=?, next_run_at=? WHERE job_id=?"},
    {Sql::kUpdateDependants, "UPDATE job_state SET dependants=? WHERE job_id=?"},
    {Sql::kUpdatePlan, "UPDATE job_state SET planned_until=?, next_run_at=? WHERE job_id=?"},
    {Sql::kAddTally,
     "UPDATE job_state SET total_runs=total_runs+?1, consecutive_failures="
     "iif(?2, 0, consecutive_failures)+?3, last_run_at=coalesce(?4, last_run_at), "
     "last_state=coalesce(?5, last_state), last_error=iif(?5 IS NULL, last_error, ?6), "
     "recent=iif(?7, '', recent)||?8 WHERE job_id=?9"},
    {Sql::kLoadJob, SELECT_JOB "jobs j CROSS JOIN job_state s ON s.job_id=j.id WHERE j.id=?"},
    {Sql::kFindDueJobs,
     SELECT_JOB "job_state s INDEXED BY job_due CROSS JOIN jobs j ON j.id=s.job_id "
                "WHERE s.enabled=1 AND s.next_run_at<=? ORDER BY s.next_run_at, s.job_id LIMIT ?"},
    {Sql::kDeleteJob, "DELETE FROM jobs WHERE id=?"},
    {Sql::kDeleteJobState, "DELETE FROM job_state WHERE job_id=?"},
    {Sql::kInsertLabel, "INSERT INTO job_labels(key, value, job_id) VALUES(?,?,?)"},
    {Sql::kDeleteLabels, "DELETE FROM job_labels WHERE job_id=?"},
    {Sql::kInsertDependency,
     "INSERT INTO job_dependencies(depends_on, job_id) VALUES(?,?) ON CONFLICT DO NOTHING"},
    {Sql::kDeleteDependencies, "DELETE FROM job_dependencies WHERE job_id=?"},
    {Sql::kFindDependants,
     "SELECT job_id FROM job_dependencies WHERE depends_on=? ORDER BY job_id"},

    {Sql::kInsertLedger,
     "INSERT INTO ledger(seq, job_id, fate, count, first, last, recorded_at) "
     "VALUES(?,?,?,?,?,?,?)"},
    {Sql::kInsertEvent,
     "INSERT INTO events(seq, at, tenant, action, user, resource_type, resource_id, old_object, "
     "new_object, data, client_ip, method) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)"},
    {Sql::kPurgeEvents,
     "DELETE FROM events WHERE seq IN (SELECT seq FROM events INDEXED BY events_at WHERE at<? "
     "ORDER BY at, seq LIMIT ?)"},
    {Sql::kEventUpTo, "SELECT seq FROM events WHERE seq<=? ORDER BY seq DESC LIMIT 1"},
    {Sql::kEventFrom, "SELECT seq FROM events WHERE seq>=? ORDER BY seq LIMIT 1"},
    {Sql::kHasEventInBlock,
     "SELECT 1 FROM events INDEXED BY events_block WHERE seq>>12=? AND at>=? AND at<? LIMIT 1"},
    {Sql::kLoadDocument,
     "SELECT kind, key, version, body, updated_at, expires_at FROM documents WHERE kind=? AND "
     "key=?"},
    {Sql::kPutDocument,
     "INSERT OR REPLACE INTO documents(kind, key, version, body, updated_at, expires_at) "
     "VALUES(?,?,?,?,?,?)"},
    {Sql::kDeleteDocument, "DELETE FROM documents WHERE kind=? AND key=?"},
    {Sql::kPurgeDocuments,
     "DELETE FROM documents WHERE kind=?1 AND key IN (SELECT key FROM documents INDEXED BY "
     "documents_expiry WHERE kind=?1 AND expires_at IS NOT NULL AND expires_at<=?2 LIMIT ?3)"},
    {Sql::kListDocuments,
     "SELECT kind, key, version, body, updated_at, expires_at FROM documents WHERE kind=?1 AND "
     "key>=?2 AND key>?3 AND (expires_at IS NULL OR expires_at>?4) ORDER BY key"},
    {Sql::kListAllDocuments,
     "SELECT kind, key, version, body, updated_at, expires_at FROM documents WHERE "
     "(kind, key)>(?1, ?2) AND (expires_at IS NULL OR expires_at>?3) ORDER BY kind, key"},

    {Sql::kGroupSizes,
     "SELECT grp, count(*), sum(enabled=0) FROM jobs INDEXED BY jobs_group_size WHERE grp>? "
     "GROUP BY grp ORDER BY grp LIMIT ?"},
    {Sql::kGroupSize,
     "SELECT grp, count(*), sum(enabled=0) FROM jobs INDEXED BY jobs_group_size WHERE grp>? AND "
     "grp=? GROUP BY grp LIMIT ?"},

    {Sql::kCountJobs, "SELECT count(*) FROM jobs"},
    {Sql::kCountRuns, "SELECT count(*) FROM runs INDEXED BY runs_id"},
    {Sql::kCountAttempts, "SELECT count(*) FROM attempts"},
    {Sql::kCountLedger, "SELECT count(*) FROM ledger"},
    {Sql::kCountEvents, "SELECT count(*) FROM events"},
    {Sql::kCountDocuments, "SELECT count(*) FROM documents"},
}};

consteval bool InOrder() {
    for (std::size_t i = 0; i < kEntries.size(); ++i) {
        if (static_cast<std::size_t>(kEntries[i].which) != i) return false;
    }
    return true;
}
static_assert(InOrder(), "every statement stands at the place its number says");

}  // namespace

std::string_view TextOf(Sql which) { return kEntries.at(static_cast<std::size_t>(which)).text; }

}  // namespace ksana::store_sqlite
