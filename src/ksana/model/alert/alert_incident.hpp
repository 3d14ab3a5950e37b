#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ksana/base/ids/uuid.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/model/enum_names.hpp"

namespace ksana::model {

enum class IncidentState : std::uint8_t {
    kCounting,  // consecutive failures, fewer than the rule demands
    kOpen,
    kClosed,
};

enum class AlertNotice : std::uint8_t { kOpened, kReminder, kRecovered, kTest };

// A notice about to be sent as runs. Stored before the runs are made, so that a crash neither loses
// nor duplicates it.
struct PendingNotice {
    AlertNotice kind = AlertNotice::kOpened;
    TimePoint at{};
    std::vector<Uuid> ids;  // of the runs, one per channel
    friend bool operator==(const PendingNotice&, const PendingNotice&) = default;
};

// A problem that a rule has found with one job or type, from its start to its end, however often it
// is observed in between.
struct AlertIncident {
    Uuid id;              // a new one each time an incident opens
    std::string rule;     // id of the rule
    std::string subject;  // "job:nightly", "type:mail"
    IncidentState state = IncidentState::kCounting;
    std::int32_t count = 0;  // number of bad observations
    TimePoint seen_until{};  // observations up to this time are included
    TimePoint rule_at{};     // created_at of the rule version that found it
    std::optional<TimePoint> opened_at;
    std::optional<TimePoint> closed_at;
    TimePoint last_at{};  // time of the last bad observation
    std::string message;  // of the last bad observation
    std::optional<Uuid> run_id;
    bool told = false;                 // a notice of the opening was sent
    bool over_told = false;            // the recovery notice was sent or is not wanted
    std::optional<TimePoint> told_at;  // time of the last notice
    TimePoint paced_until{};           // rate limit of notices: each one advances it by kNoticePace
    std::optional<PendingNotice> owed;
    friend bool operator==(const AlertIncident&, const AlertIncident&) = default;
};

template <>
struct EnumNames<IncidentState> {
    static constexpr std::array<std::string_view, 3> kNames = {"counting", "open", "closed"};
};
template <>
struct EnumNames<AlertNotice> {
    static constexpr std::array<std::string_view, 4> kNames = {"opened", "reminder", "recovered",
                                                               "test"};
};

}  // namespace ksana::model
