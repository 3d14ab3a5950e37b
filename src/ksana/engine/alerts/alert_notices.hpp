#pragma once

#include <vector>

#include "ksana/engine/callbacks/callback_follow_up.hpp"
#include "ksana/model/alert/alert_incident.hpp"
#include "ksana/model/alert/alert_rule.hpp"
#include "ksana/model/run/run.hpp"

namespace ksana::engine {

// How many runs tell a notice of this rule: one for each channel.
std::size_t ChannelsOf(const model::AlertRule& rule);

// The runs that tell a notice: callbacks, delivered, tried again and listed as any other. Those
// that are mails go to a mailto: address.
std::vector<model::Run> NoticeRuns(const model::AlertRule& rule,
                                   const model::AlertIncident& incident,
                                   const model::OwedNotice& notice, const CallbackOptions& options);

}  // namespace ksana::engine
