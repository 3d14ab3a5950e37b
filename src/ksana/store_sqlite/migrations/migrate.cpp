#include "ksana/store_sqlite/migrations/migrate.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/store_sqlite/migrations/migration_steps.hpp"

namespace ksana::store_sqlite {

using store_kit::Migration;
using store_kit::MigrationStatus;

namespace {

constexpr std::string_view kRecordTable =
    "CREATE TABLE IF NOT EXISTS ksana_schema(version INTEGER PRIMARY KEY, name TEXT NOT NULL, "
    "applied_at INTEGER NOT NULL) STRICT";

Result<bool> HasRecordTable(Connection& connection) {
    Query query = connection.Prepared(Sql::kFindSchemaTable);
    return query.Next();
}

Result<void> ApplyOne(Connection& connection, const Migration& migration, const Clock& clock) {
    KSANA_TRY_VOID(connection.Begin());
    auto applied = [&]() -> Result<void> {
        KSANA_TRY_VOID(connection.Execute(std::string(migration.sql)));
        return connection.Prepared(Sql::kRecordMigration)
            .Int(migration.version)
            .Text(migration.name)
            .Time(clock.Now())
            .Run();
    }();
    if (applied) applied = connection.Commit();
    if (applied) return {};
    connection.Rollback();
    return std::move(applied).error().WithContext(
        fmt::format("migration {} ({})", migration.version, migration.name));
}

}  // namespace

std::span<const Migration> Migrations() { return kMigrations; }

Result<MigrationStatus> ReadStatus(Connection& connection) {
    MigrationStatus status;
    for (const Migration& migration : kMigrations) {
        status.steps.push_back({migration.version, std::string(migration.name), false});
    }
    status.newest_known = kMigrations.back().version;
    KSANA_TRY(const bool recorded, HasRecordTable(connection));
    if (!recorded) return status;
    Query query = connection.Prepared(Sql::kListMigrations);
    for (;;) {
        KSANA_TRY(const bool row, query.Next());
        if (!row) break;
        const int version = static_cast<int>(query.Int());
        status.newest_applied = std::max(status.newest_applied, version);
        const auto step = std::ranges::find(status.steps, version, &MigrationStatus::Step::version);
        if (step != status.steps.end()) {
            step->applied = true;
        } else {
            status.steps.push_back({version, query.Text(), true});
        }
    }
    return status;
}

Result<void> RefuseNewer(const MigrationStatus& status) {
    if (status.newest_applied <= status.newest_known) return {};
    return Error(Code::kConflict,
                 fmt::format("the database has schema version {}, this program knows up to {}: use "
                             "a newer program",
                             status.newest_applied, status.newest_known));
}

Result<void> Migrate(Connection& connection, const Clock& clock) {
    KSANA_TRY(const MigrationStatus status, ReadStatus(connection));
    KSANA_TRY_VOID(RefuseNewer(status));
    if (!status.Pending()) return {};
    KSANA_TRY_VOID(connection.Execute(std::string(kRecordTable)));
    for (const Migration& migration : kMigrations) {
        if (migration.version <= status.newest_applied) continue;
        KSANA_TRY_VOID(ApplyOne(connection, migration, clock));
        Log(LogLevel::kInfo, "schema migrated",
            {{"version", migration.version}, {"name", migration.name}});
    }
    return {};
}

}  // namespace ksana::store_sqlite
