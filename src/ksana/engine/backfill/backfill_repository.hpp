#pragma once

#include <optional>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/model/job/backfill.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Backfills as the settings of a store keep them, in three documents each, so that a step of one
// writes little: the state; the list of its fires, which never changes; and a mark that it needs
// somebody's attention, so that those that are over are not looked at again. The state is written
// last and is what makes it. Thread-safe.
class BackfillRepository {
  public:
    // The store must outlive it.
    explicit BackfillRepository(store::Store& store) : store_(store) {}

    struct Kept {
        model::Backfill backfill;
        std::int64_t version = 0;
    };
    struct Mark {
        Uuid id;
        TimePoint since{};
    };

    // kAlreadyExists: there is one of this id.
    Result<void> Add(const model::Backfill& backfill, const std::vector<TimePoint>& fires,
                     model::AuditEvent audit);
    Result<Kept> Get(const Uuid& id);
    // By age, the oldest first.
    Result<store::Page<model::Backfill>> List(std::size_t limit, const std::string& cursor);
    // kConflict: somebody else has changed it since it was read.
    Result<void> Put(const Kept& kept, std::optional<model::AuditEvent> audit = {});
    Result<std::vector<TimePoint>> Fires(const Uuid& id);

    // Those that are not done with.
    Result<std::vector<Mark>> Marked(std::size_t limit);
    // It is done with: the list and the mark go, the state stays for a while.
    Result<void> Unmark(const Uuid& id);

  private:
    Result<void> DeleteIfThere(const std::string& key);

    store::Store& store_;
};

}  // namespace ksana::engine
