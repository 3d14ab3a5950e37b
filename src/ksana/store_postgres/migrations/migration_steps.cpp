#include "ksana/store_postgres/migrations/migration_steps.hpp"

#include <array>

#include "ksana/store_postgres/migrations/submit_function.hpp"

namespace ksana::store_postgres {
namespace {

// Times are microseconds since 1970; in columns that lists sort by, 9223372036854775807 means none.
// Enumerations are stored as their numbers. All texts sort by their bytes.
//
// `runs` has the unfinished runs and is kept small: rows move to `finished_runs`, which is only
// inserted into and purged. The few indexes of `runs` are the orders of the queue. In these two
// tables NULL means the value of a new model::Run: most columns of most runs have it, and it takes
// no space. Fields that no statement filters or sorts by are in `fixed` and `status`
// (packed_run.hpp). Fixed-length columns that are never NULL come first, because the server finds
// them without decoding the others. A transaction that fires, starts or ends runs of a job locks
// the job's row in `job_state`.
constexpr std::string_view kTables = R"sql(
CREATE TABLE ksana.policies (
    id serial PRIMARY KEY,
    body text COLLATE "C" NOT NULL UNIQUE
);

CREATE SEQUENCE ksana.job_revisions;

CREATE TABLE ksana.jobs (
    id text COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL,
    version bigint NOT NULL,
    definition text NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    grp text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind smallint NOT NULL,
    type text COLLATE "C" NOT NULL,
    labels text[] COLLATE "C" NOT NULL,
    depends_on text[] COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE INDEX jobs_name ON ksana.jobs (name, id);
CREATE INDEX jobs_created ON ksana.jobs (created_at, id);
CREATE INDEX jobs_updated ON ksana.jobs (updated_at, id);
CREATE INDEX jobs_labels ON ksana.jobs USING gin (labels) WITH (fastupdate = off);
CREATE INDEX jobs_depends_on ON ksana.jobs USING gin (depends_on) WITH (fastupdate = off);

CREATE TABLE ksana.job_state (
    id text COLLATE "C" PRIMARY KEY,
    revision bigint NOT NULL,
    enabled boolean NOT NULL,
    planned_until bigint,
    next_run_at bigint NOT NULL,
    last_run_at bigint NOT NULL,
    last_state smallint,
    last_error text COLLATE "C" NOT NULL,
    total_runs bigint NOT NULL,
    consecutive_failures integer NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05,
        autovacuum_vacuum_cost_delay = 0);
CREATE INDEX job_state_due ON ksana.job_state (next_run_at, id) WHERE enabled;

CREATE TABLE ksana.runs (
    id uuid PRIMARY KEY,
    policy_id integer NOT NULL,
    kind smallint NOT NULL DEFAULT 3,
    trigger smallint NOT NULL DEFAULT 3,
    created_at bigint NOT NULL,
    state smallint NOT NULL,
    blocked boolean NOT NULL DEFAULT false,
    attempt integer NOT NULL DEFAULT 0,
    updated_at bigint NOT NULL,
    ready_at bigint NOT NULL,
    rank bigint NOT NULL,
    expires_at bigint,
    finished_at bigint,
    type text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL DEFAULT 'default',
    category text COLLATE "C",
    creator text COLLATE "C",
    job_id text COLLATE "C",
    nominal_at bigint,
    parent uuid,
    selector text[] COLLATE "C",
    unique_key text COLLATE "C",
    fixed bytea,
    owner text COLLATE "C",
    last_error text COLLATE "C",
    status bytea,
    payload text
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01,
        autovacuum_vacuum_threshold = 2000, autovacuum_analyze_scale_factor = 0.1,
        autovacuum_analyze_threshold = 5000, autovacuum_vacuum_insert_scale_factor = 0.5,
        autovacuum_vacuum_cost_delay = 0, toast.autovacuum_vacuum_cost_delay = 0);

CREATE TABLE ksana.finished_runs (
    id uuid PRIMARY KEY,
    policy_id integer NOT NULL,
    kind smallint NOT NULL DEFAULT 3,
    trigger smallint NOT NULL DEFAULT 3,
    created_at bigint NOT NULL,
    state smallint NOT NULL,
    blocked boolean NOT NULL DEFAULT false,
    attempt integer NOT NULL DEFAULT 0,
    updated_at bigint NOT NULL,
    ready_at bigint NOT NULL,
    finished_at bigint NOT NULL DEFAULT 9223372036854775807,
    type text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL DEFAULT 'default',
    category text COLLATE "C",
    creator text COLLATE "C",
    job_id text COLLATE "C",
    nominal_at bigint,
    parent uuid,
    selector text[] COLLATE "C",
    unique_key text COLLATE "C",
    fixed bytea,
    owner text COLLATE "C",
    last_error text COLLATE "C",
    status bytea,
    payload text
) WITH (autovacuum_vacuum_insert_scale_factor = 0.5, autovacuum_analyze_scale_factor = 0.2);

CREATE TABLE ksana.attempts (
    run_id uuid NOT NULL,
    number integer NOT NULL,
    exec_id text COLLATE "C" NOT NULL,
    fence bigint NOT NULL,
    owner text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    ended_at bigint,
    outcome smallint,
    error text NOT NULL,
    detail text NOT NULL,
    not_stopping boolean NOT NULL,
    PRIMARY KEY (run_id, number)
);

CREATE TABLE ksana.run_keys (
    tenant text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    run_id uuid NOT NULL,
    until bigint,
    PRIMARY KEY (tenant, key)
);

CREATE TABLE ksana.ledger (
    seq bigserial PRIMARY KEY,
    job_id text COLLATE "C" NOT NULL,
    fate smallint NOT NULL,
    count bigint NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    recorded_at bigint NOT NULL
);
CREATE INDEX ledger_job ON ksana.ledger (job_id, seq);

CREATE TABLE ksana.audit_events (
    seq bigserial PRIMARY KEY,
    at bigint NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    action text COLLATE "C" NOT NULL,
    user_name text COLLATE "C" NOT NULL,
    resource_type text COLLATE "C" NOT NULL,
    resource_id text COLLATE "C" NOT NULL,
    old_object text NOT NULL,
    new_object text NOT NULL,
    data text NOT NULL,
    client_ip text COLLATE "C" NOT NULL,
    method text COLLATE "C" NOT NULL
);
CREATE INDEX audit_events_at ON ksana.audit_events (at, seq);
CREATE INDEX audit_events_resource ON ksana.audit_events (resource_type, resource_id, seq);
CREATE INDEX audit_events_user ON ksana.audit_events (user_name, seq);

CREATE TABLE ksana.documents (
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    body text NOT NULL,
    updated_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (kind, key)
) WITH (fillfactor = 80);
CREATE INDEX documents_expiry ON ksana.documents (kind, expires_at)
    WHERE expires_at IS NOT NULL;
)sql";

// A new run pays for every index of `runs`, even for those it does not enter, so there are no more
// than the statements can use. Most finished runs have succeeded; a list of these follows the ids,
// so they have no entries in the index by state.
constexpr std::string_view kRunIndexes = R"sql(
CREATE INDEX runs_ready ON ksana.runs (kind, type, rank, id) WHERE state = 1 AND NOT blocked;
CREATE INDEX runs_scheduled ON ksana.runs (ready_at, id) WHERE state = 0;
CREATE INDEX runs_running ON ksana.runs (expires_at, id) WHERE state = 2;
CREATE INDEX runs_blocked ON ksana.runs (ready_at, id) WHERE blocked;
CREATE UNIQUE INDEX runs_fire ON ksana.runs (job_id, nominal_at)
    WHERE job_id <> '' AND nominal_at IS NOT NULL;
CREATE INDEX runs_job ON ksana.runs (job_id, id) WHERE job_id <> '';

CREATE INDEX finished_runs_state ON ksana.finished_runs (state, id) WHERE state <> 5;
CREATE INDEX finished_runs_type ON ksana.finished_runs (type, id);
CREATE INDEX finished_runs_finished ON ksana.finished_runs (finished_at, id);
CREATE INDEX finished_runs_job ON ksana.finished_runs (job_id, id) WHERE job_id <> '';
CREATE INDEX finished_runs_job_finished ON ksana.finished_runs (job_id, finished_at, id)
    WHERE job_id <> '';
CREATE UNIQUE INDEX finished_runs_fire ON ksana.finished_runs (job_id, nominal_at)
    WHERE job_id <> '' AND nominal_at IS NOT NULL;
CREATE INDEX finished_runs_tenant ON ksana.finished_runs (tenant, id) WHERE tenant <> 'default';
CREATE INDEX finished_runs_creator ON ksana.finished_runs (creator, id) WHERE creator <> '';
CREATE INDEX finished_runs_category ON ksana.finished_runs (category, id) WHERE category <> '';
)sql";

// Partial indexes leave out the value that most rows have (except jobs_group: it leaves out '', but
// the default group is 'default'). There is no index by last_run_at: the end of every run changes
// that column, and would then write to all indexes of `job_state`. A fire and its end would write
// 996 bytes of log there instead of 512, and take 1.4 times as long. A page in that order reads all
// of `job_state` (100,000 jobs: 20 MB, 0.2 s on a busy machine) and keeps no more of it than the
// page.
constexpr std::string_view kListIndexes = R"sql(
CREATE INDEX jobs_tenant ON ksana.jobs (tenant, id) WHERE tenant <> 'default';
CREATE INDEX jobs_group ON ksana.jobs (grp, id) WHERE grp <> '';
CREATE INDEX jobs_owner ON ksana.jobs (owner, id) WHERE owner <> '';
CREATE INDEX jobs_type ON ksana.jobs (type, id) WHERE type <> '';
CREATE INDEX job_state_next ON ksana.job_state (next_run_at, id);

CREATE INDEX runs_parent ON ksana.runs (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX finished_runs_parent ON ksana.finished_runs (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX finished_runs_ready ON ksana.finished_runs (ready_at, id);
)sql";

// Indexes for: the jobs that use a calendar, which are looked up when it changes; the number of
// jobs and of paused jobs in a group, which is counted in an index (`enabled` is part of the
// definition, and `job_state` repeats it for the index of due jobs); audit events by resource id
// alone, since few ids occur with two types; events of a time span, found by the blocks of seq that
// have any (store_kit/driver/event_windows.hpp). Drops the index of finished runs by ready_at, as
// no list uses that order.
constexpr std::string_view kMoreListIndexes = R"sql(
ALTER TABLE ksana.jobs ADD COLUMN calendar text COLLATE "C" NOT NULL DEFAULT '';
UPDATE ksana.jobs SET calendar = definition::json #>> '{job,schedule,calendar}'
    WHERE definition::json #>> '{job,schedule,calendar}' IS NOT NULL;
CREATE INDEX jobs_calendar ON ksana.jobs (calendar, id) WHERE calendar <> '';
ALTER TABLE ksana.jobs ADD COLUMN enabled boolean NOT NULL DEFAULT true;
UPDATE ksana.jobs j SET enabled = false FROM ksana.job_state s WHERE s.id = j.id AND NOT s.enabled;
CREATE INDEX jobs_group_size ON ksana.jobs (grp, enabled);

DROP INDEX ksana.finished_runs_ready;

DROP INDEX ksana.audit_events_resource;
CREATE INDEX audit_events_resource ON ksana.audit_events (resource_id, seq);
CREATE INDEX audit_events_resource_type ON ksana.audit_events (resource_type, seq);
CREATE INDEX audit_events_action ON ksana.audit_events (action, seq);
CREATE INDEX audit_events_tenant ON ksana.audit_events (tenant, seq) WHERE tenant <> 'default';
CREATE INDEX audit_events_block ON ksana.audit_events ((seq >> 12), at);
)sql";

// How many jobs name a job, so that the end of a run knows whether to tell others. The index of
// blocked runs also finds those that wait for other jobs, by the time of the next look at them.
constexpr std::string_view kDependants = R"sql(
ALTER TABLE ksana.job_state ADD COLUMN dependants integer NOT NULL DEFAULT 0;
UPDATE ksana.job_state s SET dependants = d.count FROM (
    SELECT parent, count(*) FROM ksana.jobs, unnest(depends_on) AS parent GROUP BY parent) d
    WHERE s.id = d.parent;
DROP INDEX ksana.runs_blocked;
CREATE INDEX runs_blocked ON ksana.runs (expires_at, ready_at, id) WHERE blocked;
)sql";

// Which workers are asked first about a run, and for how long (microseconds after ready_at). NULL:
// all are asked at once.
constexpr std::string_view kPreferences = R"sql(
ALTER TABLE ksana.runs ADD COLUMN prefer text[] COLLATE "C", ADD COLUMN prefer_for bigint;
ALTER TABLE ksana.finished_runs ADD COLUMN prefer text[] COLLATE "C", ADD COLUMN prefer_for bigint;
)sql";

const std::array kSteps = {
    store_kit::Migration{1, "tables", kTables},
    store_kit::Migration{2, "orders of runs", kRunIndexes},
    store_kit::Migration{3, "orders of lists", kListIndexes},
    store_kit::Migration{4, "tasks from SQL", kSubmitFunction},
    store_kit::Migration{5, "more orders of lists", kMoreListIndexes},
    store_kit::Migration{6, "dependants of jobs", kDependants},
    store_kit::Migration{7, "preferred workers", kPreferences},
};

}  // namespace

std::span<const store_kit::Migration> MigrationSteps() { return kSteps; }

}  // namespace ksana::store_postgres
