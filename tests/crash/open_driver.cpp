#include "crash/open_driver.hpp"

#include "ksana/store_json/open_json.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"

namespace ksana::crash {
namespace {

constexpr std::int64_t kSmallLog = 2'000;

}  // namespace

Result<std::unique_ptr<store::Store>> OpenDriver(const std::string& driver, const std::string& path,
                                                 Clock& clock, Random& random, UuidGenerator& ids) {
    if (driver == "json") {
        // A small limit, so that a few steps are enough for the log to be rewritten.
        KSANA_TRY(auto backend,
                  store_json::OpenJson(
                      {.path = path, .clock = clock, .ids = ids, .small_log = kSmallLog}));
        return store_kit::MakeStore(std::move(backend), ids);
    }
    if (driver == "sqlite") {
        KSANA_TRY(auto backend, store_sqlite::OpenSqlite({.path = path, .clock = clock}));
        return store_kit::MakeStore(std::move(backend), ids);
    }
    if (driver == "postgres") {
        KSANA_TRY(auto backend,
                  store_postgres::OpenPostgres({.url = path, .clock = clock, .random = random}));
        return store_kit::MakeStore(std::move(backend), ids);
    }
    return Error(Code::kInvalidArgument, "no such driver: " + driver);
}

}  // namespace ksana::crash
