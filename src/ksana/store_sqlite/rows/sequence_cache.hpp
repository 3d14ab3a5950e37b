#pragma once

#include <cstdint>
#include <optional>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/ids/uuid_table.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {

// Cache of the row numbers (seq) of runs that the writer has read or started, so that an update
// finds its row by number; also draws new numbers. The cache shows what the writing connection
// sees, so a rollback clears it. Bounded. Part of the WriteSession; only the writer thread uses it.
class SequenceCache {
  public:
    void Note(const Uuid& id, std::int64_t seq);
    // For a run that will not be updated any more.
    void Forget(const Uuid& id) { seqs_.Erase(id); }
    void Clear() { seqs_.Clear(); }

    // Returns the row number of the run; kInternal if the run does not exist.
    Result<std::int64_t> SeqOf(Connection& connection, const Uuid& id);
    // Returns the first of `count` consecutive numbers that no row has used.
    Result<std::int64_t> Draw(Connection& connection, std::size_t count);

  private:
    UuidTable<std::int64_t> seqs_;
    std::optional<std::int64_t> last_;  // last number drawn; a rollback does not take it back
};

}  // namespace ksana::store_sqlite
