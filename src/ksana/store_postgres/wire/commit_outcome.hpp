#pragma once

#include <cstdint>
#include <optional>

#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// Identifies a transaction, to ask for its outcome after the answer to its COMMIT was lost.
struct CommitTicket {
    std::int64_t xid = 0;
    std::int64_t server_life = 0;  // changes when the server is started or recovers from a crash
};

// SQL of the two times that server_life is computed from: when the server was started, and when its
// statistics were reset, which a recovery does. They are sent as they are, because computing a
// number from them would cost the server more than all the rest of the statement.
#define KSANA_SERVER_LIFE "pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()"

inline std::int64_t ReadServerLife(RowReader& row) {
    const std::int64_t started = row.Int64();
    return started + row.Int64Or(0) * 7;
}

// Outcome of a transaction whose COMMIT was not answered.
enum class CommitOutcome : std::uint8_t { kCommitted, kAborted, kUnknown };

// Asks the server for the outcome. Returns none if the transaction is still in progress or the
// server could not be asked: ask again.
//
// A server that has crashed meanwhile may assign a transaction id a second time, if nothing of the
// first transaction had reached the disk: "committed" may then be about another transaction, and
// the result is kUnknown. "Aborted" is always true, because an id whose commit is on disk is never
// assigned again; for the same reason an id that is not assigned yet did not commit.
std::optional<CommitOutcome> AskCommitOutcome(Connection& connection, const CommitTicket& mark,
                                              const Deadline& deadline);

}  // namespace ksana::store_postgres
