#include "ksana/engine/plan/fire_plans.hpp"

#include <algorithm>

#include "ksana/base/log/log.hpp"
#include "ksana/model/job/plan.hpp"

namespace ksana::engine {

using model::Job;
using model::Run;

namespace {

// How long a job whose schedule does not compile is postponed.
constexpr Duration kPostponed = std::chrono::minutes(1);

std::string PayloadOf(const model::Action& action) {
    if (const auto* queue = std::get_if<model::QueueAction>(&action)) return queue->payload;
    if (const auto* handler = std::get_if<model::HandlerAction>(&action)) return handler->input;
    return {};
}

std::string CategoryOf(const model::Action& action) {
    const auto* queue = std::get_if<model::QueueAction>(&action);
    return queue == nullptr ? std::string() : queue->category;
}

// K-16: records on the job that its last fire was missed.
std::optional<model::JobTally> TallyOf(const Job& job, const model::PlanResult& planned) {
    for (const model::LedgerRange& range : planned.ranges) {
        const bool last = planned.fires.empty() || planned.fires.back().nominal < range.range.last;
        if (range.fate != model::FireFate::kMissed || !last) continue;
        return model::JobTally{.job_id = job.id,
                               .last_state = model::RunState::kMissed,
                               .last_error = "its time had passed"};
    }
    return std::nullopt;
}

}  // namespace

Run RunOf(const Job& job, const FindType& find_type, const model::PolicyDefaults& defaults) {
    Run run;
    run.job_id = job.id;
    run.tenant = job.tenant;
    run.type = store::RunTypeOf(job);
    run.category = CategoryOf(job.action);
    run.creator = job.owner;
    run.kind = model::KindOf(job.action);
    run.priority = job.priority;
    run.payload = PayloadOf(job.action);
    const auto type = run.type.empty() || !find_type ? nullptr : find_type(run.type);
    if (type && run.category.empty()) run.category = type->category;
    run.policy = model::EffectivePolicy(&job, type.get(), defaults);
    return run;
}

store::JobPlan FirePlans::Plan(const Job& job, TimePoint now, bool ahead) {
    const auto schedule = schedules_.Of(job);
    if (!schedule) return Postponed(job, now, schedule.error());
    return PlanWith(*schedule, job, now, ahead);
}

Run FirePlans::RunOf(const Job& job) const {
    return engine::RunOf(job, find_type_, options_.defaults);
}

store::JobPlan FirePlans::PlanWith(const schedule::Schedule& schedule, const Job& job,
                                   TimePoint now, bool ahead) const {
    const TimePoint until = ahead ? std::max(now, job.state.next_run_at.value_or(now)) : now;
    const model::PlanResult planned = model::Plan(
        schedule, {.job_id = job.id,
                   .planned_until = job.state.planned_until.value_or(job.state.created_at),
                   .paused = !job.enabled,
                   .misfire = job.misfire,
                   .now = now,
                   .look_ahead_until = until,
                   .max_fires = options_.max_fires});
    store::JobPlan plan{.runs = {},
                        .ranges = planned.ranges,
                        .planned_until = planned.planned_until,
                        .next_run_at = planned.next_fire,
                        .tally = TallyOf(job, planned)};
    if (planned.fires.empty()) return plan;
    Run run = RunOf(job);
    run.trigger = model::RunTrigger::kFire;
    plan.runs.reserve(planned.fires.size());
    for (const model::PlannedFire& fire : planned.fires) {
        run.nominal_at = fire.nominal;
        run.status.ready_at = fire.start_at;
        const bool last = plan.runs.size() + 1 == planned.fires.size();
        plan.runs.push_back(last ? std::move(run) : run);
    }
    return plan;
}

// Accounts for no fire, because the fires are unknown. They are planned under the job's misfire
// policy once the schedule compiles again.
store::JobPlan FirePlans::Postponed(const Job& job, TimePoint now, const Error& error) const {
    Log(LogLevel::kError, "a job cannot be planned",
        {{"job_id", job.id}, {"name", job.name}, {"error", error.Describe()}});
    return {.runs = {},
            .ranges = {},
            .planned_until = job.state.planned_until.value_or(job.state.created_at),
            .next_run_at = now + kPostponed,
            .tally = std::nullopt};
}

}  // namespace ksana::engine
