#include "ksana/store_postgres/node_session.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ksana/base/time/fake_clock.hpp"
#include "support/postgres_server.hpp"

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;
using Names = std::vector<std::string>;

class NodeSessionTest : public ::testing::Test {
  protected:
    using Opened = std::unique_ptr<Connection>;

    Deadline Soon() { return {schema_.clock(), std::chrono::seconds(10)}; }
    Opened Connect() {
        const auto options = schema_.Options();
        auto made = Connection::Open({.url = options.url,
                                      .schema = options.schema,
                                      .prepare = true,
                                      .statement_timeout = std::chrono::seconds(10)},
                                     Soon());
        if (auto* fault = std::get_if<Fault>(&made)) {
            ADD_FAILURE() << fault->error.Describe();
            return nullptr;
        }
        return std::move(std::get<0>(made));
    }
    std::optional<Names> Absent(const Names& asked) {
        auto answer = session_.Absent(*asking_, asked, Soon());
        if (auto* fault = std::get_if<Fault>(&answer)) {
            ADD_FAILURE() << fault->error.Describe();
            return std::nullopt;
        }
        return std::get<0>(std::move(answer));
    }
    // Ends the session of a connection and waits until the server has freed its locks.
    void Terminate(const Connection& connection) {
        schema_.Run(fmt::format("SELECT pg_terminate_backend({}, 10000)", connection.BackendPid()));
    }

    PostgresSchema schema_;
    FakeClock clock_;
    NodeSession session_{clock_};
    Opened asking_ = Connect();
};

// K-24, D-10: a process shows that it lives, and the server notices its death at once.
TEST_F(NodeSessionTest, TheServerKnowsWhoLives) {
    // Random names: advisory locks belong to the whole database.
    const std::string me = schema_.name() + "-me";
    const std::string other = schema_.name() + "-other";
    session_.Hold(me);
    const Opened own = Connect();
    ASSERT_FALSE(session_.Attach(*own, Soon()));
    EXPECT_EQ(Absent({other}), std::nullopt) << "others may be reconnecting, too";
    clock_.Advance(NodeSession::kSettle);
    EXPECT_EQ(Absent({other}), Names({other}));

    NodeSession its(clock_);
    its.Hold(other);
    Opened connection = Connect();
    ASSERT_FALSE(its.Attach(*connection, Soon()));
    EXPECT_EQ(Absent({other}), Names());
    // It reconnects before the server has noticed the end of its first session.
    its.Detach();
    const Opened again = Connect();
    ASSERT_FALSE(its.Attach(*again, Soon()));
    Terminate(*connection);
    EXPECT_EQ(Absent({other}), Names());
    Terminate(*again);
    EXPECT_EQ(Absent({me, other}), Names({other}));
}

// D-11: the connection broke and nobody noticed; this node cannot judge others.
TEST_F(NodeSessionTest, ANodeWithoutItsOwnSessionJudgesNobody) {
    session_.Hold(schema_.name());
    Opened own = Connect();
    ASSERT_FALSE(session_.Attach(*own, Soon()));
    clock_.Advance(NodeSession::kSettle);
    EXPECT_EQ(Absent({"x"}), Names({"x"}));
    Terminate(*own);
    EXPECT_EQ(Absent({"x"}), std::nullopt);
    EXPECT_TRUE(session_.IsStale());
    session_.Detach();
    EXPECT_FALSE(session_.IsStale());
    own = Connect();
    ASSERT_FALSE(session_.Attach(*own, Soon()));
    EXPECT_EQ(Absent({"x"}), std::nullopt) << "not at once after a reconnect";
    clock_.Advance(NodeSession::kSettle);
    EXPECT_EQ(Absent({"x"}), Names({"x"}));
}

TEST_F(NodeSessionTest, WithoutAnIncarnationThereIsNoAnswer) {
    const Opened own = Connect();
    ASSERT_FALSE(session_.Attach(*own, Soon()));
    clock_.Advance(NodeSession::kSettle);
    EXPECT_EQ(Absent({"x"}), std::nullopt);
}

}  // namespace
}  // namespace ksana::store_postgres
