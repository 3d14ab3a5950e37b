#include "ksana/lock_postgres/postgres_locks.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ksana/libpq/connection.hpp"
#include "support/postgres_server.hpp"
#include "support/session_lock_fixture.hpp"
#include "support/tcp_proxy.hpp"

namespace ksana::lock_postgres {
namespace {

using ksana::testing::PostgresSchema;
using ksana::testing::PostgresUrl;
using ksana::testing::TcpProxy;
using lock::LockDriver;

class PostgresLocksTest : public ksana::testing::SessionLockTest {
  protected:
    PostgresLockOptions Options(const Clock& clock) {
        return {.url = PostgresUrl(), .clock = clock, .schema = schema_.name()};
    }
    PostgresLockOptions Options() { return Options(clock_); }

    using SessionLockTest::Open;
    std::unique_ptr<LockDriver> Open(const Clock& clock) override {
        return OpenWith(Options(clock));
    }
    static std::unique_ptr<LockDriver> OpenWith(const PostgresLockOptions& options) {
        auto locks = OpenPostgresLocks(options);
        if (locks) return std::move(*locks);
        ADD_FAILURE() << locks.error().Describe();
        return nullptr;
    }

    // Ends the session that holds the lock, as an administrator would.
    void EndSession() {
        const auto rows = schema_.Run(fmt::format(
            "SELECT pg_terminate_backend(pid, 20000) FROM ksana.lock_state WHERE key = '{}'",
            key_));
        ASSERT_EQ(rows.size(), 1U);
        EXPECT_TRUE(libpq::RowReader(rows, 0).Bool());
    }

    static std::uint16_t Port(const std::string& url) {
        return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
    }
    static std::string WithPort(std::string url, std::uint16_t port) {
        const std::size_t at = url.rfind(':') + 1;
        return url.replace(at, url.find('/', at) - at, std::to_string(port));
    }

    PostgresSchema schema_;
};

TEST_F(PostgresLocksTest, AnEndedSessionIsALostLock) {
    const auto driver = Open();
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    EndSession();
    EXPECT_EQ(CodeOf(driver->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    const auto other = Open();
    const auto next = Take(*other, Request("t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, grant->fence);
    EXPECT_EQ(CodeOf(driver->Renew(Request("t1"), grant->fence)), Code::kLeaseLost);
    EXPECT_TRUE(other->Renew(Request("t2"), next->fence));
}

TEST_F(PostgresLocksTest, AnEndedSessionIsReplaced) {
    const auto driver = Open();
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    EndSession();
    const auto again = Take(*driver, Request("t1"));
    ASSERT_TRUE(again) << "the same token asks again";
    EXPECT_GT(again->fence, grant->fence);
    EXPECT_TRUE(driver->Renew(Request("t1"), again->fence));
}

TEST_F(PostgresLocksTest, ACutConnectionIsALostLock) {
    TcpProxy proxy(Port(PostgresUrl()), "no such text");
    PostgresLockOptions options = Options();
    options.url = WithPort(PostgresUrl(), proxy.port());
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
TEST_F(PostgresLocksTest, ASilentConnectionExpires) {
    TcpProxy proxy(Port(PostgresUrl()), "no such text");
    PostgresLockOptions options = Options();
    options.url = WithPort(PostgresUrl(), proxy.port());
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
TEST_F(PostgresLocksTest, AHolderTakesOverFromItsDeadConnection) {
    TcpProxy proxy(Port(PostgresUrl()), "no such text");
    PostgresLockOptions options = Options();
    options.url = WithPort(PostgresUrl(), proxy.port());
    options.timeout = std::chrono::milliseconds(300);
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

TEST_F(PostgresLocksTest, AKilledHolderIsReplacedAtOnce) { CheckKilledHolder(); }

TEST_F(PostgresLocksTest, AStoppedHolderExpires) {
    CheckStoppedHolder(std::chrono::milliseconds(500));
}

TEST_F(PostgresLocksTest, TheClockOfTheProcessDecidesNothing) { CheckWallClock(); }

TEST_F(PostgresLocksTest, ConnectionsAreLimited) {
    PostgresLockOptions options = Options();
    options.max_connections = 2;
    const auto driver = OpenWith(options);
    lock::LockRequest a = Request("t1");
    lock::LockRequest b = a;
    lock::LockRequest c = a;
    b.key += "b";
    c.key += "c";
    const auto first = Take(*driver, a);
    ASSERT_TRUE(first);
    ASSERT_TRUE(Take(*driver, b));
    const auto refused = driver->Try(c);
    ASSERT_EQ(CodeOf(refused), Code::kExhausted);
    EXPECT_NE(refused.error().message.find("max_connections"), std::string::npos);
    ASSERT_TRUE(driver->Release(a, first->fence));
    EXPECT_TRUE(Take(*driver, c));
}

// A lock that nobody released does not occupy its connection for ever.
TEST_F(PostgresLocksTest, ExpiredLocksGiveTheirConnectionBack) {
    PostgresLockOptions options = Options();
    options.max_connections = 1;
    const auto driver = OpenWith(options);
    ASSERT_TRUE(Take(*driver, Request("t1", std::chrono::milliseconds(200))));
    lock::LockRequest another = Request("t1");
    another.key += "b";
    EXPECT_TRUE(TakeWithin(std::chrono::seconds(20), *driver, another));
}

TEST_F(PostgresLocksTest, OldRowsAreDeleted) {
    const auto driver = Open();
    const auto grant = Take(*driver, Request("t1"));
    ASSERT_TRUE(grant);
    lock::LockRequest freed = Request("t1");
    freed.key += "freed";
    const auto other = Take(*driver, freed);
    ASSERT_TRUE(other);
    ASSERT_TRUE(driver->Release(freed, other->fence));
    schema_.Run("UPDATE ksana.lock_state SET taken_at = taken_at - interval '8 days'");
    Open();
    EXPECT_EQ(schema_.Run("SELECT FROM ksana.lock_state").size(), 1U) << "only the lock in use";
    const auto next = Take(*driver, freed);
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, other->fence) << "the fence grows without its row";
}

TEST_F(PostgresLocksTest, ALostTableIsMadeAgain) {
    const auto driver = Open();
    const auto first = Take(*driver, Request("t1"));
    ASSERT_TRUE(first);
    ASSERT_TRUE(driver->Release(Request("t1"), first->fence));
    schema_.Run("DROP TABLE ksana.lock_state");
    const auto next = Take(*driver, Request("t2"));
    ASSERT_TRUE(next);
    EXPECT_GT(next->fence, first->fence);
}

// A role without any rights but to connect, deleted at the end.
class Role {
  public:
    explicit Role(PostgresSchema& schema) : schema_(schema) {
        schema_.Run("CREATE ROLE " + name_ + " LOGIN");
    }
    ~Role() {
        schema_.Run("DROP OWNED BY " + name_);
        schema_.Run("DROP ROLE " + name_);
    }
    Role(const Role&) = delete;
    Role& operator=(const Role&) = delete;
    const std::string& name() const { return name_; }

  private:
    PostgresSchema& schema_;
    const std::string name_ = fmt::format("role_{:x}", schema_.random().Next());
};

TEST_F(PostgresLocksTest, MissingRightsAreNamed) {
    const Role role(schema_);
    PostgresLockOptions options = Options();
    options.url.replace(options.url.find("ksana@"), 6, role.name() + ":secret@");
    const auto no_schema = OpenPostgresLocks(options);
    ASSERT_FALSE(no_schema);
    EXPECT_EQ(no_schema.error().code, Code::kPermissionDenied) << no_schema.error().Describe();
    EXPECT_NE(no_schema.error().Describe().find("lock_state"), std::string::npos);
    EXPECT_EQ(no_schema.error().Describe().find("secret"), std::string::npos);
    Open();  // creates the table
    const auto no_table = OpenPostgresLocks(options);
    ASSERT_FALSE(no_table);
    EXPECT_EQ(no_table.error().code, Code::kPermissionDenied) << no_table.error().Describe();
    schema_.Run(fmt::format("GRANT USAGE ON SCHEMA {} TO {}", schema_.name(), role.name()));
    schema_.Run(
        fmt::format("GRANT SELECT, INSERT, UPDATE, DELETE ON ksana.lock_state TO {}", role.name()));
    EXPECT_TRUE(OpenWith(options)) << "no right to create anything is needed";
}

TEST_F(PostgresLocksTest, FaultsOfTheUrlDoNotTellThePassword) {
    struct Case {
        std::string url;
        Code code;
    };
    const std::string url = PostgresUrl();
    std::string stranger = url;
    stranger.replace(url.find("ksana@"), 6, "nobody_here:secret@");
    const Case cases[] = {
        {"postgresql://me:secret@host/db?no_such_option=secret", Code::kInvalidArgument},
        {stranger, Code::kUnauthenticated},
        {url + "_no_such_database", Code::kNotFound},
        {"postgresql://me:secret@127.0.0.1:1/db", Code::kUnavailable}};
    for (const Case& fault : cases) {
        PostgresLockOptions options = Options();
        options.url = fault.url;
        const auto opened = OpenPostgresLocks(options);
        ASSERT_FALSE(opened) << fault.url;
        EXPECT_EQ(opened.error().code, fault.code) << opened.error().Describe();
        EXPECT_EQ(opened.error().Describe().find("secret"), std::string::npos)
            << opened.error().Describe();
    }
    PostgresLockOptions options = Options();
    options.schema = "x; DROP TABLE y";
    EXPECT_EQ(OpenPostgresLocks(options).error().code, Code::kInvalidArgument);
    EXPECT_EQ(Open()->Location().find("postgresql://127.0.0.1:"), 0U) << Open()->Location();
}

}  // namespace
}  // namespace ksana::lock_postgres
