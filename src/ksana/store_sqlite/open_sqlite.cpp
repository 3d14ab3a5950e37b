#include "ksana/store_sqlite/open_sqlite.hpp"

#include <fmt/core.h>

#include <filesystem>

#include "ksana/store_sqlite/damage/start_check.hpp"
#include "ksana/store_sqlite/migrations/migrate.hpp"
#include "ksana/store_sqlite/sqlite_backend.hpp"

namespace ksana::store_sqlite {
namespace {

// journal_size_limit: the log is never truncated. wal_autocheckpoint: wal_keeper.hpp does it.
// mmap_size: reading beyond the end of a file that shrank would raise a signal instead of an error.
// secure_delete: Debian turns it on, and it would write zeros over all replaced data.
constexpr std::string_view kWriterPragmas =
    "PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=-1; PRAGMA wal_autocheckpoint=0; "
    "PRAGMA cache_size=-16000; PRAGMA temp_store=MEMORY; PRAGMA mmap_size=0; "
    "PRAGMA secure_delete=0; PRAGMA foreign_keys=0";

Error Missing(const std::string& path) {
    return {Code::kNotFound, fmt::format("{} does not exist", path)};
}

bool Exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

Result<std::unique_ptr<Connection>> OpenWriter(const SqliteOptions& options, PageSums& sums) {
    const bool full = options.durability == Durability::kFull;
    KSANA_TRY(const StartFacts facts, CheckBeforeStart(options.path, sums));
    KSANA_TRY(
        auto connection,
        Connection::Open(options.path, options.create ? OpenMode::kCreate : OpenMode::kExisting,
                         full ? LogWrites::kGathered : LogWrites::kPlain, &sums));
    KSANA_TRY_VOID(
        connection->Execute(full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL"));
    KSANA_TRY_VOID(connection->Execute(std::string(kWriterPragmas)));
    if (!sums.BeginSaving()) {
        return Error(Code::kUnavailable, fmt::format("cannot write {}-sums", options.path));
    }
    if (facts.unclean) KSANA_TRY_VOID(QuickCheck(*connection));
    KSANA_TRY_VOID(Migrate(*connection, options.clock));
    return connection;
}

Result<void> CheckReadable(const std::string& path) {
    KSANA_TRY(const store_kit::MigrationStatus status, SqliteMigrationStatus(path));
    KSANA_TRY_VOID(RefuseNewer(status));
    if (!status.Pending()) return {};
    return Error(Code::kConflict,
                 fmt::format("{} has schema version {}, this program needs {}: migrate it first",
                             path, status.newest_applied, status.newest_known));
}

}  // namespace

Result<std::unique_ptr<store_kit::Backend>> OpenSqlite(const SqliteOptions& given) {
    SqliteOptions options = given;
    options.path = store_kit::WithoutLink(given.path);
    if ((options.read_only || !options.create) && !Exists(options.path)) {
        return Missing(options.path);
    }
    store_kit::FileLock lock;
    std::unique_ptr<PageSums> sums;
    std::unique_ptr<Connection> writer;
    if (options.read_only) {
        KSANA_TRY_VOID(CheckReadable(options.path));
    } else {
        KSANA_TRY(lock, store_kit::FileLock::Take(options.path, options.path));
        KSANA_TRY(sums, PageSums::Open(options.path, options.durability == Durability::kFull));
        KSANA_TRY(writer, OpenWriter(options, *sums));
    }
    auto backend =
        std::make_unique<SqliteBackend>(options.path, options.clock, options.readers,
                                        std::move(lock), std::move(sums), std::move(writer));
    KSANA_TRY_VOID(backend->Start());
    return std::unique_ptr<store_kit::Backend>(std::move(backend));
}

Result<store_kit::MigrationStatus> SqliteMigrationStatus(const std::string& path) {
    if (!Exists(path)) return Missing(path);
    KSANA_TRY(auto connection, Connection::Open(path, OpenMode::kReadOnly));
    return ReadStatus(*connection);
}

}  // namespace ksana::store_sqlite
