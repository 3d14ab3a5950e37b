#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ksana/base/error/result.hpp"
#include "ksana/engine/plan/fire_plans.hpp"
#include "ksana/model/job/job.hpp"
#include "ksana/store/store.hpp"

namespace ksana::engine {

using CalendarNames = std::set<std::string, std::less<>>;

// The jobs that use one of these calendars, a page at a time: of its users where it is one, of all
// jobs where there are several.
struct CalendarUsers {
    std::vector<model::Job> jobs;
    std::string next;  // cursor; empty: that was the last page
};
Result<CalendarUsers> FindCalendarUsers(store::Store& store, const CalendarNames& calendars,
                                        const std::string& cursor);

// Accounts for their fires up to now by what their calendars say at present, and finds the next
// ones. A few calls of the store, each with all of them.
Result<void> PlanCalendarUsers(store::Store& store, FirePlans& plans,
                               const std::vector<model::Job>& jobs);

}  // namespace ksana::engine
