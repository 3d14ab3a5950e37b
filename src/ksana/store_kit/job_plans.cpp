#include "ksana/store_kit/job_plans.hpp"

#include <utility>

#include "ksana/store_kit/new_runs.hpp"

namespace ksana::store_kit {
namespace {

using store::SubmitVerdict;
using store::Topic;

void Count(store::Planned& planned, store::Submitted& outcome) {
    switch (outcome.verdict) {
        case SubmitVerdict::kSameFire:
        case SubmitVerdict::kSameId:
        case SubmitVerdict::kSameKey:
            ++planned.duplicates;
            return;
        case SubmitVerdict::kSkipped:
            ++planned.skipped;
            break;
        case SubmitVerdict::kStarted:
            planned.started.push_back(*std::move(outcome.started));
            break;
        case SubmitVerdict::kStored:
            break;
    }
    ++planned.runs;
}

}  // namespace

void JobPlans::Add(model::Job& job, store::JobPlan plan) {
    for (model::Run& run : plan.runs) {
        run.job_id = job.id;
        runs_.push_back(std::move(run));
    }
    for (const model::LedgerRange& range : plan.ranges) {
        ledger_.push_back({.job_id = job.id, .range = range, .recorded_at = now_});
    }
    if (plan.tally) {
        plan.tally->job_id = job.id;
        tallies_.push_back(*std::move(plan.tally));
    }
    job.planned_until = plan.planned_until;
    job.next_run_at = plan.next_run_at;
}

Result<store::Planned> JobPlans::Write() {
    store::Planned planned;
    if (!tallies_.empty()) KSANA_TRY_VOID(tx_.AddTallies(tallies_));
    if (!ledger_.empty()) KSANA_TRY_VOID(tx_.InsertLedger(ledger_));
    if (runs_.empty()) return planned;
    const store::FollowUp none;
    RunChanges changes(tx_, now_, none, ids_);
    NewRuns fresh(changes, tx_, ids_, start_);
    KSANA_TRY(auto outcomes, fresh.Insert(runs_));
    for (store::Submitted& outcome : outcomes) Count(planned, outcome);
    KSANA_TRY_VOID(changes.Flush());
    return planned;
}

Result<store::Planned> PlanDueJobs(Transaction& tx, TimePoint now, const store::PlanParams& params,
                                   const store::Planner& planner, UuidGenerator& ids) {
    KSANA_TRY(std::vector<model::Job> jobs, tx.LockDueJobs(now + params.look_ahead, params.limit));
    if (jobs.empty()) return store::Planned{};
    JobPlans plans(tx, now, ids, params.start);
    for (model::Job& job : jobs) plans.Add(job, planner(job, now));
    KSANA_TRY_VOID(tx.UpdatePlans(jobs));
    KSANA_TRY(store::Planned planned, plans.Write());
    planned.jobs = jobs.size();
    planned.more = jobs.size() == params.limit;
    tx.Touch(Topic::kJobs);
    return planned;
}

}  // namespace ksana::store_kit
