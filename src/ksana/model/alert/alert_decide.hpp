#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/alert/alert_incident.hpp"
#include "ksana/model/alert/alert_rule.hpp"

namespace ksana::model {

// Something that a rule looks at: bad, or the observation that all is well again.
struct AlertObservation {
    bool bad = false;
    TimePoint at{};
    std::string message;         // of a bad one
    std::optional<Uuid> run_id;  // likewise
};

// One job or type is told of so often by a rule; before that holds, a few times at once: nobody
// wants an hour's mails of something that fails every tenth time.
inline constexpr Duration kNoticePace = std::chrono::minutes(1);
inline constexpr int kNoticesAtOnce = 4;

// What becomes of an incident. Each observation counts once: one that is not later than those
// before changes nothing. One that has ended and begins again before anybody was told that it was
// over goes on as the same. The answer is whether something changed.
bool ApplySign(AlertIncident& incident, const AlertRule& rule, const AlertObservation& observation,
               const Uuid& fresh_id);

// Who was found by the rule as it was before, when it was about something else or not enabled, is
// over, and nobody is told: whatever is still so will be found again. Whether something changed.
bool EndOfOldRule(AlertIncident& incident, const AlertRule& rule, TimePoint now);

// It will not be over by itself, because of `why`. `tell`: also those who have not heard of it.
void EndNow(AlertIncident& incident, std::string_view why, bool tell, TimePoint now);

// What is to be told about it now, if anything. While it is quiet nothing is: afterwards one notice
// sums up. What began and ended in quiet hours is told once, as over. The same holds while there
// were too many notices of it.
std::optional<AlertNotice> DueNotice(const AlertIncident& incident, const AlertRule& rule,
                                     TimePoint now, bool quiet);

// It was told.
void NoteTold(AlertIncident& incident, const OwedNotice& notice);

// When DueNotice may have another answer because time has passed; none: not before something
// happens, or quiet hours end.
std::optional<TimePoint> NextReminder(const AlertIncident& incident, const AlertRule& rule);

}  // namespace ksana::model
