#include "ksana/server/open_store.hpp"

#include <fmt/core.h>

#include <array>
#include <filesystem>

#include "ksana/base/error/check.hpp"
#include "ksana/base/text/utf8.hpp"
#include "ksana/codec/dialects/jobs_file.hpp"
#include "ksana/store_json/durable_file.hpp"
#include "ksana/store_json/load.hpp"
#include "ksana/store_json/open_json.hpp"
#include "ksana/store_kit/file_lock.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"

namespace ksana::server {
namespace {

using OpenedBackend = Result<std::unique_ptr<store_kit::Backend>>;
using Status = Result<store_kit::MigrationStatus>;

bool Exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
}

OpenedBackend OpenMemory(const StoreUrl&, const StoreEnvironment& environment, OpenMode) {
    return store_memory::OpenMemory(environment.clock);
}

// Checks jobs.json before a read-only open. Opening moves an invalid jobs.json aside and starts
// without it (K-12). That suits a server, but a reader would get an empty store and a changed
// folder.
Result<void> CheckJobsFile(const std::string& path) {
    auto text = store_json::ReadWholeFile(path);
    if (!text && text.error().code == Code::kNotFound) {
        if (Exists(store_json::LogPathOf(path))) return {};
        return Error(Code::kNotFound, fmt::format("{} does not exist", Printable(path)));
    }
    if (!text) return std::move(text).error();
    auto jobs = codec::JobsFileFromJson(*text);
    if (jobs) return {};
    return std::move(jobs).error().WithContext(Printable(path));
}

OpenedBackend OpenJson(const StoreUrl& url, const StoreEnvironment& environment, OpenMode mode) {
    const std::string& path = url.location;
    if (mode == OpenMode::kReadOnly) KSANA_TRY_VOID(CheckJobsFile(path));
    return store_json::OpenJson({.path = path, .clock = environment.clock, .ids = environment.ids});
}

OpenedBackend OpenSqlite(const StoreUrl& url, const StoreEnvironment& environment, OpenMode mode) {
    const bool read_only = mode == OpenMode::kReadOnly;
    if (!read_only) store_kit::MakeFolderOf(url.location);
    return store_sqlite::OpenSqlite({.path = url.location,
                                     .clock = environment.clock,
                                     .read_only = read_only,
                                     .create = !read_only});
}

OpenedBackend OpenPostgres(const StoreUrl& url, const StoreEnvironment& environment,
                           OpenMode mode) {
    return store_postgres::OpenPostgres({.url = url.location,
                                         .clock = environment.clock,
                                         .random = environment.random,
                                         .listen = !url.transaction_pooler,
                                         .migrate = mode == OpenMode::kReadWrite,
                                         .prepare = !url.transaction_pooler});
}

Status NoSchema(const StoreUrl&, const StoreEnvironment&) { return store_kit::MigrationStatus{}; }

Status SqliteStatus(const StoreUrl& url, const StoreEnvironment&) {
    return store_sqlite::SqliteMigrationStatus(url.location);
}

Status PostgresStatus(const StoreUrl& url, const StoreEnvironment& environment) {
    return store_postgres::PostgresMigrationStatus({.url = url.location,
                                                    .clock = environment.clock,
                                                    .random = environment.random,
                                                    .prepare = !url.transaction_pooler});
}

struct Driver {
    StoreKind kind;
    OpenedBackend (*open)(const StoreUrl&, const StoreEnvironment&, OpenMode);
    Status (*status)(const StoreUrl&, const StoreEnvironment&);
};

// In the order of StoreKind.
constexpr std::array<Driver, 4> kDrivers = {{
    {StoreKind::kSqlite, OpenSqlite, SqliteStatus},
    {StoreKind::kPostgres, OpenPostgres, PostgresStatus},
    {StoreKind::kJson, OpenJson, NoSchema},
    {StoreKind::kMemory, OpenMemory, NoSchema},
}};

const Driver& DriverOf(StoreKind kind) {
    const Driver& driver = kDrivers.at(static_cast<std::size_t>(kind));
    KSANA_CHECK(driver.kind == kind, "the table of drivers is out of order");
    return driver;
}

}  // namespace

Result<std::unique_ptr<store::Store>> OpenStore(const StoreUrl& url,
                                                const StoreEnvironment& environment,
                                                OpenMode mode) {
    KSANA_TRY(auto backend, DriverOf(url.kind).open(url, environment, mode));
    return store_kit::MakeStore(std::move(backend), environment.ids);
}

Result<store_kit::MigrationStatus> MigrationStatusOf(const StoreUrl& url,
                                                     const StoreEnvironment& environment) {
    return DriverOf(url.kind).status(url, environment);
}

}  // namespace ksana::server
