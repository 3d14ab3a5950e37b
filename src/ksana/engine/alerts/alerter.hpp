#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/engine/alerts/alert_repository.hpp"
#include "ksana/engine/alerts/alert_scanner.hpp"
#include "ksana/engine/callbacks/callback_follow_up.hpp"
#include "ksana/engine/loop.hpp"
#include "ksana/lock/lock_driver.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Evaluates alert rules, keeps the incidents and sends notices (K-25). A lock makes sure that one
// node at a time does it; another node continues where it stopped. The lock only saves work: every
// write is a compare-and-set, so two nodes at once disturb each other, but tell nothing twice, and
// alerts do not stop with the server of the locks. Incidents are stored before the cursor, and a
// notice, with the ids of the runs that deliver it, before those runs: a crash in between repeats
// work without effect. Owned by Node. One thread, except Hint. Returns the store's error.
class Alerter {
  public:
    struct Options {
        // Of the lock.
        std::string owner;
        // The time to live of the lock.
        Duration lock = std::chrono::seconds(60);
        Duration pause = std::chrono::seconds(1);  // between two scans
        AlertScanner::Options scanner;
        CallbackOptions notices;
    };

    // Everything passed by reference must outlive the alerter.
    Alerter(store::Store& store, lock::LockDriver& locks, schedule::ZoneDatabase& zones,
            const Clock& clock, UuidGenerator& ids, Options options);

    Result<Step> RunOnce();

    // Returns whether a commit with these topics requires RunOnce: without rules the end of a run
    // does not. Any thread.
    bool Hint(store::Topics topics) const {
        return has_rules_ || topics.Has(store::Topic::kDocuments);
    }

  private:
    using Key = std::pair<std::string, std::string>;  // rule, subject
    struct Entry {
        StoredIncident stored;
        bool changed = false;
    };
    struct World;

    Result<bool> MayLook(SteadyPoint now);
    Result<Step> Look(const std::vector<StoredRule>& rules);
    Result<World> Read(const std::vector<StoredRule>& rules);
    Result<void> SendPending(World& world);
    Result<void> Apply(World& world, const std::vector<RuleObservation>& observations);
    Result<bool> MakeRoom(World& world);
    void CloseOutdated(World& world);
    Result<void> CloseOrphans(World& world);
    Result<void> Write(World& world);
    Result<bool> Tell(World& world);
    Result<void> Deliver(World& world, Entry& entry, const model::AlertRule& rule);
    Result<void> KeepCursor(bool moved);

    store::Store& store_;
    lock::LockDriver& locks_;
    schedule::ZoneDatabase& zones_;
    const Clock& clock_;
    UuidGenerator& ids_;
    const Options options_;
    AlertRepository repository_;
    AlertScanner scanner_;
    std::atomic<bool> has_rules_{true};
    std::optional<SteadyPoint> looked_at_;
    std::optional<SteadyPoint> refused_since_;  // none: the lock was granted, or not asked for yet
    bool without_lock_ = false;                 // the log tells that the lock cannot be had
    std::optional<AlertRepository::Cursor> cursor_;  // none: must be read
    // When the cursor was last read or stored.
    SteadyPoint cursor_kept_at_{};
};

}  // namespace ksana::engine
