#include "ksana/lock_postgres/postgres_locks.hpp"
#include "locks/lock_fixture.hpp"
#include "support/postgres_server.hpp"

namespace ksana::locks {
namespace {

std::unique_ptr<lock::LockDriver> OpenTestLocks() {
    static const SystemClock clock;
    auto locks = lock_postgres::OpenPostgresLocks({.url = testing::PostgresUrl(),
                                                   .clock = clock,
                                                   .timeout = std::chrono::seconds(20),
                                                   .max_connections = 128,
                                                   .schema = "ksana_locks"});
    if (!locks) {
        ADD_FAILURE() << locks.error().Describe();
        return nullptr;
    }
    return std::move(*locks);
}

INSTANTIATE_TEST_SUITE_P(
    Postgres, LockTest,
    ::testing::Values(LockKind{
        .name = "postgres", .open = OpenTestLocks, .advance = {}, .begin = {}, .end = {}}));

}  // namespace
}  // namespace ksana::locks
