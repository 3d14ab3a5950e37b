#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/model/worker.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// What a worker that claims is to be told.
enum class Standing : std::uint8_t {
    kServing,
    kDraining,  // it gets no more runs
    kReplaced,  // another incarnation has its name, or it has left
    kUnknown,   // not registered, or forgotten
};

// The workers as this node knows them: all rows, read when WorkerWatch asks for it, and what this
// node has written since. Decides nothing that must not be wrong: what looks bad for a worker is
// read again from its row first. Owned by Node. Thread-safe.
class WorkerDirectory {
  public:
    // `store` and `clock` must outlive it. `silence`: after which a worker counts as down.
    WorkerDirectory(store::Store& store, const Clock& clock, Duration silence)
        : store_(store), clock_(clock), silence_(silence) {}

    using Workers = std::map<std::string, model::Worker, std::less<>>;

    // All workers as the store had them at this time or later.
    struct Snapshot {
        TimePoint at{};  // by the store's clock
        std::vector<model::Worker> workers;
    };
    // Reads all workers and returns them.
    Result<Snapshot> Refresh();
    // A row that this node has just written.
    void Note(const model::Worker& worker);

    std::vector<model::Worker> All() const;
    std::optional<model::Worker> Find(std::string_view name) const;
    model::WorkerState StateOf(const model::Worker& worker) const;
    // Where a worker stands. Reads its row unless the directory knows that all is well.
    Result<Standing> Check(const std::string& name, const Uuid& incarnation);

    // Names of the live registered workers that serve the run, in order.
    std::vector<std::string> Serving(const model::Run& run) const;
    // Whether anybody that is alive, agents included, serves the run.
    bool AnyServes(const model::Run& run) const;
    // Puts a placement into a new run: selector and preference. `sticky` chooses among the workers
    // that serve the run now; without one there is no such preference.
    void Place(const model::Placement& placement, model::Run& run) const;

    // Grows with every change but heartbeats.
    std::uint64_t version() const { return version_; }
    // The store's time, as far as this node can tell without asking it.
    TimePoint StoreNow() const;

    // Preferences that end: WorkerWatch then wakes whoever looks for runs. Times are the store's.
    void NotePreference(TimePoint until);
    std::optional<TimePoint> NextPreference() const;
    // Forgets the preferences that have ended, and returns whether there was one.
    bool TakePreferences(TimePoint now);
    // Called by NotePreference when its time comes before all others. Set before any loop runs.
    void OnPreference(std::function<void()> wake) { wake_ = std::move(wake); }
    // Calls WorkerWatch: there is something for it to do. Any thread.
    void Wake() const {
        if (wake_) wake_();
    }

    Duration silence() const { return silence_; }

  private:
    // Agents are noted every few seconds while they claim, and a poll waits up to a minute.
    Duration SilenceOf(const model::Worker& worker) const;
    model::WorkerState StateAt(const model::Worker& worker, TimePoint now) const;

    store::Store& store_;
    const Clock& clock_;
    const Duration silence_;
    std::function<void()> wake_;
    std::atomic<std::uint64_t> version_{0};
    mutable Mutex mutex_;
    Workers workers_ KSANA_GUARDED_BY(mutex_);
    Duration ahead_ KSANA_GUARDED_BY(mutex_){};  // of the store's clock
    std::map<TimePoint, bool> preferences_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::engine
