#include "ksana/store_kit/runs/overlap_guard.hpp"

#include <algorithm>

namespace ksana::store_kit {

using model::OverlapVerdict;

bool OverlapGuard::Concerns(const model::Run& run) {
    return !run.job_id.empty() && run.status.attempt == 0 && !run.policy.ignores_overlap &&
           run.policy.overlap != model::OverlapPolicy::kAllow;
}

void OverlapGuard::Know(std::vector<OverlapCounts> gates) {
    for (OverlapCounts& gate : gates) {
        std::string job_id = gate.job_id;
        gates_[std::move(job_id)] = std::move(gate);
    }
}

Result<void> OverlapGuard::Lock(const RunRefs& runs) {
    std::vector<std::string> jobs;
    for (const model::Run* run : runs) {
        if (Concerns(*run) && !gates_.contains(run->job_id)) jobs.push_back(run->job_id);
    }
    if (jobs.empty()) return {};
    std::ranges::sort(jobs);
    const auto rest = std::ranges::unique(jobs);
    jobs.erase(rest.begin(), rest.end());
    KSANA_TRY(std::vector<OverlapCounts> gates, tx_.LockOverlapCounts(jobs));
    Know(std::move(gates));
    return {};
}

bool OverlapGuard::ExceedsQueueLimit(const model::Run& run) const {
    const OverlapCounts& gate = gates_.at(run.job_id);
    return model::ExceedsQueueLimit(run.policy.overlap,
                                    gate.under_way + gate.blocked + gate.waiting);
}

bool OverlapGuard::IsFree(const model::Run& run) const {
    const OverlapCounts& gate = gates_.at(run.job_id);
    return gate.under_way + gate.blocked + gate.waiting == 0;
}

// If nothing is under way, the run starts even if others are blocked: one of those has been
// unblocked and is queued, and the queue decides the order.
Result<OverlapVerdict> OverlapGuard::Ask(const model::Run& run) {
    if (!Concerns(run)) return OverlapVerdict::kStart;
    OverlapCounts& gate = gates_.at(run.job_id);
    OverlapVerdict verdict =
        gate.under_way == 0
            ? OverlapVerdict::kStart
            : model::DecideOverlap(run.policy.overlap, gate.under_way, gate.blocked);
    if (verdict == OverlapVerdict::kCancelOthers) {
        KSANA_TRY_VOID(CancelOthers(run, gate));
        verdict = gate.under_way == 0 ? OverlapVerdict::kStart : OverlapVerdict::kQueue;
    }
    if (verdict == OverlapVerdict::kStart) ++gate.under_way;
    if (verdict == OverlapVerdict::kQueue) ++gate.blocked;
    return verdict;
}

// Cancels blocked runs at once and asks running ones to stop; the new run waits for their end. Runs
// that were let through but are not stored yet (of a batch of new runs) stay counted.
Result<void> OverlapGuard::CancelOthers(const model::Run& run, OverlapCounts& gate) {
    KSANA_TRY_VOID(changes_.Flush());
    KSANA_TRY(const std::vector<OverlapCounts> before, tx_.LockOverlapCounts({run.job_id}));
    KSANA_TRY(std::vector<model::Run> others, tx_.LockGated(run.job_id));
    for (model::Run& other : others) {
        if (other.id == run.id) continue;
        changes_.Change(other, {.kind = model::EventKind::kCancel});
        cancelled_[other.id] = other.status;
    }
    KSANA_TRY_VOID(changes_.Flush());
    KSANA_TRY(const std::vector<OverlapCounts> after, tx_.LockOverlapCounts({run.job_id}));
    gate.under_way += after.at(0).under_way - before.at(0).under_way;
    gate.blocked += after.at(0).blocked - before.at(0).blocked;
    gate.waiting += after.at(0).waiting - before.at(0).waiting;
    return {};
}

const model::RunStatus* OverlapGuard::CancelledStatus(const Uuid& id) const {
    const auto found = cancelled_.find(id);
    return found == cancelled_.end() ? nullptr : &found->second;
}

}  // namespace ksana::store_kit
