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

// Reads, changes, deletes and tests alert rules for all APIs. Owned by the server. Thread-safe;
// calls run on the caller's thread and return the store's errors.
class AlertService {
  public:
    // Everything passed by reference must outlive the service.
    AlertService(store::Store& store, schedule::ZoneDatabase& zones, UuidGenerator& ids,
                 CallbackOptions notices)
        : store_(store),
          zones_(zones),
          ids_(ids),
          notices_(std::move(notices)),
          repository_(store) {}

    AlertRepository& repository() { return repository_; }

    // Returns nothing if there is no such rule.
    Result<std::optional<StoredRule>> Find(const std::string& id);

    // Stores a rule in place of `before`. kConflict or kAlreadyExists if the stored rule is another
    // one. A rule watches from when it was created, enabled, or given another subject or tenant.
    // kExhausted: there are too many rules.
    Result<StoredRule> Put(model::AlertRule rule, const std::optional<StoredRule>& before,
                           const Actor& by);
    // Deletes a rule and its incidents. kConflict: the rule has another version.
    Result<void> Delete(const StoredRule& rule, const Actor& by);

    // Sends a test notice to all channels of the rule, also in quiet hours. Returns the callbacks.
    Result<std::vector<model::Run>> Test(const std::string& id);

  private:
    store::Store& store_;
    schedule::ZoneDatabase& zones_;
    UuidGenerator& ids_;
    const CallbackOptions notices_;
    AlertRepository repository_;
};

}  // namespace ksana::engine
