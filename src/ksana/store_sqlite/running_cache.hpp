#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "ksana/base/uuid.hpp"
#include "ksana/model/run.hpp"

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
    void Deleted(const Uuid& id) { runs_.erase(id); }
    void Clear() { runs_.clear(); }

  private:
    std::unordered_map<Uuid, model::Run, UuidHash> runs_;
};

}  // namespace ksana::store_sqlite
