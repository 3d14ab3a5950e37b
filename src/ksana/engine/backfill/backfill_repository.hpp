#pragma once

#include <optional>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/backfill.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Stores backfills as three settings documents each, so that a step writes little: the state, the
// list of fires, which never changes, and a mark for every backfill that needs work, so that ended
// ones are not read again. The state is written last and makes the backfill exist. Owned by
// BackfillService and Backfiller, one each. Thread-safe. Returns the store's errors.
class BackfillRepository {
  public:
    // `store` must outlive the repository.
    explicit BackfillRepository(store::Store& store) : store_(store) {}

    struct Kept {
        model::Backfill backfill;
        // Of the state document.
        std::int64_t version = 0;
    };
    struct Mark {
        Uuid id;
        TimePoint since{};
    };

    // Stores a new backfill. kAlreadyExists: a backfill has this id.
    Result<void> Add(const model::Backfill& backfill, const std::vector<TimePoint>& fires,
                     model::AuditEvent audit);
    Result<Kept> Get(const Uuid& id);
    // Returns a page of backfills by id, oldest first.
    Result<store::Page<model::Backfill>> List(std::size_t limit, const std::string& cursor);
    // Writes the state. kConflict: the state changed since it was read.
    Result<void> Put(const Kept& kept, std::optional<model::AuditEvent> audit = {});
    Result<std::vector<TimePoint>> Fires(const Uuid& id);

    // Returns the backfills that need work.
    Result<std::vector<Mark>> Marked(std::size_t limit);
    // Removes the list and the mark of an ended backfill. The state stays for a while.
    Result<void> Unmark(const Uuid& id);

  private:
    Result<void> DeleteIfThere(const std::string& key);

    store::Store& store_;
};

}  // namespace ksana::engine
