#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "ksana/base/error/result.hpp"
#include "ksana/base/time/time.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/schedule/calendar/calendar.hpp"
#include "ksana/schedule/schedule.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

// The resolution of time: turns an open end of an interval into a closed one.
inline constexpr Duration kTick{1};

// Returns the calendar of that name with its rules as the user wrote them, to name the rule that
// excludes a fire; nullopt if there is none. Must be thread-safe.
using FindRules = std::function<std::optional<schedule::Calendar>(std::string_view name)>;

// The inputs of all questions. The referenced objects must outlive the call that uses them.
struct Sources {
    store::Store& store;
    engine::ScheduleCache& schedules;
    schedule::ZoneDatabase& zones;
    engine::FindCalendar find_calendar;  // may be empty
    FindRules find_rules;                // may be empty: then explanations name no rule
    // Whether nobody waits for the answer any more. Asked now and then by what computes for long,
    // which then fails with kUnavailable. May be empty: somebody waits.
    std::function<bool()> stopped = {};

    Result<void> GoOn() const {
        if (!stopped || !stopped()) return {};
        return Error(Code::kUnavailable, "stopped: the client has gone");
    }

    schedule::ScheduleContext ContextFor(TimePoint created_at) const {
        return {.zones = zones, .created_at = created_at, .find_calendar = find_calendar};
    }
};

}  // namespace ksana::insight
