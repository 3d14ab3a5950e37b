#pragma once

#include <array>

#include "ksana/store_kit/driver/migrations.hpp"

namespace ksana::store_sqlite {

// Times are microseconds since 1970, enumerations are stored as their numbers, ids of runs as 16
// bytes. In columns that lists sort by, store_kit::kNoTime (9223372036854775807) means no time;
// other absent values are NULL.
//
// runs has every run, finished or not: the end of a run is an update in place. SQLite spends more
// time on the columns of a row that it inserts or updates than on finding the row, so there are
// only the columns that an index needs; the other fields of the run are in fixed and status
// (packed_run.hpp). For the same reason the columns have no checks (STRICT, NOT NULL): only
// run_batch.hpp writes them. Updates use seq, as a number is found faster than an id. A run without
// a type or a job has NULL there. For runs of jobs, final_at is finished_at, and gate encodes what
// LockOverlapCounts counts (run_batch.cpp).
//
// SQLite also opens every index that may change, so there are few:
// - runs_place has what a run waits for, in its order (run_lanes.hpp): its start time, a worker,
//   the end of its lease, its purge. An update moves the run from lane to lane.
// - runs_final is for lists of finished runs by state and id. Succeeded runs are not in it: they
//   are most of all runs, and a list of them follows the ids as fast. (Schemas before 4 had them
//   there.)
// - the others are for columns that never change, or for runs of jobs.
// Values that few runs have (a tenant, a category, a creator, a parent) are in run_tags and, while
// such a run is ready, in ready_tags: run_tags.hpp maintains both.
//
// A long payload is in payloads: otherwise every change of the state would write it again.
inline constexpr std::string_view kInitialSchema = R"sql(
CREATE TABLE policies(
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE runs(
    seq INTEGER PRIMARY KEY,
    id BLOB,
    type TEXT,
    job_id TEXT,
    nominal_at INTEGER,
    kind INTEGER,
    fixed BLOB,
    place TEXT,
    ready_at INTEGER,
    final_key TEXT,
    final_at INTEGER,
    gate INTEGER,
    status BLOB
);

CREATE TABLE payloads(
    run_id BLOB NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX runs_id ON runs(id);
CREATE INDEX runs_place ON runs(place, ready_at);
CREATE INDEX runs_final ON runs(final_key) WHERE final_key IS NOT NULL;
CREATE INDEX runs_type ON runs(type, id) WHERE type IS NOT NULL;
CREATE INDEX runs_job ON runs(job_id, id) WHERE job_id IS NOT NULL;
CREATE INDEX runs_job_final ON runs(job_id, final_at, id, gate) WHERE job_id IS NOT NULL;
CREATE UNIQUE INDEX runs_fire ON runs(job_id, nominal_at)
    WHERE nominal_at IS NOT NULL AND job_id IS NOT NULL;

CREATE TABLE run_tags(
    tag INTEGER NOT NULL,
    tag_value BLOB NOT NULL,
    run_id BLOB NOT NULL,
    PRIMARY KEY(tag, tag_value, run_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE ready_tags(
    tag INTEGER NOT NULL,
    tag_value BLOB NOT NULL,
    tag_kind INTEGER NOT NULL,
    tag_type TEXT NOT NULL,
    tag_rank INTEGER NOT NULL,
    run_id BLOB NOT NULL,
    PRIMARY KEY(tag, tag_value, tag_kind, tag_type, tag_rank, run_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts(
    run_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    exec_id TEXT NOT NULL,
    fence INTEGER NOT NULL,
    owner TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome INTEGER,
    error TEXT NOT NULL,
    detail TEXT NOT NULL,
    not_stopping INTEGER NOT NULL,
    PRIMARY KEY(run_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_keys(
    tenant TEXT NOT NULL,
    key TEXT NOT NULL,
    run_id BLOB NOT NULL,
    until INTEGER,
    PRIMARY KEY(tenant, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs(
    id TEXT NOT NULL PRIMARY KEY,
    tenant TEXT NOT NULL,
    grp TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    definition TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_name ON jobs(name, id);
CREATE INDEX jobs_created ON jobs(created_at, id);
CREATE INDEX jobs_updated ON jobs(updated_at, id);
CREATE INDEX jobs_tenant ON jobs(tenant, id) WHERE tenant<>'default';
CREATE INDEX jobs_group ON jobs(grp, id) WHERE grp<>'default';
CREATE INDEX jobs_owner ON jobs(owner, id) WHERE owner<>'';
CREATE INDEX jobs_type ON jobs(type, id) WHERE type<>'';

CREATE TABLE job_state(
    job_id TEXT NOT NULL PRIMARY KEY,
    enabled INTEGER NOT NULL,
    planned_until INTEGER,
    next_run_at INTEGER NOT NULL,
    last_run_at INTEGER NOT NULL,
    last_state INTEGER,
    last_error TEXT NOT NULL,
    total_runs INTEGER NOT NULL,
    consecutive_failures INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX job_due ON job_state(next_run_at, job_id) WHERE enabled=1;
CREATE INDEX job_paused ON job_state(next_run_at, job_id) WHERE enabled=0;
CREATE INDEX job_last ON job_state(last_run_at, job_id);

CREATE TABLE job_labels(
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    job_id TEXT NOT NULL,
    PRIMARY KEY(key, value, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_labels_job ON job_labels(job_id);

CREATE TABLE job_dependencies(
    depends_on TEXT NOT NULL,
    job_id TEXT NOT NULL,
    PRIMARY KEY(depends_on, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_dependencies_job ON job_dependencies(job_id);

CREATE TABLE ledger(
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL,
    fate INTEGER NOT NULL,
    count INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ledger_job ON ledger(job_id, seq);

CREATE TABLE events(
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    action TEXT NOT NULL,
    user TEXT NOT NULL,
    resource_type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    old_object TEXT NOT NULL,
    new_object TEXT NOT NULL,
    data TEXT NOT NULL,
    client_ip TEXT NOT NULL,
    method TEXT NOT NULL
) STRICT;
CREATE INDEX events_at ON events(at, seq);
CREATE INDEX events_user ON events(user, seq);
CREATE INDEX events_resource ON events(resource_type, resource_id, seq);
CREATE INDEX events_resource_type ON events(resource_type, seq);
CREATE INDEX events_action ON events(action, seq);
CREATE INDEX events_tenant ON events(tenant, seq) WHERE tenant<>'default';

CREATE TABLE documents(
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY(kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX documents_expiry ON documents(kind, expires_at) WHERE expires_at IS NOT NULL;
)sql";

// Indexes by job. A run of a job is in runs_open until its end, and then in runs_job and
// runs_job_final. With many jobs, an index that begins with the job spreads over many pages, and
// each page is written for few runs. A start, which a caller waits for, therefore writes to none of
// these large indexes: runs_open is small, and runs_fire begins with the nominal time, which rises.
// In exchange, a report writes one more entry. job_due is one index instead of two that a new plan
// would have to open.
inline constexpr std::string_view kIndexesOfJobs = R"sql(
DROP INDEX runs_job;
DROP INDEX runs_job_final;
DROP INDEX runs_fire;
CREATE INDEX runs_open ON runs(job_id, id, gate) WHERE job_id IS NOT NULL AND final_at IS NULL;
CREATE INDEX runs_job ON runs(job_id, id) WHERE final_at IS NOT NULL;
CREATE INDEX runs_job_final ON runs(job_id, final_at, id) WHERE final_at IS NOT NULL;
CREATE UNIQUE INDEX runs_fire ON runs(nominal_at, job_id)
    WHERE nominal_at IS NOT NULL AND job_id IS NOT NULL;
DROP INDEX job_due;
DROP INDEX job_paused;
CREATE INDEX job_due ON job_state(enabled, next_run_at, job_id);
)sql";

// Indexes for: the jobs that use a calendar, which are looked up when it changes; the number of
// jobs and of paused jobs in a group, which is counted in an index; audit events by resource id
// alone, since few ids occur with two types; events of a time span, found by the blocks of seq that
// have any (store_kit/driver/event_windows.hpp).
inline constexpr std::string_view kMoreListIndexes = R"sql(
ALTER TABLE jobs ADD COLUMN calendar TEXT NOT NULL DEFAULT '';
UPDATE jobs SET calendar=json_extract(definition, '$.job.schedule.calendar')
    WHERE json_extract(definition, '$.job.schedule.calendar') IS NOT NULL;
CREATE INDEX jobs_calendar ON jobs(calendar, id) WHERE calendar<>'';
CREATE INDEX jobs_group_size ON jobs(grp, enabled);
DROP INDEX events_resource;
CREATE INDEX events_resource ON events(resource_id, seq);
CREATE INDEX events_block ON events(seq>>12, at);
)sql";

// The finished runs of a job. Before this step two indexes of runs began with the job: with ten
// thousand jobs every run that ended touched a page of its own in both, and the data written for a
// fire grew from 4 to 16 KB within a minute. Now a finished run is first recorded in the row of its
// job, which its end writes anyway, and job_history.hpp moves the runs of a job to job_runs, many
// at a time. recent is ",17,42": the seq of each run.
inline constexpr std::string_view kEndedRunsOfJobs = R"sql(
CREATE TABLE job_runs(
    job_id TEXT NOT NULL,
    id BLOB NOT NULL,
    final_at INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY(job_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO job_runs(job_id, id, final_at, seq)
    SELECT job_id, id, final_at, seq FROM runs INDEXED BY runs_job WHERE final_at IS NOT NULL
    ORDER BY job_id, id;
CREATE INDEX job_runs_final ON job_runs(job_id, final_at, id, seq);
DROP INDEX runs_job;
DROP INDEX runs_job_final;
ALTER TABLE job_state ADD COLUMN recent TEXT NOT NULL DEFAULT '';
)sql";

// How many jobs name a job, so that the end of a run knows whether to tell others.
inline constexpr std::string_view kDependants = R"sql(
ALTER TABLE job_state ADD COLUMN dependants INTEGER NOT NULL DEFAULT 0;
UPDATE job_state SET dependants=
    (SELECT count(*) FROM job_dependencies d WHERE d.depends_on=job_state.job_id)
    WHERE job_id IN (SELECT depends_on FROM job_dependencies);
)sql";

inline constexpr std::array kMigrations = {
    store_kit::Migration{1, "initial", kInitialSchema},
    store_kit::Migration{2, "indexes of jobs", kIndexesOfJobs},
    store_kit::Migration{3, "more orders of lists", kMoreListIndexes},
    store_kit::Migration{4, "ended runs of jobs", kEndedRunsOfJobs},
    store_kit::Migration{5, "dependants of jobs", kDependants},
};

}  // namespace ksana::store_sqlite
