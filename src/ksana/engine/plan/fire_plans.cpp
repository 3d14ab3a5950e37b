#include "ksana/engine/plan/fire_plans.hpp"

#include <algorithm>

#include "ksana/base/ids/hash.hpp"
#include "ksana/base/log/log.hpp"
#include "ksana/codec/workers/worker_codec.hpp"
#include "ksana/model/job/job_run.hpp"
#include "ksana/model/job/plan.hpp"
#include "ksana/model/run/trace_context.hpp"
#include "ksana/model/worker.hpp"

namespace ksana::engine {

using model::Job;
using model::Run;

namespace {

// How long a job whose schedule does not compile is postponed.
constexpr Duration kPostponed = std::chrono::minutes(1);

// The most runs of one broadcast.
constexpr std::size_t kMaxShards = 1'000;

// The id of the first run of a broadcast, which the others name as their parent. A UUIDv7 like all
// ids, but the same however often the fire is planned.
Uuid ShardId(const Run& run, TimePoint now) {
    const auto nominal = run.nominal_at.value_or(now).time_since_epoch().count();
    const std::uint64_t high = HashText(run.job_id, nominal);
    const std::uint64_t low = HashText(run.job_id + "/shard", nominal);
    const auto millis = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
    Uuid id;
    for (std::size_t i = 0; i < 6; ++i) {
        id.bytes[i] = static_cast<std::uint8_t>(millis >> (8 * (5 - i)));
    }
    id.bytes[6] = static_cast<std::uint8_t>(0x70U | ((high >> 8U) & 0x0fU));
    id.bytes[7] = static_cast<std::uint8_t>(high);
    for (std::size_t i = 0; i < 8; ++i) {
        id.bytes[8 + i] = static_cast<std::uint8_t>(low >> (8 * i));
    }
    id.bytes[8] = static_cast<std::uint8_t>(0x80U | (id.bytes[8] & 0x3fU));
    return id;
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
    const std::string code = model::RunTypeOf(job);
    const auto type = code.empty() || !find_type ? nullptr : find_type(code);
    return model::RunOf(job, type.get(), defaults);
}

store::JobPlan FirePlans::Plan(const Job& job, TimePoint now, bool ahead) {
    const auto schedule = schedules_.Of(job);
    if (!schedule) return Postponed(job, now, schedule.error());
    return PlanWith(*schedule, job, now, ahead);
}

Run FirePlans::RunOf(const Job& job) const {
    Run run = engine::RunOf(job, find_type_, options_.defaults);
    if (options_.workers != nullptr) {
        options_.workers->Place(job.placement, run);
    } else {
        run.selector = job.placement.require;
    }
    return run;
}

void FirePlans::NotePreference(const Run& run) const {
    if (options_.workers == nullptr || run.prefer.empty()) return;
    options_.workers->NotePreference(run.status.ready_at + run.prefer_for);
}

std::optional<std::vector<Run>> FirePlans::Spread(Run& run, TimePoint now) const {
    std::vector<std::string> names;
    if (options_.workers != nullptr) names = options_.workers->Serving(run);
    if (names.empty()) return std::nullopt;
    if (names.size() > kMaxShards) names.resize(kMaxShards);
    if (run.id.IsNil()) run.id = ShardId(run, now);
    std::vector<Run> others;
    const std::string payload = run.payload;
    const TextMap selector = run.selector;
    for (std::size_t i = 0; i < names.size(); ++i) {
        Run& shard = i == 0 ? run : others.emplace_back(run);
        shard.payload = codec::ShardPayload(payload, i, names.size());
        shard.selector = selector;
        shard.selector[model::kWorkerLabel] = names[i];
        if (i == 0) continue;
        shard.id = {};
        shard.parent = run.id;
        shard.trace_parent = model::TraceParentForChild(run);
        shard.nominal_at.reset();
        shard.policy.ignores_overlap = true;
    }
    return others;
}

// A broadcast without a live worker is accounted for in the ledger.
void FirePlans::AddFire(const Run& basis, bool broadcast, const model::PlannedFire& fire,
                        TimePoint now, store::JobPlan& plan) const {
    Run run = basis;
    run.nominal_at = fire.nominal;
    run.status.ready_at = fire.start_at;
    if (broadcast) {
        auto others = Spread(run, now);
        if (!others) {
            plan.ranges.push_back({model::FireFate::kNoWorker, {1, fire.nominal, fire.nominal}});
            plan.tally = model::JobTally{.job_id = run.job_id,
                                         .last_state = model::RunState::kSkipped,
                                         .last_error = "no live worker serves it"};
            return;
        }
        std::ranges::move(*others, std::back_inserter(plan.followers));
    }
    NotePreference(run);
    plan.runs.push_back(std::move(run));
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
        AddFire(run, job.placement.broadcast, fire, now, plan);
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
