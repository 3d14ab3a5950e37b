#include "ksana/base/error/check.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/store_kit/kit_store.hpp"
#include "ksana/store_postgres/open_postgres.hpp"
#include "locks/store_locks_fixture.hpp"
#include "support/postgres_server.hpp"

namespace ksana::locks {
namespace {

// Each user has connections of its own, as another process would.
struct PostgresStore {
    std::shared_ptr<store::Store> Open() {
        store_postgres::PostgresOptions options = schema.Options();
        options.listen = false;
        auto backend = store_postgres::OpenPostgres(options);
        KSANA_CHECK(backend, backend.error().Describe());
        return store_kit::MakeStore(*std::move(backend), ids);
    }

    testing::PostgresSchema schema;
    UuidGenerator ids{schema.clock(), schema.random()};
    FakeClock clock;  // not used: the server has its own
};

LockKind PostgresKind() {
    LockKind kind = KindOfStore<PostgresStore>("store on PostgreSQL");
    kind.advance = {};
    return kind;
}

INSTANTIATE_TEST_SUITE_P(PostgresStore, LockTest, ::testing::Values(PostgresKind()));

}  // namespace
}  // namespace ksana::locks
