#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ksana/base/result.hpp"
#include "ksana/base/uuid.hpp"
#include "ksana/engine/actor.hpp"
#include "ksana/engine/alert_shelf.hpp"
#include "ksana/engine/callback_follow_up.hpp"
#include "ksana/model/run.hpp"
#include "ksana/schedule/zone_database.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

// What people do with alert rules. Thread-safe.
class AlertDesk {
  public:
    // What is given must outlive it.
    AlertDesk(store::Store& store, schedule::ZoneDatabase& zones, UuidGenerator& ids,
              CallbackOptions notices)
        : store_(store), zones_(zones), ids_(ids), notices_(std::move(notices)), shelf_(store) {}

    AlertShelf& shelf() { return shelf_; }

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
    AlertShelf shelf_;
};

}  // namespace ksana::engine
