#include "ksana/engine/workers/worker_directory.hpp"

#include <algorithm>

#include "ksana/model/run/agent.hpp"

namespace ksana::engine {
namespace {

using model::Worker;
using model::WorkerState;

// Ends of preferences are kept to this precision, and no more of them than this: later ones are
// noticed by the loops' longest sleeps.
constexpr Duration kPrecision = std::chrono::milliseconds(20);
constexpr std::size_t kMaxPreferences = 4'096;
constexpr Duration kAgentSlack = std::chrono::seconds(30);

}  // namespace

// The time is asked for first: if the rows come late, a worker that lives must not seem silent.
Result<WorkerDirectory::Snapshot> WorkerDirectory::Refresh() {
    KSANA_TRY(const TimePoint now, store_.Now());
    const Duration ahead = now - clock_.Now();
    Snapshot snapshot{.at = now, .workers = {}};
    std::vector<Worker>& all = snapshot.workers;
    store::ListParams params{.prefix = {}, .limit = store::kMaxPageSize, .cursor = {}};
    do {
        KSANA_TRY(store::Page<Worker> page, store_.workers().List(params));
        std::ranges::move(page.items, std::back_inserter(all));
        params.cursor = page.next;
    } while (!params.cursor.empty());
    Workers workers;
    for (const Worker& worker : all) workers.emplace(worker.id, worker);
    const MutexLock lock(mutex_);
    ahead_ = ahead;
    workers_ = std::move(workers);
    ++version_;
    return snapshot;
}

void WorkerDirectory::Note(const Worker& worker) {
    const MutexLock lock(mutex_);
    Worker& known = workers_[worker.id];
    Worker before = std::exchange(known, worker);
    before.last_heartbeat_at = worker.last_heartbeat_at;
    before.busy = worker.busy;
    if (before != worker) ++version_;
}

std::vector<Worker> WorkerDirectory::All() const {
    const MutexLock lock(mutex_);
    std::vector<Worker> all;
    all.reserve(workers_.size());
    for (const auto& [name, worker] : workers_) all.push_back(worker);
    return all;
}

std::optional<Worker> WorkerDirectory::Find(std::string_view name) const {
    const MutexLock lock(mutex_);
    const auto found = workers_.find(name);
    if (found == workers_.end()) return std::nullopt;
    return found->second;
}

TimePoint WorkerDirectory::StoreNow() const {
    const MutexLock lock(mutex_);
    return clock_.Now() + ahead_;
}

Duration WorkerDirectory::SilenceOf(const Worker& worker) const {
    return worker.agent ? std::max(silence_, model::kMaxPoll + kAgentSlack) : silence_;
}

WorkerState WorkerDirectory::StateAt(const Worker& worker, TimePoint now) const {
    return model::StateOf(worker, now, SilenceOf(worker));
}

WorkerState WorkerDirectory::StateOf(const Worker& worker) const {
    return StateAt(worker, StoreNow());
}

Result<Standing> WorkerDirectory::Check(const std::string& name, const Uuid& incarnation) {
    if (const auto known = Find(name);
        known && known->incarnation == incarnation && StateOf(*known) == WorkerState::kAlive) {
        return Standing::kServing;
    }
    auto stored = store_.workers().Get(name);
    if (!stored && stored.error().code == Code::kNotFound) return Standing::kUnknown;
    if (!stored) return std::move(stored).error();
    Note(*stored);
    if (stored->agent) return Standing::kUnknown;
    if (stored->incarnation != incarnation || stored->deregistered) return Standing::kReplaced;
    return stored->draining || stored->drain_requested ? Standing::kDraining : Standing::kServing;
}

std::vector<std::string> WorkerDirectory::Serving(const model::Run& run) const {
    std::vector<std::string> names;
    const MutexLock lock(mutex_);
    const TimePoint now = clock_.Now() + ahead_;
    for (const auto& [name, worker] : workers_) {
        if (worker.agent || StateAt(worker, now) != WorkerState::kAlive) continue;
        if (model::Serves(worker, run)) names.push_back(name);
    }
    return names;
}

bool WorkerDirectory::AnyServes(const model::Run& run) const {
    const MutexLock lock(mutex_);
    const TimePoint now = clock_.Now() + ahead_;
    return std::ranges::any_of(workers_, [&](const auto& entry) {
        return StateAt(entry.second, now) == WorkerState::kAlive &&
               model::Serves(entry.second, run);
    });
}

void WorkerDirectory::Place(const model::Placement& placement, model::Run& run) const {
    if (!placement.require.empty()) run.selector = placement.require;
    run.prefer = placement.prefer;
    run.prefer_for = placement.prefer_for;
    bool sticks = false;
    if (!placement.sticky.empty()) {
        const std::vector<std::string> names = Serving(run);
        const std::string_view chosen = model::StickyChoice(placement.sticky, names);
        sticks = !chosen.empty();
        if (sticks) run.prefer[model::kWorkerLabel] = chosen;
    }
    if (run.prefer.empty()) {
        run.prefer_for = {};
    } else if (run.prefer_for == Duration::zero()) {
        run.prefer_for = sticks ? model::kStickyFor : model::kPreferFor;
    }
}

void WorkerDirectory::NotePreference(TimePoint until) {
    bool first = false;
    {
        const MutexLock lock(mutex_);
        if (preferences_.size() >= kMaxPreferences) return;
        const auto ticks = (until.time_since_epoch() + kPrecision) / kPrecision;
        const TimePoint at{kPrecision * (ticks + 1)};
        first = preferences_.empty() || at < preferences_.begin()->first;
        preferences_.emplace(at, true);
    }
    if (first && wake_) wake_();
}

std::optional<TimePoint> WorkerDirectory::NextPreference() const {
    const MutexLock lock(mutex_);
    if (preferences_.empty()) return std::nullopt;
    return preferences_.begin()->first;
}

bool WorkerDirectory::TakePreferences(TimePoint now) {
    const MutexLock lock(mutex_);
    const auto end = preferences_.upper_bound(now);
    const bool any = end != preferences_.begin();
    preferences_.erase(preferences_.begin(), end);
    return any;
}

}  // namespace ksana::engine
