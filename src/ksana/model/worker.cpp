#include "ksana/model/worker.hpp"

#include <algorithm>

#include "ksana/base/ids/hash.hpp"

namespace ksana::model {

WorkerState StateOf(const Worker& worker, TimePoint now, Duration silence) {
    if (worker.deregistered) return WorkerState::kGone;
    if (now - worker.last_heartbeat_at > silence) return WorkerState::kDown;
    const bool draining = worker.draining || worker.drain_requested;
    return draining ? WorkerState::kDraining : WorkerState::kAlive;
}

std::string OwnerName(const std::string& name, const Uuid& incarnation) {
    return incarnation.IsNil() ? name : name + "/" + incarnation.ToString();
}

std::string OwnerOf(const Worker& worker) { return OwnerName(worker.id, worker.incarnation); }

TextMap LabelsOf(const Worker& worker) {
    TextMap labels = worker.labels;
    if (!worker.agent) labels[kWorkerLabel] = worker.id;
    return labels;
}

bool HasLabels(const TextMap& labels, const TextMap& demanded) {
    return std::ranges::all_of(demanded, [&](const auto& demand) {
        const auto found = labels.find(demand.first);
        return found != labels.end() && found->second == demand.second;
    });
}

bool IsForWorkers(const Run& run) { return run.kind != ActionKind::kHttp || !run.selector.empty(); }

bool Serves(const Worker& worker, const Run& run) {
    if (std::ranges::find(worker.kinds, run.kind) == worker.kinds.end()) return false;
    if (!IsForWorkers(run)) return false;
    const bool typed = run.kind == ActionKind::kQueue || run.kind == ActionKind::kHandler;
    if (typed && !worker.types.empty() &&
        std::ranges::find(worker.types, run.type) == worker.types.end()) {
        return false;
    }
    return run.selector.empty() || HasLabels(LabelsOf(worker), run.selector);
}

std::string_view StickyChoice(std::string_view key, std::span<const std::string> names) {
    std::string_view best;
    std::uint64_t highest = 0;
    for (const std::string& name : names) {
        const auto of_key = static_cast<std::int64_t>(HashText(key));
        const std::uint64_t weight = HashText(name, of_key);
        const bool wins = best.empty() || weight > highest || (weight == highest && name < best);
        if (!wins) continue;
        best = name;
        highest = weight;
    }
    return best;
}

}  // namespace ksana::model
