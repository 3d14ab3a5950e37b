#include "ksana/store_kit/overlap_gates.hpp"

#include <algorithm>

namespace ksana::store_kit {

using model::OverlapVerdict;

bool OverlapGates::Concerns(const model::Run& run) {
    return !run.job_id.empty() && run.status.attempt == 0 && !run.policy.ignores_overlap &&
           run.policy.overlap != model::OverlapPolicy::kAllow;
}

void OverlapGates::Know(std::vector<Gate> gates) {
    for (Gate& gate : gates) {
        std::string job_id = gate.job_id;
        gates_[std::move(job_id)] = std::move(gate);
    }
}

Result<void> OverlapGates::Lock(const RunRefs& runs) {
    std::vector<std::string> jobs;
    for (const model::Run* run : runs) {
        if (Concerns(*run) && !gates_.contains(run->job_id)) jobs.push_back(run->job_id);
    }
    if (jobs.empty()) return {};
    std::ranges::sort(jobs);
    const auto rest = std::ranges::unique(jobs);
    jobs.erase(rest.begin(), rest.end());
    KSANA_TRY(std::vector<Gate> gates, tx_.LockGates(jobs));
    Know(std::move(gates));
    return {};
}

bool OverlapGates::IsOneTooMany(const model::Run& run) const {
    const Gate& gate = gates_.at(run.job_id);
    return model::IsOneTooMany(run.policy.overlap, gate.under_way + gate.blocked + gate.waiting);
}

bool OverlapGates::IsFree(const model::Run& run) const {
    const Gate& gate = gates_.at(run.job_id);
    return gate.under_way + gate.blocked + gate.waiting == 0;
}

// With nothing under way a run starts although others may be blocked: one of them was let go and
// is on its way, and the order is that of the queue.
Result<OverlapVerdict> OverlapGates::Ask(const model::Run& run) {
    if (!Concerns(run)) return OverlapVerdict::kStart;
    Gate& gate = gates_.at(run.job_id);
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

// Those that wait end at once, those that run are asked to; the new one waits for their end. What
// was let through and is not in the store yet (a batch of new runs) stays counted.
Result<void> OverlapGates::CancelOthers(const model::Run& run, Gate& gate) {
    KSANA_TRY_VOID(changes_.Flush());
    KSANA_TRY(const std::vector<Gate> before, tx_.LockGates({run.job_id}));
    KSANA_TRY(std::vector<model::Run> others, tx_.LockGated(run.job_id));
    for (model::Run& other : others) {
        if (other.id == run.id) continue;
        changes_.Change(other, {.kind = model::EventKind::kCancel});
        cancelled_[other.id] = other.status;
    }
    KSANA_TRY_VOID(changes_.Flush());
    KSANA_TRY(const std::vector<Gate> after, tx_.LockGates({run.job_id}));
    gate.under_way += after.at(0).under_way - before.at(0).under_way;
    gate.blocked += after.at(0).blocked - before.at(0).blocked;
    gate.waiting += after.at(0).waiting - before.at(0).waiting;
    return {};
}

const model::RunStatus* OverlapGates::CancelledStatus(const Uuid& id) const {
    const auto found = cancelled_.find(id);
    return found == cancelled_.end() ? nullptr : &found->second;
}

}  // namespace ksana::store_kit
