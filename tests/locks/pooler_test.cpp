#include <gtest/gtest.h>

#include "ksana/lock_postgres/postgres_locks.hpp"
#include "support/postgres_server.hpp"

namespace ksana::locks {
namespace {

// A pooler gives each transaction another session, which would take the lock with it.
TEST(PoolerTest, APoolerIsRefused) {
    const SystemClock clock;
    ASSERT_FALSE(testing::PoolerUrl().empty()) << "run it with support/with_pgbouncer.py";
    const auto locks = lock_postgres::OpenPostgresLocks({.url = testing::PoolerUrl(),
                                                         .clock = clock,
                                                         .timeout = std::chrono::seconds(20),
                                                         .schema = "ksana_locks"});
    ASSERT_FALSE(locks);
    EXPECT_EQ(locks.error().code, Code::kUnimplemented);
    EXPECT_NE(locks.error().message.find("pooler"), std::string::npos) << locks.error().Describe();
}

}  // namespace
}  // namespace ksana::locks
