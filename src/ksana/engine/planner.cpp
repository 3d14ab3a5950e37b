#include "ksana/engine/planner.hpp"

namespace ksana::engine {

Result<Planner::Answer> Planner::RunOnce(const std::optional<store::StartAs>& start) {
    KSANA_TRY(
        store::Planned planned,
        store_.jobs().PlanDue(
            {.now = {}, .look_ahead = options_.look_ahead, .limit = options_.batch, .start = start},
            [this](const model::Job& job, TimePoint now) { return plans_.Plan(job, now); }));
    Answer answer{.step = {.next = {}, .again = planned.more},
                  .jobs = planned.jobs,
                  .runs = planned.runs,
                  .started = std::move(planned.started)};
    if (planned.more) return answer;
    KSANA_TRY(const store::WakeTimes times, store_.runs().NextWake());
    if (times.plan) answer.step.next = *times.plan - options_.look_ahead;
    return answer;
}

}  // namespace ksana::engine
