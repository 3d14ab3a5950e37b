#include "support/mariadb_server.hpp"

#include "locks/lock_fixture.hpp"

namespace ksana::locks {
namespace {

std::unique_ptr<lock::LockDriver> OpenTestLocks() {
    static const SystemClock clock;
    auto options = testing::MariadbOptions(testing::MariadbUrl(), clock);
    options.timeout = std::chrono::seconds(20);
    options.max_connections = 128;
    auto locks = lock_mariadb::OpenMariadbLocks(options);
    if (!locks) {
        ADD_FAILURE() << locks.error().Describe();
        return nullptr;
    }
    return std::move(*locks);
}

INSTANTIATE_TEST_SUITE_P(Mariadb, LockTest,
                         ::testing::Values(LockKind{.name = "mariadb",
                                                    .open = OpenTestLocks,
                                                    .shortest_ttl = std::chrono::seconds(1),
                                                    .advance = {},
                                                    .begin = {},
                                                    .end = {}}));

}  // namespace
}  // namespace ksana::locks
