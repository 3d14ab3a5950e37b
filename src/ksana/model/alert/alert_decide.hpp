#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/alert/alert_incident.hpp"
#include "ksana/model/alert/alert_rule.hpp"

namespace ksana::model {

// One result of evaluating a rule for a subject: bad, or good again.
struct AlertObservation {
    bool bad = false;
    TimePoint at{};
    std::string message;         // only if bad
    std::optional<Uuid> run_id;  // only if bad
};

// The rate of notices per rule and subject: one per kNoticePace, with up to kNoticesAtOnce in a
// burst. Otherwise a job that fails every tenth time would cause a mail each time.
inline constexpr Duration kNoticePace = std::chrono::minutes(1);
inline constexpr int kNoticesAtOnce = 4;

// Applies an observation to an incident and returns whether the incident changed. Observations that
// are not later than `seen_until` are ignored, so each counts once. A closed incident that turns
// bad again before its recovery notice was sent reopens as the same incident. `fresh_id` is used if
// a new incident opens.
bool ApplyObservation(AlertIncident& incident, const AlertRule& rule,
                      const AlertObservation& observation, const Uuid& fresh_id);

// Closes an incident that was found by an earlier version of the rule (its condition or tenant
// changed, or it was disabled since), without a notice. If the problem persists, the new rule finds
// it again. Returns whether the incident changed.
bool CloseIfRuleChanged(AlertIncident& incident, const AlertRule& rule, TimePoint now);

// Closes an incident that cannot recover by itself, for the reason `why`. With `tell`, the recovery
// notice is sent even if the opening was never announced.
void CloseIncident(AlertIncident& incident, std::string_view why, bool tell, TimePoint now);

// Returns the notice that is due now, if any. No notice is due in quiet hours or above the notice
// rate; afterwards one notice covers the whole time. An incident that opened and closed in between
// is announced once, as recovered.
std::optional<AlertNotice> DueNotice(const AlertIncident& incident, const AlertRule& rule,
                                     TimePoint now, bool quiet);

// Records that the notice was sent.
void RecordNotice(AlertIncident& incident, const PendingNotice& notice);

// Returns when the next reminder of an open incident is due; nullopt: reminders are off, or the
// incident is not open or not yet announced.
std::optional<TimePoint> NextReminder(const AlertIncident& incident, const AlertRule& rule);

}  // namespace ksana::model
