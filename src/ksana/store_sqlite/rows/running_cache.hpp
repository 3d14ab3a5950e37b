#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/ids/uuid_table.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::store_sqlite {

// Cache of runs that this process has started and that have not ended. The next event of such a run
// is usually its report, and no other process can have changed the row, so the report need not read
// it. The cache shows what the writing connection sees, so a rollback clears it. Bounded. Part of
// the WriteSession; only the writer thread uses it.
class RunningCache {
  public:
    // Moves the run from the cache to the end of `runs`. Returns false if it is not cached. The run
    // is in the cache again after the next Written.
    bool TakeInto(const Uuid& id, std::vector<model::Run>& runs);
    // Call after the row was inserted or updated to `run`.
    void Written(const model::Run& run);
    void Deleted(const Uuid& id);
    void Clear();

  private:
    using Place = std::uint32_t;

    Place FreePlace();

    UuidTable<Place> places_;
    std::deque<model::Run> runs_;  // at places_ or free_; slots are reused
    std::vector<Place> free_;
};

}  // namespace ksana::store_sqlite
