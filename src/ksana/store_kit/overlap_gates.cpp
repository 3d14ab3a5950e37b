#include "ksana/store_kit/overlap_gates.hpp"

#include <set>

namespace ksana::store_kit {

using model::OverlapVerdict;

bool OverlapGates::Concerns(const model::Run& run) {
    return !run.job_id.empty() && run.status.attempt == 0 && !run.policy.ignores_overlap &&
           run.policy.overlap != model::OverlapPolicy::kAllow;
}

Result<void> OverlapGates::Lock(const std::vector<model::Run>& runs) {
    std::set<std::string> jobs;
    for (const model::Run& run : runs) {
        if (Concerns(run) && !gates_.contains(run.job_id)) jobs.insert(run.job_id);
    }
    if (jobs.empty()) return {};
    KSANA_TRY(std::vector<Gate> gates, tx_.LockGates({jobs.begin(), jobs.end()}));
    for (Gate& gate : gates) gates_[gate.job_id] = std::move(gate);
    return {};
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
        verdict = OverlapVerdict::kQueue;
    }
    if (verdict == OverlapVerdict::kStart) ++gate.under_way;
    if (verdict == OverlapVerdict::kQueue) ++gate.blocked;
    return verdict;
}

// Those that wait end at once, those that run are asked to; the new one waits for their end.
Result<void> OverlapGates::CancelOthers(const model::Run& run, Gate& gate) {
    KSANA_TRY_VOID(changes_.Flush());
    KSANA_TRY(std::vector<model::Run> others, tx_.LockGated(run.job_id));
    for (model::Run& other : others) {
        if (other.id != run.id) changes_.Change(other, {.kind = model::EventKind::kCancel});
    }
    gate.blocked = 0;
    return changes_.Flush();
}

}  // namespace ksana::store_kit
