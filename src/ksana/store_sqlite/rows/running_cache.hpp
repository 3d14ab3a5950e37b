#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/ids/uuid_table.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::store_sqlite {

// Runs that were started by this process and have not ended: the next thing that happens to them is
// a report, and nobody else can have changed them meanwhile. Spares the transaction of the report
// to read the row. Holds what the writing connection sees, so a rollback empties it. Bounded; of
// the writer thread.
class RunningCache {
  public:
    // Appends it. False: ask the database. It is gone from here until it is written again.
    bool TakeInto(const Uuid& id, std::vector<model::Run>& runs);
    // After its row was inserted or updated to this.
    void Written(const model::Run& run);
    void Deleted(const Uuid& id);
    void Clear();

  private:
    using Place = std::uint32_t;

    Place FreePlace();

    UuidTable<Place> places_;
    std::deque<model::Run> runs_;  // at places_ or free_; used again and again
    std::vector<Place> free_;
};

}  // namespace ksana::store_sqlite
