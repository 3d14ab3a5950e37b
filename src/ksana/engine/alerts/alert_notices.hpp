#pragma once

#include <vector>

#include "ksana/engine/callbacks/callback_follow_up.hpp"
#include "ksana/model/alert/alert_incident.hpp"
#include "ksana/model/alert/alert_rule.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::engine {

// Returns the number of runs that deliver a notice of this rule: one for each channel.
std::size_t ChannelsOf(const model::AlertRule& rule);

// Makes the runs that deliver a notice. They are callbacks, delivered, retried and listed like any
// other. A mail has a mailto: address.
std::vector<model::Run> NoticeRuns(const model::AlertRule& rule,
                                   const model::AlertIncident& incident,
                                   const model::PendingNotice& notice,
                                   const CallbackOptions& options);

}  // namespace ksana::engine
