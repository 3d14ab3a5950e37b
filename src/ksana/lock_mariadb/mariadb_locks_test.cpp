#include "ksana/lock_mariadb/mariadb_locks.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ksana/lock_mariadb/mariadb_connection.hpp"
#include "support/mariadb_server.hpp"
#include "support/session_lock_fixture.hpp"
#include "support/tcp_proxy.hpp"

namespace ksana::lock_mariadb {
namespace {

using ksana::testing::MariadbOptions;
using ksana::testing::MariadbUrl;
using ksana::testing::TcpProxy;
using lock::LockDriver;

class MariadbLocksTest : public ksana::testing::SessionLockTest {
  protected:
    // Each test has a database of its own.
    void SetUp() override { Run(fmt::format("CREATE DATABASE {}", database_)); }
    void TearDown() override { Run(fmt::format("DROP DATABASE IF EXISTS {}", database_)); }

    MariadbLockOptions Options(const Clock& clock) {
        MariadbLockOptions options = MariadbOptions(MariadbUrl(), clock);
        options.database = database_;
        return options;
    }
    MariadbLockOptions Options() { return Options(clock_); }

    using SessionLockTest::Open;
    std::unique_ptr<LockDriver> Open(const Clock& clock) override {
        return OpenWith(Options(clock));
    }
    static std::unique_ptr<LockDriver> OpenWith(const MariadbLockOptions& options) {
        auto locks = OpenMariadbLocks(options);
        if (locks) return std::move(*locks);
        ADD_FAILURE() << locks.error().Describe();
        return nullptr;
    }

    // Runs a statement on a connection of its own.
    TextRows Run(const std::string& sql) {
        auto connection = MariadbConnection::Open(MariadbOptions(MariadbUrl(), clock_));
        if (!connection) {
            ADD_FAILURE() << connection.error().Describe();
            return {};
        }
        auto rows = (*connection)->Query(sql, clock_.SteadyNow() + std::chrono::seconds(30));
        if (!rows) ADD_FAILURE() << sql << ": " << rows.error().Describe();
        return rows ? std::move(*rows) : TextRows();
    }

    // Kills the session that holds the lock, as an administrator would.
    void EndSession() {
        const TextRows rows = Run(fmt::format(
            "SELECT session FROM {}.ksana_lock_state WHERE lock_key = '{}'", database_, key_));
        ASSERT_EQ(rows.size(), 1U);
        ASSERT_TRUE(rows[0][0]);
        Run("KILL " + *rows[0][0]);
    }

    const std::string database_ = fmt::format("test_{:016x}", random_.Next());
};

TEST_F(MariadbLocksTest, AKilledSessionIsALostLock) {
    const auto driver = Open();
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    EndSession();
    EXPECT_EQ(CodeOf(driver->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    const auto other = Open();
    const auto next = TakeWithin(std::chrono::seconds(20), *other, Request("t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence);
    EXPECT_EQ(CodeOf(driver->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    EXPECT_TRUE(other->Renew(Request("t2"), next->fence));
}

TEST_F(MariadbLocksTest, AKilledSessionIsReplaced) {
    const auto driver = Open();
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    EndSession();
    const auto again = TakeWithin(std::chrono::seconds(20), *driver, Request("t1"));
    ASSERT_TRUE(again) << "the same token asks again";
    EXPECT_GT(again->fence, grant->fence);
    EXPECT_TRUE(driver->Renew(Request("t1"), again->fence));
}

TEST_F(MariadbLocksTest, ACutConnectionIsALostLock) {
    MariadbLockOptions options = Options();
    TcpProxy proxy(options.port, "no such text");
    options.port = proxy.port();
    const auto driver = OpenWith(options);
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    proxy.Set(TcpProxy::Mode::kRefuse);
    EXPECT_EQ(CodeOf(driver->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    EXPECT_EQ(CodeOf(driver->Try(Request("t1"))), Code::kUnavailable);
    const auto other = Open();
    EXPECT_TRUE(TakeWithin(std::chrono::seconds(20), *other, Request("t2")));
}

// Nobody tells the server that the client has gone: the TTL frees the lock.
TEST_F(MariadbLocksTest, ASilentConnectionExpires) {
    MariadbLockOptions options = Options();
    TcpProxy proxy(options.port, "no such text");
    options.port = proxy.port();
    options.timeout = std::chrono::milliseconds(300);
    const auto driver = OpenWith(options);
    const lock::LockRequest request = Request("t1", std::chrono::seconds(1));
    const auto grant = Take(*driver, request);
    ASSERT_TRUE(grant);
    proxy.Set(TcpProxy::Mode::kStall);
    EXPECT_EQ(CodeOf(driver->Renew(request, grant->fence)), Code::kUnavailable);
    const auto other = Open();
    const auto next = TakeWithin(std::chrono::seconds(30), *other, Request("t2"));
    ASSERT_TRUE(next);
    proxy.Set(TcpProxy::Mode::kPass);
    EXPECT_EQ(CodeOf(driver->Renew(request, grant->fence)), Code::kLeaseLost);
    EXPECT_TRUE(other->Renew(Request("t2"), next->fence));
}

// The token proves that the caller is the holder, whose connection the server still believes in.
TEST_F(MariadbLocksTest, AHolderTakesOverFromItsDeadConnection) {
    MariadbLockOptions options = Options();
    TcpProxy proxy(options.port, "no such text");
    options.port = proxy.port();
    const auto driver = OpenWith(options);
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    proxy.Set(TcpProxy::Mode::kStall);
    const auto other = Open();
    EXPECT_FALSE(Take(*other, Request("t2")));
    const auto again = Take(*other, Request("t1"));
    ASSERT_TRUE(again);
    EXPECT_GT(again->fence, grant->fence);
}

TEST_F(MariadbLocksTest, AKilledHolderIsReplacedAtOnce) { CheckKilledHolder(); }

TEST_F(MariadbLocksTest, AStoppedHolderExpires) { CheckStoppedHolder(std::chrono::seconds(1)); }

TEST_F(MariadbLocksTest, TheClockOfTheProcessDecidesNothing) { CheckWallClock(); }

TEST_F(MariadbLocksTest, ConnectionsAreLimited) {
    MariadbLockOptions options = Options();
    options.max_connections = 1;
    const auto driver = OpenWith(options);
    lock::LockRequest another = Request("t1");
    another.key += "b";
    const auto first = Take(*driver, Request("t1"));
    ASSERT_TRUE(first);
    EXPECT_EQ(CodeOf(driver->Try(another)), Code::kExhausted);
    ASSERT_TRUE(driver->Release(Request("t1"), first->fence));
    EXPECT_TRUE(Take(*driver, another));
}

// As mariadb_locks.hpp tells the reader.
TEST_F(MariadbLocksTest, TheNameOfALockCanBeFound) {
    const auto driver = Open();
    ASSERT_TRUE(Take(*driver, Request("t1")));
    const TextRows rows = Run(fmt::format(
        "SELECT IS_USED_LOCK(CONCAT('ksana_', SHA2(CONCAT('{0}', '.', '{1}'), 224))) = session "
        "FROM {0}.ksana_lock_state WHERE lock_key = '{1}'",
        database_, key_));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0][0], "1");
}

TEST_F(MariadbLocksTest, DatabasesHaveLocksOfTheirOwn) {
    const auto driver = Open();
    ASSERT_TRUE(Take(*driver, Request("t1")));
    const auto other = OpenWith(MariadbOptions(MariadbUrl(), clock_));
    EXPECT_TRUE(Take(*other, Request("t2")));
}

TEST_F(MariadbLocksTest, OldRowsAreDeleted) {
    const auto driver = Open();
    ASSERT_TRUE(Take(*driver, Request("t1")));
    lock::LockRequest freed = Request("t1");
    freed.key += "freed";
    const auto grant = Take(*driver, freed);
    ASSERT_TRUE(grant);
    ASSERT_TRUE(driver->Release(freed, grant->fence));
    Run(fmt::format("UPDATE {}.ksana_lock_state SET taken_at = taken_at - INTERVAL 8 DAY",
                    database_));
    Open();
    EXPECT_EQ(Run(fmt::format("SELECT 1 FROM {}.ksana_lock_state", database_)).size(), 1U)
        << "only the lock in use";
    const auto next = Take(*driver, freed);
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence) << "the fence grows without its row";
}

TEST_F(MariadbLocksTest, ALostTableIsMadeAgain) {
    const auto driver = Open();
    const auto first = Take(*driver, Request("t1"));
    ASSERT_TRUE(first);
    ASSERT_TRUE(driver->Release(Request("t1"), first->fence));
    Run(fmt::format("DROP TABLE {}.ksana_lock_state", database_));
    const auto next = Take(*driver, Request("t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, first->fence);
}

TEST_F(MariadbLocksTest, FaultsDoNotTellThePassword) {
    Run(fmt::format("CREATE USER {} IDENTIFIED BY 'right'", database_));
    const auto expect = [](const MariadbLockOptions& options, Code code) {
        const auto opened = OpenMariadbLocks(options);
        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, code) << opened.error().Describe();
        EXPECT_EQ(opened.error().Describe().find(options.password), std::string::npos)
            << opened.error().Describe();
    };
    MariadbLockOptions wrong = Options();
    wrong.password = "secret";
    expect(wrong, Code::kUnauthenticated);
    MariadbLockOptions missing = Options();
    missing.database = "no_such_database";
    expect(missing, Code::kNotFound);
    MariadbLockOptions nowhere = Options();
    nowhere.port = 1;
    expect(nowhere, Code::kUnavailable);
    MariadbLockOptions weak = Options();
    weak.user = database_;
    weak.password = "right";
    expect(weak, Code::kPermissionDenied);
    Run(fmt::format("GRANT SELECT ON {0}.* TO {0}", database_));
    expect(weak, Code::kPermissionDenied);  // to create the table
    Open();
    expect(weak, Code::kPermissionDenied);  // to write it
    Run(fmt::format("GRANT INSERT, UPDATE, DELETE ON {0}.ksana_lock_state TO {0}", database_));
    const auto driver = OpenWith(weak);
    ASSERT_TRUE(driver) << "no right to create anything is needed";
    EXPECT_TRUE(Take(*driver, Request("t1")));
    EXPECT_EQ(driver->Location(),
              fmt::format("mariadb://{}:{}/{}", weak.host, weak.port, database_));
    Run(fmt::format("DROP USER {}", database_));
}

}  // namespace
}  // namespace ksana::lock_mariadb
