#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "ksana/base/time/time.hpp"
#include "ksana/engine/plan/schedule_cache.hpp"
#include "ksana/schedule/calendar/calendar.hpp"
#include "ksana/schedule/schedule.hpp"
#include "ksana/schedule/zone/zone_database.hpp"
#include "ksana/store/store.hpp"

namespace ksana::insight {

// The smallest step of time: what is open at one end becomes closed with it.
inline constexpr Duration kTick{1};

// The calendar of a name as people wrote it, to tell which of its rules holds; nothing where there
// is none. Thread-safe.
using FindRules = std::function<std::optional<schedule::Calendar>(std::string_view name)>;

// Where the answers come from. What it refers to must outlive the call that it is given to.
struct Sources {
    store::Store& store;
    engine::ScheduleCache& schedules;
    schedule::ZoneDatabase& zones;
    engine::FindCalendar find_calendar;  // may be empty
    FindRules find_rules;                // may be empty: then no rule is named

    schedule::ScheduleContext ContextFor(TimePoint created_at) const {
        return {.zones = zones, .created_at = created_at, .find_calendar = find_calendar};
    }
};

}  // namespace ksana::insight
