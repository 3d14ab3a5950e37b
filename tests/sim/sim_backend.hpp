#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ksana/store_kit/driver/backend.hpp"

namespace ksana::sim {

// Everything that one transaction has written, in order, for the checks.
struct Commit {
    struct JobPlanned {
        std::string id;
        std::optional<TimePoint> planned_until;
        std::optional<TimePoint> next_run_at;
    };
    enum class How : std::uint8_t { kInserted, kUpdated, kDeleted };
    struct RunChange {
        model::Run run;  // if deleted, only the id is set
        How how = How::kUpdated;
    };

    std::vector<model::Job> jobs_inserted;
    std::vector<model::Job> jobs_updated;
    std::vector<JobPlanned> jobs_planned;
    std::vector<std::string> jobs_deleted;
    std::vector<RunChange> runs;
    std::optional<TimePoint> purged_before;  // final runs that ended earlier may be deleted
    std::vector<model::LedgerEntry> ledger;
    std::vector<model::Document> documents;

    bool Empty() const {
        return jobs_inserted.empty() && jobs_updated.empty() && jobs_planned.empty() &&
               jobs_deleted.empty() && runs.empty() && !purged_before && ledger.empty() &&
               documents.empty();
    }
};

// Returns the name of the story that a run belongs to: its job's id. For a task it is the task's
// own id, which its callbacks share.
std::string StoryOf(const model::Run& run);

using OnCommit = std::function<void(const Commit&)>;
// Planted bugs; each may be empty.
struct BackendBugs {
    std::function<bool(const model::Run&)> forgotten;  // hidden from claims
    std::function<bool()> double_key;  // true: this one time no run seems to hold the key
    // A run whose release from the jobs it depends on is not written.
    std::function<bool(const model::Run&)> lost_release;
    std::function<bool(const model::Run&)> double_release;  // it does not wait for them at all
    std::function<bool()> forgotten_join;                   // true: what has ended is not noted
};

// Returns a driver that forwards to `inner` and calls `on_commit` with the writes of every
// transaction, right after its commit.
std::unique_ptr<store_kit::Backend> WatchBackend(std::unique_ptr<store_kit::Backend> inner,
                                                 OnCommit on_commit, BackendBugs bugs);

}  // namespace ksana::sim
