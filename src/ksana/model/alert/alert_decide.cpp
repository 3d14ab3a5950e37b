#include "ksana/model/alert/alert_decide.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace ksana::model {
namespace {

void Open(AlertIncident& incident, const Uuid& fresh_id) {
    incident.id = fresh_id;
    incident.state = IncidentState::kOpen;
    incident.opened_at = incident.last_at;
    incident.closed_at.reset();
    incident.told = incident.over_told = false;
    incident.told_at.reset();
}

// Returns whether a closed incident reopens as the same one: its opening was announced and its
// recovery notice is still to be sent.
bool GoesOn(const AlertIncident& incident, const AlertRule& rule) {
    return incident.opened_at && incident.told && !incident.over_told && !incident.owed &&
           rule.recovery;
}

}  // namespace

bool ApplyObservation(AlertIncident& incident, const AlertRule& rule,
                      const AlertObservation& observation, const Uuid& fresh_id) {
    if (observation.at <= incident.seen_until) return false;
    if (!observation.bad) {
        // Already closed.
        if (incident.state == IncidentState::kClosed) return false;
        incident.seen_until = observation.at;
        incident.closed_at = observation.at;
        const bool counted = incident.state == IncidentState::kCounting;
        if (counted) incident.count = 0;
        if (counted) incident.opened_at.reset();
        incident.state = IncidentState::kClosed;
        return true;
    }
    incident.seen_until = observation.at;
    incident.rule_at = rule.created_at;
    if (incident.state == IncidentState::kClosed) {
        const bool goes_on = GoesOn(incident, rule);
        incident.state = goes_on ? IncidentState::kOpen : IncidentState::kCounting;
        if (!goes_on) incident.count = 0;
        incident.closed_at.reset();
    }
    ++incident.count;
    incident.last_at = observation.at;
    incident.message = observation.message;
    incident.run_id = observation.run_id;
    if (incident.state == IncidentState::kCounting && incident.count >= rule.consecutive) {
        Open(incident, fresh_id);
    }
    return true;
}

bool CloseIfRuleChanged(AlertIncident& incident, const AlertRule& rule, TimePoint now) {
    if (incident.rule_at == TimePoint{} || incident.rule_at == rule.created_at) return false;
    incident.rule_at = rule.created_at;
    incident.seen_until = {};  // that time belongs to the old rule
    incident.owed.reset();
    CloseIncident(incident, "the rule was changed", false, now);
    incident.over_told = true;
    return true;
}

void CloseIncident(AlertIncident& incident, std::string_view why, bool tell, TimePoint now) {
    if (incident.state == IncidentState::kClosed) return;
    const bool counted = incident.state == IncidentState::kCounting;
    if (counted) incident.count = 0;
    if (counted) incident.opened_at.reset();
    incident.message += fmt::format("; {}", why);
    incident.state = IncidentState::kClosed;
    incident.closed_at = now;
    if (!tell && !incident.told) incident.over_told = true;
}

std::optional<AlertNotice> DueNotice(const AlertIncident& incident, const AlertRule& rule,
                                     TimePoint now, bool quiet) {
    if (quiet || !rule.enabled) return std::nullopt;
    if (incident.paced_until > now + (kNoticesAtOnce - 1) * kNoticePace) return std::nullopt;
    if (incident.state == IncidentState::kOpen) {
        if (!incident.told) return AlertNotice::kOpened;
        const auto next = NextReminder(incident, rule);
        if (next && *next <= now) return AlertNotice::kReminder;
        return std::nullopt;
    }
    const bool was_open = incident.state == IncidentState::kClosed && incident.opened_at;
    if (!was_open || incident.over_told || !rule.recovery) return std::nullopt;
    return AlertNotice::kRecovered;
}

void RecordNotice(AlertIncident& incident, const PendingNotice& notice) {
    incident.told_at = notice.at;
    incident.paced_until = std::max(incident.paced_until, notice.at) + kNoticePace;
    if (notice.kind == AlertNotice::kRecovered) {
        incident.over_told = true;
    } else {
        incident.told = true;
    }
}

std::optional<TimePoint> NextReminder(const AlertIncident& incident, const AlertRule& rule) {
    const bool told = incident.state == IncidentState::kOpen && incident.told && incident.told_at;
    if (!told || rule.remind_every == Duration::zero()) return std::nullopt;
    return *incident.told_at + rule.remind_every;
}

}  // namespace ksana::model
