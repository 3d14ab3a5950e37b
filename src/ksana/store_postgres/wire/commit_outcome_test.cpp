#include "ksana/store_postgres/wire/commit_outcome.hpp"

#include <gtest/gtest.h>

#include "ksana/store_postgres/wire/session.hpp"
#include "support/postgres_server.hpp"

namespace ksana::store_postgres {
namespace {

using ksana::testing::PostgresSchema;

class CommitFateTest : public ::testing::Test {
  protected:
    std::unique_ptr<Connection> Connect() {
        auto made = Connection::Open({.url = ksana::testing::PostgresUrl(),
                                      .schema = schema_.name(),
                                      .statement_timeout = std::chrono::seconds(10)},
                                     deadline_);
        if (auto* fault = std::get_if<Fault>(&made)) {
            ADD_FAILURE() << fault->error.message;
            return nullptr;
        }
        return std::move(std::get<0>(made));
    }

    PostgresSchema schema_;
    const Deadline deadline_{schema_.clock(), std::chrono::seconds(20)};
};

TEST_F(CommitFateTest, WhatTheServerSays) {
    const auto connection = Connect();
    const auto other = Connect();
    CommitTicket committed;
    CommitTicket aborted;
    {
        Session session(*connection, Session::Mode::kWrite, deadline_);
        ASSERT_TRUE(session.Query("SELECT pg_current_xact_id()", {}));
        committed = session.mark();
        EXPECT_EQ(AskCommitOutcome(*other, committed, deadline_), std::nullopt) << "in progress";
        ASSERT_TRUE(session.Commit());
    }
    {
        Session session(*connection, Session::Mode::kWrite, deadline_);
        ASSERT_TRUE(session.Query("SELECT pg_current_xact_id()", {}));
        aborted = session.mark();
    }
    {
        // Waits until the rollback is done.
        Session session(*connection, Session::Mode::kRead, deadline_);
        ASSERT_TRUE(session.Query("SELECT 1", {}));
    }
    EXPECT_EQ(AskCommitOutcome(*other, committed, deadline_), CommitOutcome::kCommitted);
    EXPECT_EQ(AskCommitOutcome(*other, aborted, deadline_), CommitOutcome::kAborted);
    ++committed.server_life;
    EXPECT_EQ(AskCommitOutcome(*other, committed, deadline_), CommitOutcome::kUnknown)
        << "may be another's number";
}

// A server that has crashed may start again below the transaction ids that it had assigned but not
// written.
TEST_F(CommitFateTest, NumberThatWasNotGivenDidNotCommit) {
    const auto connection = Connect();
    CommitTicket mark;
    {
        Session session(*connection, Session::Mode::kWrite, deadline_);
        ASSERT_TRUE(session.Query("SELECT pg_current_xact_id()", {}));
        mark = session.mark();
    }
    mark.xid += 1'000'000;
    EXPECT_EQ(AskCommitOutcome(*connection, mark, deadline_), CommitOutcome::kAborted);
    EXPECT_FALSE(connection->broken());
}

}  // namespace
}  // namespace ksana::store_postgres
