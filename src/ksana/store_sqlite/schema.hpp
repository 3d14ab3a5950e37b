#pragma once

#include <array>

#include "ksana/store_kit/migrations.hpp"

namespace ksana::store_sqlite {

// Times are microseconds, enumerations their numbers, ids of runs 16 bytes. An absent time that is
// sorted by is store_kit::kNoTime, 9223372036854775807; other absent values are NULL.
//
// runs holds every run, ended or not: an end is an update in place. Its secondary indexes are
// partial, so that the way of a plain run touches few of them: it enters runs_type and runs_ready,
// goes over to runs_running and ends in runs_final and runs_finished. Indexes of what never changes
// (type, tenant, …) name no state, as a state in their condition would have every update rewrite
// them.
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
    selector TEXT NOT NULL,
    unique_key TEXT NOT NULL,
    unique_states INTEGER NOT NULL,
    unique_until INTEGER,
    parent BLOB,
    policy_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    payload TEXT,
    updated_at INTEGER NOT NULL,
    state INTEGER NOT NULL,
    ready_at INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    expires_at INTEGER,
    attempt INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    exec_id TEXT NOT NULL,
    last_report INTEGER,
    outcome INTEGER,
    owner TEXT NOT NULL,
    lease_until INTEGER,
    deadline INTEGER,
    started_at INTEGER,
    ended_at INTEGER,
    finished_at INTEGER,
    progress INTEGER NOT NULL,
    progress_note TEXT NOT NULL,
    cancel_requested INTEGER NOT NULL,
    not_stopping INTEGER NOT NULL,
    blocked INTEGER NOT NULL,
    result TEXT NOT NULL,
    last_error TEXT NOT NULL,
    detail TEXT NOT NULL,
    remark TEXT NOT NULL,
    skip_reason INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE payloads(
    run_id BLOB NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX runs_ready ON runs(kind, type, rank, id, ready_at) WHERE state=1 AND blocked=0;
CREATE INDEX runs_ready_tenant ON runs(kind, tenant, type, rank, id)
    WHERE state=1 AND blocked=0 AND tenant<>'default';
CREATE INDEX runs_ready_category ON runs(kind, category, type, rank, id)
    WHERE state=1 AND blocked=0 AND category<>'';
CREATE INDEX runs_ready_creator ON runs(kind, creator, type, rank, id)
    WHERE state=1 AND blocked=0 AND creator<>'';
CREATE INDEX runs_blocked ON runs(job_id, ready_at, id) WHERE state=1 AND blocked=1;
CREATE INDEX runs_scheduled ON runs(ready_at, id) WHERE state=0;
CREATE INDEX runs_running ON runs(expires_at, id) WHERE state=2;
CREATE INDEX runs_parked ON runs(state, id) WHERE state>=3 AND state<=4;
CREATE INDEX runs_gate ON runs(job_id, attempt, blocked) WHERE state<3 AND job_id<>'';
CREATE INDEX runs_final ON runs(state, id) WHERE state>=5;
CREATE INDEX runs_finished ON runs(finished_at, id) WHERE state>=5;
CREATE INDEX runs_job_finished ON runs(job_id, finished_at, id) WHERE state>=5 AND job_id<>'';
CREATE UNIQUE INDEX runs_fire ON runs(job_id, nominal_at)
    WHERE nominal_at IS NOT NULL AND job_id<>'';
CREATE INDEX runs_job ON runs(job_id, id) WHERE job_id<>'';
CREATE INDEX runs_type ON runs(type, id) WHERE type<>'';
CREATE INDEX runs_tenant ON runs(tenant, id) WHERE tenant<>'default';
CREATE INDEX runs_category ON runs(category, id) WHERE category<>'';
CREATE INDEX runs_creator ON runs(creator, id) WHERE creator<>'';
CREATE INDEX runs_parent ON runs(parent, id) WHERE parent IS NOT NULL;

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
