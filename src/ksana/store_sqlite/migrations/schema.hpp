#pragma once

#include <array>

#include "ksana/store_kit/driver/migrations.hpp"

namespace ksana::store_sqlite {

// Times are microseconds, enumerations their numbers, ids of runs 16 bytes. An absent time that is
// sorted by is store_kit::kNoTime, 9223372036854775807; other absent values are NULL.
//
// runs holds every run, ended or not: an end is an update in place. What SQLite does with the
// columns of a row that it inserts or updates takes longer than finding its place, so there are
// only those that an index needs; the fields of the run are in fixed and status (packed_run.hpp).
// For the same reason the columns are not checked (STRICT, NOT NULL): run_batch.hpp alone writes
// them. seq is for updates, as a number is found faster than an id. A run without a type or a job
// has NULL there; of runs of jobs, final_at is finished_at and gate what keeps others from starting
// (run_batch.cpp).
//
// SQLite also opens every index that may change, so these are few:
//   - runs_place is what a run waits for, one after the other (run_lanes.hpp): its time, a worker,
//     the end of its lease, the end of its keeping. An update moves its run from lane to lane.
//   - runs_final, for lists of ended runs by state and id. Those that succeeded are not in it: they
//     are most of all runs, and found by their ids as fast. (Schemas before 4 had them there.)
//   - the others are of what never changes or of runs of jobs.
// What few runs have (a tenant, a category, a creator, a parent) stands in run_tags and, while such
// a run is ready, in ready_tags: run_tags.hpp keeps both.
//
// A long payload stands in payloads: a change of the state would otherwise write it again.
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

// A run of a job is in runs_open until its end and then in the two indexes that follow. The many
// jobs of a store are spread over all pages of an index that begins with the job: such a page is
// written for few runs. So a start, which somebody waits for, writes into none of them: of what is
// open there is little, and nominal times rise (runs_fire). The report pays for it with one entry
// more.
// job_due is one index instead of two that a new plan would have to open.
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

// The jobs that use a calendar are looked for when it changes. How many jobs a group has, and how
// many of them are paused, is counted in an index. Events are also looked for by the id alone of
// what they tell of; few ids are of two kinds. Those of a span of time are found by the blocks of
// seq that have any (store_kit/driver/event_windows.hpp).
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

// The ended runs of a job. They were two indexes of runs that begin with the job: with ten thousand
// jobs every run that ended then touched a page of its own in both, and what was written for a
// fire grew from 4 to 16 KB within a minute. Now an ended run is first noted in the row of its job,
// which its end writes anyway, and job_history.hpp moves those of a job many at a time.
// recent: ",17,42", the seq of each.
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

inline constexpr std::array kMigrations = {
    store_kit::Migration{1, "initial", kInitialSchema},
    store_kit::Migration{2, "indexes of jobs", kIndexesOfJobs},
    store_kit::Migration{3, "more orders of lists", kMoreListIndexes},
    store_kit::Migration{4, "ended runs of jobs", kEndedRunsOfJobs},
};

}  // namespace ksana::store_sqlite
