#include <gtest/gtest.h>

#include "ksana/lock_postgres/postgres_locks.hpp"
#include "support/private_server.hpp"
#include "support/session_lock_fixture.hpp"

// Tests that stop or restart a server of their own.

namespace ksana::lock_postgres {
namespace {

class PostgresFaultsTest : public ksana::testing::SessionLockTest {
  protected:
    using SessionLockTest::Open;
    std::unique_ptr<lock::LockDriver> Open(const Clock& clock) override {
        auto locks = OpenPostgresLocks(
            {.url = server_.url(), .clock = clock, .timeout = std::chrono::seconds(2)});
        if (locks) return std::move(*locks);
        ADD_FAILURE() << locks.error().Describe();
        return nullptr;
    }

    ksana::testing::PrivateServer server_{"start_postgres.sh", "KSANA_POSTGRES_PORT"};
};

TEST_F(PostgresFaultsTest, ARestartFreesLocksAndForgetsNothing) {
    const auto driver = Open();
    lock::LockRequest request = Request("t1");
    request.stamp = 1000;
    const auto grant = Take(*driver, request);
    ASSERT_TRUE(grant);
    server_.Restart();
    EXPECT_EQ(CodeOf(driver->Renew(request, grant->fence)), Code::kLeaseLost);
    const auto used = driver->Try(request);
    ASSERT_TRUE(used) << used.error().Describe();
    EXPECT_FALSE(used->grant) << "the stamp is remembered";
    EXPECT_EQ(used->last_stamp, 1000);
    request.stamp = 1001;
    request.token = "t2";
    const auto next = Take(*driver, request);
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence);
    server_.Halt();
    EXPECT_EQ(CodeOf(driver->Renew(request, next->fence)), Code::kLeaseLost);
    EXPECT_EQ(CodeOf(driver->Try(request)), Code::kUnavailable);
}

TEST_F(PostgresFaultsTest, AStoppedServerIsUnavailable) {
    const auto driver = Open();
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    lock::LockRequest another = Request("t1");
    another.key += "b";
    server_.Freeze("data/postmaster.pid");
    const SteadyPoint before = clock_.SteadyNow();
    EXPECT_EQ(CodeOf(driver->Renew(Request("t1"), grant->fence)), Code::kUnavailable);
    EXPECT_EQ(CodeOf(driver->Try(another)), Code::kUnavailable) << "a new connection";
    EXPECT_LT(clock_.SteadyNow() - before, std::chrono::seconds(12));
    server_.Thaw();
    EXPECT_EQ(CodeOf(driver->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    EXPECT_TRUE(TakeWithin(std::chrono::seconds(20), *driver, Request("t2")));
}

}  // namespace
}  // namespace ksana::lock_postgres
