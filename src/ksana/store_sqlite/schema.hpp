#pragma once

#include <array>

#include "ksana/store_kit/migrations.hpp"

namespace ksana::store_sqlite {

// Times are microseconds, enumerations their numbers, ids of runs 16 bytes. An absent time that is
// sorted by is store_kit::kNoTime, 9223372036854775807; other absent values are NULL.
//
// runs holds every run, ended or not: an end is an update in place. SQLite opens every index of a
// table for every row it inserts, and every index that may change for every row it updates, also
// where the row is not in it; that costs more than the rows themselves. So there are few:
//   - runs_lane is what a run waits for, one after the other (run_lanes.hpp): its time, a worker,
//     the end of its lease, the end of its keeping. An update moves its run from lane to lane.
//   - runs_final, for lists of ended runs by state.
//   - the others are of what never changes or of runs of jobs.
// What few runs have (a tenant, a category, a creator, a parent) stands in run_tags and, while such
// a run is ready, in ready_tags: run_tags.hpp keeps both.
//
// fixed and status hold the fields that no query asks for (packed_run.hpp).
//
// A long payload stands in payloads: a change of the state would otherwise write it again.
inline constexpr std::string_view kInitialSchema = R"sql(
CREATE TABLE policies(
    id INTEGER PRIMARY KEY,
    body TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE runs(
    id BLOB NOT NULL PRIMARY KEY,
    job_id TEXT NOT NULL,
    tenant TEXT NOT NULL,
    type TEXT NOT NULL,
    category TEXT NOT NULL,
    creator TEXT NOT NULL,
    kind INTEGER NOT NULL,
    cause INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    nominal_at INTEGER,
    fixed BLOB NOT NULL,
    parent BLOB,
    policy_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    payload TEXT,
    updated_at INTEGER NOT NULL,
    state INTEGER NOT NULL,
    ready_at INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    lane_group TEXT NOT NULL,
    lane_order INTEGER NOT NULL,
    final_at INTEGER,
    attempt INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    owner TEXT NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    finished_at INTEGER,
    last_error TEXT NOT NULL,
    status BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE payloads(
    run_id BLOB NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX runs_lane ON runs(lane, lane_group, lane_order, id, ready_at);
CREATE INDEX runs_final ON runs(state, id) WHERE state>=5;
CREATE INDEX runs_type ON runs(type, id) WHERE type<>'';
CREATE INDEX runs_job ON runs(job_id, id) WHERE job_id<>'';
CREATE INDEX runs_job_final ON runs(job_id, final_at, id, state, attempt, blocked)
    WHERE job_id<>'';
CREATE UNIQUE INDEX runs_fire ON runs(job_id, nominal_at)
    WHERE nominal_at IS NOT NULL AND job_id<>'';

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

inline constexpr std::array kMigrations = {
    store_kit::Migration{1, "initial", kInitialSchema},
};

}  // namespace ksana::store_sqlite
