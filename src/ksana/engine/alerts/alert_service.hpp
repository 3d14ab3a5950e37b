#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/base/ids/uuid.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/engine/alerts/alert_repository.hpp"
#include "ksana/engine/callbacks/callback_follow_up.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// What people do with alert rules. Thread-safe.
class AlertService {
  public:
    // What is given must outlive it.
    AlertService(store::Store& store, schedule::ZoneDatabase& zones, UuidGenerator& ids,
                 CallbackOptions notices)
        : store_(store), zones_(zones), ids_(ids), notices_(std::move(notices)), shelf_(store) {}

    AlertRepository& shelf() { return shelf_; }

    // Nothing where there is none.
    Result<std::optional<StoredRule>> Find(const std::string& id);

    // Takes the place of `before`, if that is still what is there (kConflict). A rule looks at what
    // happens from when it was made, or enabled, on, or was about something else.
    Result<StoredRule> Put(model::AlertRule rule, const std::optional<StoredRule>& before,
                           const Actor& by);
    // Its incidents go with it. kConflict: it is not of this version any more.
    Result<void> Delete(const StoredRule& rule, const Actor& by);

    // Sends a notice to all channels of the rule, whatever the hour: the callbacks.
    Result<std::vector<model::Run>> Test(const std::string& id);

  private:
    store::Store& store_;
    schedule::ZoneDatabase& zones_;
    UuidGenerator& ids_;
    const CallbackOptions notices_;
    AlertRepository shelf_;
};

}  // namespace ksana::engine
