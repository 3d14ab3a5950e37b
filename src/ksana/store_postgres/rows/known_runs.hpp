#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store_postgres/wire/names.hpp"

namespace ksana::store_postgres {

// A run as this process has written it, and the version of its row.
struct KnownRun {
    model::Run run;
    RowVersion version;  // `writer` is 0 until the server has returned the version
};

// Cache of the runs that this process has started and that are not reported yet. The report of a
// cached run is decided without reading its row: the new row is written over the cached version. If
// the row has another version by then (another node has cancelled or taken the run), the write
// fails and the transaction runs again with a read and a lock. A run is removed when it is taken,
// and the oldest are evicted above kMost; both only make the next report slower. Owned by
// PostgresBackend. Thread-safe.
class KnownRuns {
  public:
    // Returns whether to cache the run: it is running, its payload is small, and if it is to be
    // deleted at its end, its row is all there is to delete.
    static bool IsWorthIt(const model::Run& run) {
        return run.status.state == model::RunState::kRunning && run.payload.size() <= kMaxPayload &&
               (run.policy.run_log != model::RunLog::kNone || IsItsRow(run));
    }

    // By id. Put and Take hand over whole map nodes, because a run is large.
    using Runs = std::unordered_map<Uuid, KnownRun, UuidHash>;

    void Put(Runs runs) {
        const MutexLock lock(mutex_);
        while (!runs.empty()) {
            auto added = runs_.insert(runs.extract(runs.begin()));
            if (added.inserted) {
                order_.push_back(added.position->first);
            } else {
                added.position->second = std::move(added.node.mapped());
            }
        }
        while (order_.size() > kMost) {
            runs_.erase(order_.front());
            order_.pop_front();
        }
    }

    // Removes these runs from the cache and returns them, or returns none if one of them is
    // missing. Those that were found are removed in either case.
    template <class Ids>
    std::optional<std::vector<Runs::node_type>> Take(const Ids& ids) {
        const MutexLock lock(mutex_);
        std::vector<Runs::node_type> taken;
        taken.reserve(ids.size());
        for (const Uuid& id : ids) {
            if (auto found = runs_.extract(id)) taken.push_back(std::move(found));
        }
        // Ids of runs that were taken stay in order_ until they reach its front.
        while (!order_.empty() && !runs_.contains(order_.front())) order_.pop_front();
        if (taken.size() != ids.size()) return std::nullopt;
        return taken;
    }

  private:
    // Returns whether the run has nothing outside its row: it holds no unique key and has no
    // earlier attempts.
    static bool IsItsRow(const model::Run& run) {
        return run.unique.key.empty() && run.status.attempt <= 1;
    }

    static constexpr std::size_t kMost = 20'000;
    static constexpr std::size_t kMaxPayload = 1'024;

    Mutex mutex_;
    Runs runs_ KSANA_GUARDED_BY(mutex_);
    // Ids by age, oldest first; may contain ids that were taken meanwhile.
    std::deque<Uuid> order_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store_postgres
