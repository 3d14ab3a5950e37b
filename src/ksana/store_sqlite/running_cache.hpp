#pragma once

#include <cstddef>
#include <unordered_map>

#include "ksana/base/uuid.hpp"
#include "ksana/model/run.hpp"

namespace ksana::store_sqlite {

// Runs that were started by this process and have not ended: the next thing that happens to them is
// a report, and nobody else can have changed them meanwhile. Spares the transaction of the report
// to read the row. Holds what the writing connection sees, so a rollback empties it. Bounded; of
// the writer thread.
class RunningCache {
  public:
    // Null: ask the database.
    const model::Run* Find(const Uuid& id) const;
    // After its row was inserted or updated to this.
    void Written(const model::Run& run);
    void Deleted(const Uuid& id) { runs_.erase(id); }
    void Clear() { runs_.clear(); }

  private:
    struct Hash {
        std::size_t operator()(const Uuid& id) const;
    };

    std::unordered_map<Uuid, model::Run, Hash> runs_;
};

}  // namespace ksana::store_sqlite
