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

// Runs that have come to their end since they were last asked for, whichever node ended them. One
// thread.
class FinishedRuns {
  public:
    // In one look; with more the rest is left out.
    static constexpr std::size_t kMost = 500;

    // `overlap`: a commit may become visible so much later than the time it is stamped with.
    FinishedRuns(store::Store& store, Duration overlap) : store_(store), overlap_(overlap) {}

    struct Found {
        std::vector<model::Run> runs;  // by their end
        bool more = false;             // some were left out
    };
    // The first look finds nothing: it is about what ends from then on.
    Result<Found> Look();
    bool begun() const { return since_.has_value(); }
    // The next look is a first one.
    void Forget();

  private:
    store::Store& store_;
    const Duration overlap_;
    std::optional<TimePoint> since_;
    std::set<std::pair<TimePoint, Uuid>> seen_;  // ended at or after since_ - overlap_
};

}  // namespace ksana::api
