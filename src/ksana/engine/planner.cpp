#include "ksana/engine/planner.hpp"

#include <memory>
#include <unordered_map>

namespace ksana::engine {

Result<Planner::Answer> Planner::RunOnce(const std::optional<store::StartAs>& start) {
    // Whoever starts a run needs its job; it is at hand here, and reading it again would cost more
    // than the copy.
    std::unordered_map<std::string, std::shared_ptr<const model::Job>> jobs;
    const bool keep = start && start->limit > 0;
    KSANA_TRY(
        store::Planned planned,
        store_.jobs().PlanDue(
            {.now = {}, .look_ahead = options_.look_ahead, .limit = options_.batch, .start = start},
            [&](const model::Job& job, TimePoint now) {
                store::JobPlan plan = plans_.Plan(job, now);
                if (keep && !plan.runs.empty()) {
                    jobs.insert_or_assign(job.id, std::make_shared<const model::Job>(job));
                }
                return plan;
            }));
    Answer answer{.step = {.next = {}, .within = {}, .again = planned.more},
                  .jobs = planned.jobs,
                  .runs = planned.runs,
                  .started = {}};
    answer.started.reserve(planned.started.size());
    for (model::Run& run : planned.started) {
        const auto job = jobs.find(run.job_id);
        answer.started.push_back(
            {.run = std::move(run), .job = job == jobs.end() ? nullptr : job->second});
    }
    return answer;
}

Result<std::optional<TimePoint>> Planner::NextFire() {
    KSANA_TRY(const store::WakeTimes times, store_.runs().NextWake());
    if (!times.plan) return std::optional<TimePoint>();
    return std::optional(OnThisNode(*times.plan - options_.look_ahead, times.now, clock_));
}

}  // namespace ksana::engine
