#include "ksana/engine/workers/agent_presence.hpp"

#include <algorithm>

namespace ksana::engine {

bool AgentPresence::Note(const model::AgentClaim& claim) {
    const SteadyPoint now = clock_.SteadyNow();
    const MutexLock lock(mutex_);
    if (agents_.size() >= kMaxAgents && !agents_.contains(claim.worker)) MakeRoom();
    const auto [entry, fresh] = agents_.try_emplace(claim.worker);
    Seen& seen = entry->second;
    seen.seen = now;
    const bool changed =
        fresh || seen.agent.types != claim.types || seen.agent.labels != claim.labels;
    if (changed) {
        seen.agent.id = claim.worker;
        seen.agent.agent = true;
        seen.agent.types = claim.types;
        seen.agent.labels = claim.labels;
        seen.agent.slots = 0;
    }
    const bool due = fresh || now >= seen.written + kAgentNotice;
    if (!due || seen.due) return false;
    seen.due = true;
    return !std::exchange(any_due_, true);
}

// Drops a tenth of the agents, so that room is made seldom.
void AgentPresence::MakeRoom() {
    std::vector<std::pair<SteadyPoint, std::string>> by_age;
    by_age.reserve(agents_.size());
    for (const auto& [name, seen] : agents_) by_age.emplace_back(seen.seen, name);
    const auto last = by_age.begin() + static_cast<std::ptrdiff_t>(by_age.size() / 10 + 1);
    std::ranges::nth_element(by_age, last - 1);
    for (auto one = by_age.begin(); one != last; ++one) agents_.erase(one->second);
}

std::vector<model::Worker> AgentPresence::Take() {
    std::vector<model::Worker> taken;
    const MutexLock lock(mutex_);
    if (!std::exchange(any_due_, false)) return taken;
    const SteadyPoint now = clock_.SteadyNow();
    for (auto& [name, seen] : agents_) {
        if (!std::exchange(seen.due, false)) continue;
        seen.written = now;
        taken.push_back(seen.agent);
    }
    return taken;
}

void AgentPresence::PutBack(const std::vector<model::Worker>& agents) {
    const MutexLock lock(mutex_);
    for (const model::Worker& agent : agents) {
        const auto found = agents_.find(agent.id);
        if (found == agents_.end()) continue;
        found->second.due = true;
        any_due_ = true;
    }
}

}  // namespace ksana::engine
