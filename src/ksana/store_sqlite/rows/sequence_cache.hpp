#pragma once

#include <cstdint>
#include <optional>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/ids/uuid_table.hpp"
#include "ksana/store_sqlite/wire/connection.hpp"

namespace ksana::store_sqlite {

// The rows of runs that the writer has in hand, read or started: an update finds its row by number.
// Holds what the writing connection sees, so a rollback empties it. Bounded; of the writer thread.
class SequenceCache {
  public:
    void Note(const Uuid& id, std::int64_t seq);
    // One that will not be updated any more.
    void Forget(const Uuid& id) { seqs_.Erase(id); }
    void Clear() { seqs_.Clear(); }

    // Of a run that is there.
    Result<std::int64_t> SeqOf(Connection& connection, const Uuid& id);
    // The first of `count` numbers that no row has had.
    Result<std::int64_t> Draw(Connection& connection, std::size_t count);

  private:
    UuidTable<std::int64_t> seqs_;
    std::optional<std::int64_t> last_;  // drawn; not taken back by a rollback
};

}  // namespace ksana::store_sqlite
