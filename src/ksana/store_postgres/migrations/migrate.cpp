#include "ksana/store_postgres/migrations/migrate.hpp"

#include <fmt/core.h>

#include "ksana/base/log/log.hpp"
#include "ksana/store_postgres/wire/names.hpp"
#include "ksana/store_postgres/wire/session.hpp"

namespace ksana::store_postgres {
namespace {

using store_kit::Migration;
using store_kit::MigrationStatus;

// One lock for each schema of a database.
constexpr std::string_view kLock =
    "SELECT pg_advisory_xact_lock(hashtextextended('ksana migration ' || $1::text, 0))";
constexpr std::string_view kCreateTable =
    "CREATE TABLE IF NOT EXISTS ksana.migrations (version integer PRIMARY KEY, "
    "name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())";
constexpr std::string_view kTableExists =
    "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1::text AND c.relname = 'migrations')";
constexpr std::string_view kApplied = "SELECT version, name FROM ksana.migrations ORDER BY version";
constexpr std::string_view kRecord =
    "INSERT INTO ksana.migrations (version, name) VALUES ($1::integer, $2::text)";

Error TooNew(int applied, int known) {
    return Error(Code::kConflict,
                 fmt::format("the database has schema version {}, this program knows only up to "
                             "{}: use the later program",
                             applied, known));
}

int NewestOf(std::span<const Migration> steps) { return steps.empty() ? 0 : steps.back().version; }

Result<std::vector<MigrationStatus::Step>> ReadApplied(Session& session,
                                                       const std::string& schema) {
    KSANA_TRY(const Rows exists, session.Query(kTableExists, Params().Add(schema)));
    if (!RowReader(exists, 0).Bool()) return std::vector<MigrationStatus::Step>();
    KSANA_TRY(const Rows rows, session.Query(kApplied, {}));
    std::vector<MigrationStatus::Step> steps;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        RowReader row(rows, i);
        const int version = row.Int32();
        steps.push_back({version, row.Text(), true});
    }
    return steps;
}

Result<void> CreateSchema(Connection& connection, const std::string& schema,
                          const Deadline& deadline) {
    Session session(connection, Session::Mode::kWrite, deadline);
    session.Defer(kLock, Params().Add(schema));
    KSANA_TRY(const Rows unused,
              session.QueryBuilt(fmt::format("CREATE SCHEMA IF NOT EXISTS \"{}\"", schema), {}));
    session.Defer(kCreateTable, {});
    return session.Commit();
}

// Applies the next step, if one is pending. Returns whether there may be more.
Result<bool> ApplyNext(Connection& connection, const MigrateOptions& options,
                       const Deadline& deadline) {
    Session session(connection, Session::Mode::kWrite, deadline);
    session.Defer(kLock, Params().Add(options.schema));
    KSANA_TRY(const auto applied, ReadApplied(session, options.schema));
    const int newest = applied.empty() ? 0 : applied.back().version;
    if (newest > NewestOf(options.steps)) return TooNew(newest, NewestOf(options.steps));
    if (newest == NewestOf(options.steps)) return false;
    const Migration& step = options.steps[static_cast<std::size_t>(newest)];
    for (const std::string_view statement : StatementsOf(step.sql)) session.Defer(statement, {});
    session.Defer(kRecord,
                  Params().Add(std::int32_t{step.version}).Add(std::string_view(step.name)));
    if (auto done = session.Commit(); !done) {
        return std::move(done).error().WithContext(
            fmt::format("schema step {} ({})", step.version, step.name));
    }
    Log(LogLevel::kInfo, "schema step applied", {{"version", step.version}, {"name", step.name}});
    return true;
}

}  // namespace

Result<int> Migrate(Connection& connection, const MigrateOptions& options,
                    const Deadline& deadline) {
    KSANA_TRY(const MigrationStatus status, ReadMigrationStatus(connection, options, deadline));
    if (status.newest_applied > status.newest_known) {
        return TooNew(status.newest_applied, status.newest_known);
    }
    if (!status.Pending()) return status.newest_applied;
    if (!options.apply) {
        return Error(Code::kConflict,
                     fmt::format("the database has schema version {}, this program needs {}: "
                                 "migrate first",
                                 status.newest_applied, status.newest_known));
    }
    KSANA_TRY_VOID(CreateSchema(connection, options.schema, deadline));
    bool more = true;
    while (more) {
        KSANA_TRY(more, ApplyNext(connection, options, deadline));
    }
    return status.newest_known;
}

Result<MigrationStatus> ReadMigrationStatus(Connection& connection, const MigrateOptions& options,
                                            const Deadline& deadline) {
    Session session(connection, Session::Mode::kRead, deadline);
    KSANA_TRY(auto applied, ReadApplied(session, options.schema));
    KSANA_TRY_VOID(session.Commit());
    MigrationStatus status;
    status.newest_known = NewestOf(options.steps);
    status.newest_applied = applied.empty() ? 0 : applied.back().version;
    status.steps = std::move(applied);
    for (const Migration& step : options.steps) {
        if (step.version > status.newest_applied) {
            status.steps.push_back({step.version, std::string(step.name), false});
        }
    }
    return status;
}

}  // namespace ksana::store_postgres
