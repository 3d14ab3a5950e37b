#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ksana/base/process/mutex.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store_postgres/wire/params.hpp"

namespace ksana::store_postgres {

// A run as this process has written it, with the version of the row that it is.
struct KnownRun {
    model::Run run;
    RowVersion version;  // of no writer until the server has told it
};

// The runs that this process has started and nobody has reported yet. Their end need not be read
// from the server first: it is written over that version of the row, and should there be another
// one (somebody has cancelled or taken it), the write fails and everything is read after all. Knows
// each once, and forgets the oldest when there are too many: both only make the next report of
// them slower. Thread-safe.
class KnownRuns {
  public:
    static bool IsWorthIt(const model::Run& run) {
        return run.status.state == model::RunState::kRunning && run.payload.size() <= kMaxPayload &&
               (run.policy.run_log != model::RunLog::kNone || IsItsRow(run));
    }

    // By their ids. They are handed over as they lie in memory: a run is large.
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

    // All of these, or nothing if one of them is not known. They are forgotten in any case.
    template <class Ids>
    std::optional<std::vector<Runs::node_type>> Take(const Ids& ids) {
        const MutexLock lock(mutex_);
        std::vector<Runs::node_type> taken;
        taken.reserve(ids.size());
        for (const Uuid& id : ids) {
            if (auto found = runs_.extract(id)) taken.push_back(std::move(found));
        }
        // Ids of runs that are gone stay in the order for a while.
        while (!order_.empty() && !runs_.contains(order_.front())) order_.pop_front();
        if (taken.size() != ids.size()) return std::nullopt;
        return taken;
    }

  private:
    // It is gone with its row: it holds no key, and no earlier attempt of it was kept.
    static bool IsItsRow(const model::Run& run) {
        return run.unique.key.empty() && run.status.attempt <= 1;
    }

    static constexpr std::size_t kMost = 20'000;
    static constexpr std::size_t kMaxPayload = 1'024;

    Mutex mutex_;
    Runs runs_ KSANA_GUARDED_BY(mutex_);
    std::deque<Uuid> order_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::store_postgres
