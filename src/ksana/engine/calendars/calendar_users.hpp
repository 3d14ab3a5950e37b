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

// One page of the jobs that use one of the calendars. With one calendar the store filters its
// users; with several, pages run over all jobs and may be empty.
struct CalendarUsers {
    std::vector<model::Job> jobs;
    std::string next;  // cursor; empty: that was the last page
};
Result<CalendarUsers> FindCalendarUsers(store::Store& store, const CalendarNames& calendars,
                                        const std::string& cursor);

// Accounts for the jobs' fires up to now with their current calendars, and computes the next fires.
// Makes a few store calls, each for all jobs. Returns the store's error.
Result<void> PlanCalendarUsers(store::Store& store, FirePlans& plans,
                               const std::vector<model::Job>& jobs);

}  // namespace ksana::engine
