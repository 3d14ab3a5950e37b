#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/store_json/open_json.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_memory/memory_backend.hpp"
#include "ksana/store_sqlite/open_sqlite.hpp"
#include "locks/store_locks_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace ksana::locks {
namespace {

// What the servers below have in common.
struct LocalStore {
    std::shared_ptr<store::Store> Open() { return store; }

    test::TemporaryFolder folder;
    FakeClock clock;
    SystemRandom random;
    UuidGenerator ids{clock, random};
    std::shared_ptr<store::Store> store;
};

struct MemoryStore : LocalStore {
    MemoryStore() { store = store_kit::MakeStore(store_memory::OpenMemory(clock), ids); }
};

struct JsonStore : LocalStore {
    JsonStore() {
        auto backend =
            store_json::OpenJson({.path = folder.File("jobs.json"), .clock = clock, .ids = ids});
        KSANA_CHECK(backend, backend.error().Describe());
        store = store_kit::MakeStore(*std::move(backend), ids);
    }
};

struct SqliteStore : LocalStore {
    SqliteStore() {
        auto backend = store_sqlite::OpenSqlite({.path = folder.File("ksana.db"),
                                                 .clock = clock,
                                                 .durability = store_sqlite::Durability::kNormal});
        KSANA_CHECK(backend, backend.error().Describe());
        store = store_kit::MakeStore(*std::move(backend), ids);
    }
};

INSTANTIATE_TEST_SUITE_P(MemoryStore, LockTest,
                         ::testing::Values(KindOfStore<MemoryStore>("store on memory")));
INSTANTIATE_TEST_SUITE_P(JsonStore, LockTest,
                         ::testing::Values(KindOfStore<JsonStore>("store on JSON")));
INSTANTIATE_TEST_SUITE_P(SqliteStore, LockTest,
                         ::testing::Values(KindOfStore<SqliteStore>("store on SQLite")));

}  // namespace
}  // namespace ksana::locks
