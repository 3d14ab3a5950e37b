#include "ksana/engine/limits/agent_limits.hpp"

#include <algorithm>

namespace ksana::engine {
namespace {

// The slack after a lease before its attempt stops counting: the reaper takes the run a little
// after the lease ends.
constexpr Duration kAfterLease = std::chrono::seconds(1);

bool Wants(const store::ClaimFilter& filter, const std::string& type) {
    return filter.types.empty() || std::ranges::find(filter.types, type) != filter.types.end();
}

}  // namespace

bool AgentLimits::Concern(const store::ClaimFilter& filter) const {
    if (!book_.active()) return false;
    const auto rooms = book_.TypeRooms(clock_.SteadyNow());
    return std::ranges::any_of(rooms, [&](const auto& room) { return Wants(filter, room.type); });
}

bool AgentLimits::Concern(const std::string& type) const {
    return book_.active() && Concern(store::ClaimFilter{.types = {type}});
}

AgentLimits::Turn::Turn(AgentLimits& limits) : limits_(limits), lock_(limits.claiming_) {
    limits_.DropSilent(limits_.clock_.SteadyNow());
}

bool AgentLimits::Turn::Narrow(store::ClaimParams& claim) {
    std::vector<std::string>& types = claim.filter.types;
    const bool any = types.empty();
    std::vector<std::string> limited;
    SteadyPoint again = limits_.again_;
    for (const LimitTracker::TypeRoom& one : limits_.book_.TypeRooms(limits_.clock_.SteadyNow())) {
        if (!Wants(claim.filter, one.type)) continue;
        const std::size_t promised = promised_[one.type];
        if (one.room > promised) {
            claim.limit = std::min(claim.limit, one.room - promised);
            limited.push_back(one.type);
            continue;
        }
        again = std::min(again, one.again);
        limits_.book_.WantType(one.type, claim.limit, limits_.clock_.SteadyNow());
        if (any) {
            claim.filter.without.push_back(one.type);
        } else {
            std::erase(types, one.type);
            if (types.empty()) break;
        }
    }
    limits_.again_ = again;
    if (!any && types.empty()) return false;
    for (const std::string& type : limited) promised_[type] += claim.limit;
    return true;
}

void AgentLimits::Turn::Note(const std::vector<model::Run>& taken, Duration lease) {
    const SteadyPoint now = limits_.clock_.SteadyNow();
    const MutexLock lock(limits_.mutex_);
    for (const model::Run& run : taken) {
        LimitTracker::Ticket ticket = limits_.book_.TakeType(run.type, now);
        if (ticket.lines.empty()) continue;
        const SteadyPoint until = now + std::min(lease, run.policy.timeout) + kAfterLease;
        limits_.first_silence_ = std::min(limits_.first_silence_, until);
        limits_.held_.insert_or_assign(run.status.exec_id, Held{std::move(ticket), until});
    }
}

void AgentLimits::Extend(const std::string& exec_id, Duration lease) {
    const MutexLock lock(mutex_);
    const auto held = held_.find(exec_id);
    if (held != held_.end()) held->second.until = clock_.SteadyNow() + lease + kAfterLease;
}

void AgentLimits::Release(const std::string& exec_id) {
    {
        const MutexLock lock(mutex_);
        const auto held = held_.find(exec_id);
        if (held == held_.end()) return;
        book_.GiveBack(held->second.ticket, clock_.SteadyNow());
        held_.erase(held);
    }
    if (ring_) ring_();
}

// Stops counting attempts whose agent fell silent: the reaper of some node has taken their runs.
void AgentLimits::DropSilent(SteadyPoint now) {
    const MutexLock lock(mutex_);
    if (first_silence_ <= now) {
        first_silence_ = SteadyPoint::max();
        std::erase_if(held_, [&](const auto& entry) KSANA_REQUIRES(mutex_) {
            const bool silent = entry.second.until <= now;
            if (silent) {
                book_.GiveBack(entry.second.ticket, now);
            } else {
                first_silence_ = std::min(first_silence_, entry.second.until);
            }
            return silent;
        });
    }
    again_ = first_silence_;
}

}  // namespace ksana::engine
