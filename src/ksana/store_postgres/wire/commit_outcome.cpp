#include "ksana/store_postgres/wire/commit_outcome.hpp"

namespace ksana::store_postgres {
namespace {

constexpr std::string_view kFate =
    "SELECT " KSANA_SERVER_LIFE ", pg_xact_status(($1::bigint)::text::xid8)";
// SQLSTATE of "transaction ID … is in the future".
constexpr std::string_view kNotGivenYet = "22023";

}  // namespace

std::optional<CommitOutcome> AskCommitOutcome(Connection& connection, const CommitTicket& mark,
                                              const Deadline& deadline) {
    std::vector<Statement> statements(1);
    statements[0].sql = kFate;
    statements[0].params.Add(mark.xid);
    const auto answer = connection.RoundTrip(statements, deadline);
    if (const auto* fault = std::get_if<Fault>(&answer)) {
        if (fault->sqlstate == kNotGivenYet) return CommitOutcome::kAborted;
        if (fault->kind == FaultKind::kFinal) return CommitOutcome::kUnknown;
        return std::nullopt;
    }
    const Rows& status = std::get<0>(answer).front();
    RowReader row(status, 0);
    const bool same_life = ReadServerLife(row) == mark.server_life;
    const std::string_view fate = row.Bytes();
    if (fate == "committed") return same_life ? CommitOutcome::kCommitted : CommitOutcome::kUnknown;
    if (fate == "aborted") return CommitOutcome::kAborted;
    if (fate == "in progress") return std::nullopt;
    return CommitOutcome::kUnknown;
}

}  // namespace ksana::store_postgres
