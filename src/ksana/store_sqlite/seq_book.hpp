#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "ksana/base/result.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/store_sqlite/connection.hpp"

namespace ksana::store_sqlite {

// The rows of runs that the writer has in hand, read or started: an update finds its row by number.
// Holds what the writing connection sees, so a rollback empties it. Bounded; of the writer thread.
class SeqBook {
  public:
    void Note(const Uuid& id, std::int64_t seq);
    // One that will not be updated any more.
    void Forget(const Uuid& id) { seqs_.erase(id); }
    void Clear() { seqs_.clear(); }

    // Of a run that is there.
    Result<std::int64_t> SeqOf(Connection& connection, const Uuid& id);
    // The first of `count` numbers that no row has had.
    Result<std::int64_t> Draw(Connection& connection, std::size_t count);

  private:
    std::unordered_map<Uuid, std::int64_t, UuidHash> seqs_;
    std::optional<std::int64_t> last_;  // drawn; not taken back by a rollback
};

}  // namespace ksana::store_sqlite
