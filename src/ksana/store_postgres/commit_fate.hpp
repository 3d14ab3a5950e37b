#pragma once

#include <cstdint>
#include <optional>

#include "ksana/store_postgres/commit_mark.hpp"
#include "ksana/store_postgres/connection.hpp"

namespace ksana::store_postgres {

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
