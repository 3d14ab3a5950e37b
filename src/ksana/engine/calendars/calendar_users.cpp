#include "ksana/engine/calendars/calendar_users.hpp"

#include <atomic>

namespace ksana::engine {
namespace {

// The most calls for jobs with more due fires than one call accounts for. The planner does the
// rest.
constexpr int kMaxRounds = 20;

}  // namespace

Result<CalendarUsers> FindCalendarUsers(store::Store& store, const CalendarNames& calendars,
                                        const std::string& cursor) {
    store::JobQuery query;
    query.limit = store::kMaxPageSize;
    query.cursor = cursor;
    if (calendars.size() == 1) query.filter.calendar = *calendars.begin();
    KSANA_TRY(store::Page<model::Job> page, store.jobs().List(query));
    CalendarUsers users;
    users.next = std::move(page.next);
    for (model::Job& job : page.items) {
        if (calendars.contains(job.schedule.calendar)) users.jobs.push_back(std::move(job));
    }
    return users;
}

Result<void> PlanCalendarUsers(store::Store& store, FirePlans& plans,
                               const std::vector<model::Job>& jobs) {
    if (jobs.empty()) return {};
    store::PlanJobsParams params;
    for (const model::Job& job : jobs) params.ids.push_back(job.id);
    bool behind = true;
    for (int round = 0; behind && round < kMaxRounds; ++round) {
        std::atomic<bool> more = false;  // the store may call the planner on another thread
        const auto planner = [&](const model::Job& job, TimePoint now) {
            store::JobPlan plan = plans.Plan(job, now);
            if (!plan.runs.empty() && plan.planned_until < now) more = true;
            if (!job.enabled) plan.next_run_at.reset();
            return plan;
        };
        KSANA_TRY_VOID(store.jobs().PlanJobs(params, planner));
        behind = more;
    }
    return {};
}

}  // namespace ksana::engine
