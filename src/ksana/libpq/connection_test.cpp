#include "ksana/libpq/connection.hpp"

#include <gtest/gtest.h>

#include "support/postgres_server.hpp"

namespace ksana::libpq {
namespace {

using ksana::testing::PostgresUrl;

class ConnectionTest : public ::testing::Test {
  protected:
    void SetUp() override { Open(std::chrono::seconds(20)); }

    void Open(Duration statement_timeout) {
        auto made = Connection::Open(
            {.url = PostgresUrl(), .schema = "public", .statement_timeout = statement_timeout},
            Soon());
        ASSERT_EQ(made.index(), 0U) << std::get<1>(made).error.message;
        connection_ = std::move(std::get<0>(made));
    }

    Deadline Soon() { return {clock_, std::chrono::seconds(20)}; }

    std::variant<std::vector<Rows>, Fault> Send(const std::vector<std::string>& texts) {
        std::vector<Statement> statements(texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) statements[i].owned = texts[i];
        return connection_->RoundTrip(statements, Soon());
    }
    Fault FaultOf(const std::string& text) {
        auto answer = Send({text});
        EXPECT_EQ(answer.index(), 1U) << text;
        return answer.index() == 1 ? std::get<1>(answer) : Fault{};
    }

    SystemClock clock_;
    std::unique_ptr<Connection> connection_;
};

TEST_F(ConnectionTest, ServerErrorsGetTheirCodes) {
    EXPECT_EQ(FaultOf("SELECT 1 / 0").error.code, Code::kInternal);
    EXPECT_EQ(FaultOf("DO $$ BEGIN RAISE SQLSTATE '40P01'; END $$").kind, FaultKind::kConflict);
    EXPECT_EQ(FaultOf("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$").error.code, Code::kConflict);
    EXPECT_EQ(FaultOf("DO $$ BEGIN RAISE SQLSTATE '55P03'; END $$").kind, FaultKind::kConflict);
    EXPECT_EQ(FaultOf("DO $$ BEGIN RAISE SQLSTATE '53100'; END $$").error.code, Code::kStorageFull);
    EXPECT_EQ(FaultOf("DO $$ BEGIN RAISE SQLSTATE '42501'; END $$").error.code,
              Code::kPermissionDenied);
    EXPECT_EQ(FaultOf("DO $$ BEGIN RAISE SQLSTATE 'XX001'; END $$").error.code, Code::kDataLoss);
    const Fault fault = FaultOf("SELECT nothing");
    EXPECT_EQ(fault.error.code, Code::kInternal);
    EXPECT_NE(fault.error.message.find("42703"), std::string::npos) << fault.error.message;
    EXPECT_FALSE(connection_->broken());
    EXPECT_EQ(Send({"SELECT 1"}).index(), 0U);
}

// The server cancels the statement long before the caller would give up.
TEST_F(ConnectionTest, StatementsThatTakeTooLongAreEnded) {
    Open(std::chrono::milliseconds(300));
    const Fault fault = FaultOf("SELECT pg_sleep(15)");
    EXPECT_EQ(fault.error.code, Code::kDeadlineExceeded);
    EXPECT_NE(fault.error.message.find("57014"), std::string::npos) << fault.error.message;
    EXPECT_FALSE(connection_->broken());
}

TEST_F(ConnectionTest, TerminatedConnectionIsLost) {
    EXPECT_EQ(FaultOf("SELECT pg_terminate_backend(pg_backend_pid())").kind, FaultKind::kLost);
    EXPECT_TRUE(connection_->broken());
}

// Statements after an error do not run; those that could not be prepared because of it are prepared
// later.
TEST_F(ConnectionTest, FirstErrorEndsThePipeline) {
    auto answer = Send({"SELECT 1", "SELECT 1 / 0", "SELECT 2"});
    ASSERT_EQ(answer.index(), 1U);
    answer = Send({"SELECT 1", "SELECT 2"});
    ASSERT_EQ(answer.index(), 0U) << std::get<1>(answer).error.message;
    const auto& rows = std::get<0>(answer);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(RowReader(rows[1], 0).Int32(), 2);
}

TEST_F(ConnectionTest, ForgottenAnswersAreDropped) {
    connection_->SendAndForget("SELECT 1 / 0");
    connection_->SendAndForget("SELECT 3");
    const auto answer = Send({"SELECT 4"});
    ASSERT_EQ(answer.index(), 0U);
    EXPECT_EQ(RowReader(std::get<0>(answer)[0], 0).Int32(), 4);
}

// More data than the socket buffers hold, in both directions at once.
TEST_F(ConnectionTest, LargeStatementsDoNotBlock) {
    const std::string big(8 << 20, 'x');
    std::vector<Statement> statements(3);
    for (Statement& statement : statements) {
        statement.sql = "SELECT $1::text";
        statement.params.Add(big);
    }
    const Deadline deadline(clock_, std::chrono::seconds(60));
    const auto answer = connection_->RoundTrip(statements, deadline);
    ASSERT_EQ(answer.index(), 0U) << std::get<1>(answer).error.message;
    EXPECT_EQ(RowReader(std::get<0>(answer)[2], 0).Text(), big);
}

TEST_F(ConnectionTest, ParametersComeBackAsTheyWere) {
    const Uuid id = *Uuid::Parse("01890a5d-ac96-774b-bcce-b302099a8057");
    const std::vector<std::string> texts = {"", "a\"b\\c", "ü"};
    const std::vector<std::optional<std::int64_t>> numbers = {INT64_MIN, std::nullopt, INT64_MAX};
    std::vector<Statement> statements(1);
    statements[0].sql =
        "SELECT $1::uuid, $2::text[], ($3::bigint[])[1], ($3::bigint[])[2], ($3::bigint[])[3], "
        "$4::boolean, $5::smallint, $6::bigint[] = '{}'";
    statements[0]
        .params.Add(id)
        .Array(texts)
        .Array(numbers)
        .Add(true)
        .Add(std::int16_t{-2})
        .Array(std::vector<std::int64_t>());
    const auto answer = connection_->RoundTrip(statements, Soon());
    ASSERT_EQ(answer.index(), 0U) << std::get<1>(answer).error.message;
    RowReader row(std::get<0>(answer)[0], 0);
    EXPECT_EQ(row.Id(), id);
    EXPECT_EQ(row.Texts(), texts);
    EXPECT_EQ(row.Int64(), INT64_MIN);
    EXPECT_EQ(row.MaybeInt64(), std::nullopt);
    EXPECT_EQ(row.Int64(), INT64_MAX);
    EXPECT_TRUE(row.Bool());
    EXPECT_EQ(row.Int16(), -2);
    EXPECT_TRUE(row.Bool());
}

}  // namespace
}  // namespace ksana::libpq
