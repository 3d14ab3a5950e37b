#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::sim {

// Everything that one transaction has written, in order: what the checks look at.
struct Commit {
    struct JobPlanned {
        std::string id;
        std::optional<TimePoint> planned_until;
        std::optional<TimePoint> next_run_at;
    };
    enum class How : std::uint8_t { kInserted, kUpdated, kDeleted };
    struct RunChange {
        model::Run run;  // of a deleted one only the id
        How how = How::kUpdated;
    };

    std::vector<model::Job> jobs_inserted;
    std::vector<model::Job> jobs_updated;
    std::vector<JobPlanned> jobs_planned;
    std::vector<std::string> jobs_deleted;
    std::vector<RunChange> runs;
    std::optional<TimePoint> purged_before;  // final runs that ended earlier may be gone
    std::vector<model::LedgerEntry> ledger;

    bool Empty() const {
        return jobs_inserted.empty() && jobs_updated.empty() && jobs_planned.empty() &&
               jobs_deleted.empty() && runs.empty() && !purged_before && ledger.empty();
    }
};

// Under which name the story of a run is told: that of its job; of a task its own id, which is that
// of its callbacks, too.
std::string StoryOf(const model::Run& run);

using OnCommit = std::function<void(const Commit&)>;
// Planted ones; each may be empty.
struct BackendBugs {
    std::function<bool(const model::Run&)> forgotten;  // kept from those that could claim it
    std::function<bool()> double_key;                  // this once nobody seems to hold a key
};

// Tells what every transaction of `inner` has written, right after it was committed.
std::unique_ptr<store_kit::Backend> WatchBackend(std::unique_ptr<store_kit::Backend> inner,
                                                 OnCommit on_commit, BackendBugs bugs);

}  // namespace ksana::sim
