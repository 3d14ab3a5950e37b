#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"

namespace ksana::api {

// Finds the runs that have finished since the last look, whichever node finished them. Owned by
// EventStreams and used by its thread only. Errors of the store are returned; the next look repeats
// the search.
class FinishedRuns {
  public:
    // Largest number of new runs in one look; beyond it the rest is left out.
    static constexpr std::size_t kMost = 500;

    // `store` must outlive the object. `overlap`: how much later than its time stamp a commit may
    // become visible.
    FinishedRuns(store::Store& store, Duration overlap) : store_(store), overlap_(overlap) {}

    struct Found {
        std::vector<model::Run> runs;  // ordered by end
        bool more = false;             // some runs were left out
    };
    // Returns the runs that finished since the last look. The first look finds nothing and sets the
    // start.
    Result<Found> Look();
    bool begun() const { return since_.has_value(); }
    // Makes the next look a first one.
    void Forget();

  private:
    store::Store& store_;
    const Duration overlap_;
    std::optional<TimePoint> since_;
    std::set<std::pair<TimePoint, Uuid>> seen_;  // runs that ended at or after since_ - overlap_
};

}  // namespace ksana::api
