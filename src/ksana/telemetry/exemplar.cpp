#include "ksana/telemetry/exemplar.hpp"

namespace ksana::telemetry {

std::optional<Exemplar> ExemplarSlots::Take(std::size_t slot) const {
    wanted_.at(slot).store(true, std::memory_order_relaxed);
    const MutexLock lock(mutex_);
    if (kept_.empty()) return std::nullopt;
    return kept_.at(slot);
}

void ExemplarSlots::Keep(std::size_t slot, Exemplar exemplar) {
    if (exemplar.trace_id.empty() || exemplar.trace_id.size() > kMaxTraceId) return;
    const MutexLock lock(mutex_);
    kept_.resize(wanted_.size());
    kept_.at(slot) = std::move(exemplar);
}

}  // namespace ksana::telemetry
