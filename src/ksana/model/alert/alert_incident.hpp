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
    kCounting,  // failures one after the other, and not enough of them yet
    kOpen,
    kClosed,
};

enum class AlertNotice : std::uint8_t { kOpened, kReminder, kRecovered, kTest };

// A notice that is about to become runs: kept first, so that a crash neither loses nor doubles it.
struct OwedNotice {
    AlertNotice kind = AlertNotice::kOpened;
    TimePoint at{};
    std::vector<Uuid> ids;  // of the runs, one for each channel
    friend bool operator==(const OwedNotice&, const OwedNotice&) = default;
};

// What a rule has found about a job or a type: one thing from its beginning until it is over,
// however often it is seen.
struct AlertIncident {
    Uuid id;              // another one whenever it opens
    std::string rule;     // its id
    std::string subject;  // "job:nightly", "type:mail"
    IncidentState state = IncidentState::kCounting;
    std::int32_t count = 0;  // how often it was seen
    TimePoint seen_until{};  // what happened up to here is in it
    TimePoint rule_at{};     // when the rule that found it was made, or enabled
    std::optional<TimePoint> opened_at;
    std::optional<TimePoint> closed_at;
    TimePoint last_at{};  // it was seen
    std::string message;  // what was seen then
    std::optional<Uuid> run_id;
    bool told = false;                 // somebody has heard that it is open
    bool over_told = false;            // and that it is over
    std::optional<TimePoint> told_at;  // the last notice
    TimePoint paced_until{};           // each notice moves it on by kNoticePace
    std::optional<OwedNotice> owed;
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
