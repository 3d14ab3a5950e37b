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
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// Looks for what the rules are about, keeps the incidents, and has people told (K-25). One node at
// a time does it, the one that holds the lock; another takes over where it left off. What was seen
// is stored before the place up to which it was looked, and a notice, with the ids of the runs that
// tell it, before those runs: a crash in between repeats work that changes nothing. One thread.
class Alerter {
  public:
    struct Options {
        std::string owner;
        Duration lock = std::chrono::seconds(60);
        Duration pause = std::chrono::seconds(1);  // between two looks
        AlertScanner::Options scanner;
        CallbackOptions notices;
    };

    // What is given must outlive it.
    Alerter(store::Store& store, schedule::ZoneDatabase& zones, const Clock& clock,
            UuidGenerator& ids, Options options);

    Result<Step> RunOnce();

    // Whether RunOnce is to be called for a commit: without rules the end of a run is nothing to
    // it. Any thread.
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

    Result<Step> Look(const std::vector<StoredRule>& rules);
    Result<World> Read(const std::vector<StoredRule>& rules);
    Result<void> TellOwed(World& world);
    Result<void> Apply(World& world, const std::vector<RuleObservation>& observations);
    Result<bool> MakeRoom(World& world);
    void CloseOutdated(World& world);
    Result<void> CloseOrphans(World& world);
    Result<void> Write(World& world);
    Result<bool> Tell(World& world);
    Result<void> Deliver(World& world, Entry& entry, const model::AlertRule& rule);
    Result<void> KeepCursor(bool moved);

    store::Store& store_;
    schedule::ZoneDatabase& zones_;
    const Clock& clock_;
    UuidGenerator& ids_;
    const Options options_;
    AlertRepository shelf_;
    AlertScanner scanner_;
    std::atomic<bool> has_rules_{true};
    std::optional<SteadyPoint> looked_at_;
    std::optional<AlertRepository::Cursor> cursor_;  // none: to be read
    SteadyPoint cursor_kept_at_{};
};

}  // namespace ksana::engine
