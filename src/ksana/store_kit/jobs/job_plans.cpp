#include "ksana/store_kit/jobs/job_plans.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "ksana/store_kit/runs/new_runs.hpp"

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

bool IsAhead(const model::Job& job, TimePoint now) {
    return job.state.next_run_at.value_or(now) > now;
}

// Removes jobs that are ahead of their time and whose fire must not overlap with an existing run,
// because that run may have ended by then. Returns the locked counts of all jobs ahead of their
// time.
Result<std::vector<OverlapCounts>> RemoveOverlapping(Transaction& tx, TimePoint now,
                                                     std::vector<model::Job>& jobs) {
    std::vector<std::string> gated;
    for (const model::Job& job : jobs) {
        const bool asks = job.overlap != model::OverlapPolicy::kAllow;
        if (asks && IsAhead(job, now)) gated.push_back(job.id);
    }
    if (gated.empty()) return std::vector<OverlapCounts>();
    KSANA_TRY(std::vector<OverlapCounts> gates, tx.LockOverlapCounts(gated));
    std::set<std::string, std::less<>> busy;
    for (const OverlapCounts& gate : gates) {
        if (gate.under_way + gate.blocked + gate.waiting > 0) busy.insert(gate.job_id);
    }
    std::erase_if(
        jobs, [&](const model::Job& job) { return IsAhead(job, now) && busy.contains(job.id); });
    return gates;
}

}  // namespace

void JobPlans::Add(model::Job& job, store::JobPlan plan) {
    for (model::Run& run : plan.runs) {
        run.job_id = job.id;
        runs_.push_back(std::move(run));
    }
    for (model::Run& run : plan.followers) {
        run.job_id = job.id;
        followers_.push_back(std::move(run));
    }
    for (const model::LedgerRange& range : plan.ranges) {
        without_run_.at(static_cast<std::size_t>(range.fate)) += range.range.count;
        ledger_.push_back({.job_id = job.id, .range = range, .recorded_at = now_});
    }
    if (plan.tally) {
        plan.tally->job_id = job.id;
        tallies_.push_back(*std::move(plan.tally));
    }
    job.state.planned_until = plan.planned_until;
    job.state.next_run_at = plan.next_run_at;
}

Result<store::Planned> JobPlans::Write() {
    store::Planned planned;
    planned.without_run = without_run_;
    if (!tallies_.empty()) KSANA_TRY_VOID(tx_.AddTallies(tallies_));
    if (!ledger_.empty()) KSANA_TRY_VOID(tx_.InsertLedger(ledger_));
    if (runs_.empty()) return planned;
    const store::FollowUp none;
    RunChanges changes(tx_, now_, none, ids_);
    NewRuns fresh(changes, tx_, ids_, start_);
    fresh.Know(std::move(gates_));
    std::set<Uuid> leaders;
    for (const model::Run& run : followers_) leaders.insert(*run.parent);
    fresh.Lead(leaders);
    KSANA_TRY(auto outcomes, fresh.Insert(runs_));
    planned.started.reserve(std::min(outcomes.size(), start_ ? start_->limit : 0));
    std::set<Uuid> stored;
    for (store::Submitted& outcome : outcomes) {
        const bool goes_on =
            outcome.verdict == SubmitVerdict::kStored || outcome.verdict == SubmitVerdict::kStarted;
        if (goes_on && leaders.contains(outcome.id)) stored.insert(outcome.id);
        Count(planned, outcome);
    }
    KSANA_TRY_VOID(changes.Flush());
    if (!stored.empty()) KSANA_TRY_VOID(InsertFollowers(changes, stored, planned));
    return planned;
}

// A fire that another node has planned, or that was skipped, has no followers.
Result<void> JobPlans::InsertFollowers(RunChanges& changes, const std::set<Uuid>& stored,
                                       store::Planned& planned) {
    std::erase_if(followers_, [&](const model::Run& run) { return !stored.contains(*run.parent); });
    NewRuns fresh(changes, tx_, ids_, std::nullopt);
    KSANA_TRY(auto outcomes, fresh.Insert(followers_));
    for (store::Submitted& outcome : outcomes) Count(planned, outcome);
    return changes.Flush();
}

namespace {

// Asks the planner about jobs that the transaction has locked, and writes its plans. May move the
// jobs into the result.
Result<store::Planned> PlanLocked(Transaction& tx, std::vector<model::Job>& jobs,
                                  const store::Planner& planner, TimePoint now, JobPlans& plans) {
    store::Planned planned;
    if (!jobs.empty()) {
        plans.Expect(jobs.size());
        for (model::Job& job : jobs) plans.Add(job, planner(job, now));
        KSANA_TRY_VOID(tx.UpdatePlans(jobs));
        KSANA_TRY(planned, plans.Write());
        tx.Touch(Topic::kJobs);
    }
    planned.now = now;
    planned.jobs = jobs.size();
    if (!planned.started.empty()) planned.of_started = std::move(jobs);
    return planned;
}

}  // namespace

Result<store::Planned> PlanDueJobs(Transaction& tx, TimePoint now, const store::PlanParams& params,
                                   const store::Planner& planner, RunSource& ids) {
    KSANA_TRY(std::vector<model::Job> jobs, tx.LockDueJobs(now + params.look_ahead, params.limit));
    const bool full = jobs.size() == params.limit;
    KSANA_TRY(std::vector<OverlapCounts> gates, RemoveOverlapping(tx, now, jobs));
    JobPlans plans(tx, now, ids, params.start);
    plans.Know(std::move(gates));
    KSANA_TRY(store::Planned planned, PlanLocked(tx, jobs, planner, now, plans));
    planned.more = full && planned.jobs > 0;
    return planned;
}

Result<store::Planned> PlanTheseJobs(Transaction& tx, TimePoint now,
                                     const std::vector<std::string>& job_ids,
                                     const store::Planner& planner, RunSource& ids) {
    KSANA_TRY(std::vector<model::Job> jobs, tx.LockJobs(job_ids));
    const std::optional<store::StartAs> no_start;
    JobPlans plans(tx, now, ids, no_start);
    return PlanLocked(tx, jobs, planner, now, plans);
}

}  // namespace ksana::store_kit
