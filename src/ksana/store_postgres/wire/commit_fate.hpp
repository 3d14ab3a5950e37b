#pragma once

#include <cstdint>
#include <optional>

#include "ksana/store_postgres/wire/connection.hpp"
#include "ksana/store_postgres/wire/rows.hpp"

namespace ksana::store_postgres {

// By what a transaction is found again when the answer to its COMMIT got lost.
struct CommitMark {
    std::int64_t xid = 0;
    std::int64_t server_life = 0;  // changes when the server is started or recovers from a crash
};

// SQL of what that number is made of: when the server was started, and when its statistics were
// begun anew, which a recovery does. As they are: to make a number of them costs the server more
// than all the rest of the statement.
#define KSANA_SERVER_LIFE "pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()"

inline std::int64_t ReadServerLife(RowReader& row) {
    const std::int64_t started = row.Int64();
    return started + row.Int64Or(0) * 7;
}

// What became of a transaction whose COMMIT was not answered.
enum class Fate : std::uint8_t { kCommitted, kAborted, kUnknown };

// None: not known yet, or the server could not be asked; to be asked again.
//
// A server that has crashed meanwhile may give a number a second time, if nothing of its first
// transaction had reached the disk: "committed" may then speak of another one. "Aborted" is true in
// any case, because a number whose commit is on disk is never given again; for the same reason one
// that it has not given yet did not commit.
std::optional<Fate> AskFate(Connection& connection, const CommitMark& mark,
                            const Deadline& deadline);

}  // namespace ksana::store_postgres
