#include "ksana/engine/limits/agent_limits.hpp"

#include <algorithm>

namespace ksana::engine {
namespace {

// The slack after a lease before its attempt stops counting: the reaper takes the run a little
// after the lease ends.
constexpr Duration kAfterLease = std::chrono::seconds(1);
// Looks for attempts that are over take a twentieth of a thread's time at most.
constexpr Duration kBetweenLooks = std::chrono::milliseconds(250);
constexpr Duration kLongestBetweenLooks = std::chrono::seconds(5);
constexpr int kPausePerLook = 20;
// Runs of a type that are read at a time, with their payloads, and at most. If more are under way,
// those that were not seen count on.
constexpr std::size_t kLookPage = 200;
constexpr std::size_t kMostLooked = 100'000;
// How long an attempt counts whose end nobody knows.
constexpr Duration kEndless = std::chrono::hours(1);

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
    if (limits_.LookAt() <= limits_.clock_.SteadyNow()) limits_.AskStore();
    limits_.again_ = limits_.first_silence_.load();
}

AgentLimits::Turn::~Turn() {
    for (const auto& [type, runs] : promised_) limits_.book_.PromiseType(type, 0);
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
    for (const std::string& type : limited) {
        limits_.book_.PromiseType(type, promised_[type] += claim.limit);
    }
    return true;
}

void AgentLimits::Turn::Note(const std::vector<model::Run>& taken, Duration lease) {
    const SteadyPoint now = limits_.clock_.SteadyNow();
    const MutexLock lock(limits_.mutex_);
    for (const model::Run& run : taken) {
        LimitTracker::Ticket ticket = limits_.book_.TakeType(run.type, now);
        if (ticket.lines.empty()) continue;
        const SteadyPoint until = now + std::min(lease, run.policy.timeout) + kAfterLease;
        limits_.NoteSilence(until);
        limits_.held_.insert_or_assign(run.status.exec_id,
                                       Held{std::move(ticket), run.type, until});
    }
}

void AgentLimits::NoteSilence(SteadyPoint until) {
    first_silence_ = std::min(first_silence_.load(), until);
}

void AgentLimits::Extend(const std::string& exec_id, Duration lease) {
    const MutexLock lock(mutex_);
    const auto held = held_.find(exec_id);
    if (held == held_.end()) return;
    held->second.until = clock_.SteadyNow() + lease + kAfterLease;
    NoteSilence(held->second.until);
}

void AgentLimits::Release(const std::string& exec_id) {
    {
        const MutexLock lock(mutex_);
        const auto held = held_.find(exec_id);
        if (held == held_.end()) return;
        book_.GiveBack(held->second.ticket, clock_.SteadyNow());
        held_.erase(held);
        if (held_.empty()) first_silence_ = SteadyPoint::max();
    }
    if (ring_) ring_();
}

bool AgentLimits::Hear() {
    return !heard_.exchange(true) && first_silence_.load() != SteadyPoint::max();
}

SteadyPoint AgentLimits::LookAt() const {
    const SteadyPoint silence = first_silence_;
    if (silence == SteadyPoint::max()) return silence;
    return heard_ ? next_look_.load() : std::max(next_look_.load(), silence);
}

void AgentLimits::Refresh() {
    if (LookAt() > clock_.SteadyNow()) return;
    bool room = false;
    {
        const MutexLock lock(claiming_);
        room = LookAt() <= clock_.SteadyNow() && AskStore();
    }
    if (room && ring_) ring_();
}

// Nothing is claimed meanwhile, so what the store does not show as running is over. Returns whether
// there is room now.
bool AgentLimits::AskStore() {
    const SteadyPoint began = clock_.SteadyNow();
    heard_ = false;
    Running before;
    std::set<std::string> types;
    {
        const MutexLock lock(mutex_);
        for (const auto& [exec_id, held] : held_) {
            before.emplace(exec_id, held.until);
            types.insert(held.type);
        }
    }
    Running running;
    Result<void> read;
    const auto now = store_.Now();
    if (!now) read = now.error();
    for (auto type = types.begin(); read && type != types.end(); ++type) {
        read = ReadRunning(*type, *now, running);
    }
    const auto took = std::chrono::ceil<Duration>(clock_.SteadyNow() - began);
    next_look_ =
        clock_.SteadyNow() + std::clamp(kPausePerLook * took, kBetweenLooks, kLongestBetweenLooks);
    if (read) return Apply(before, running);
    heard_ = true;  // the claims that fail too are logged
    return false;
}

// An attempt whose lease or deadline is over is left to the reaper, and does not go on.
Result<void> AgentLimits::ReadRunning(const std::string& type, TimePoint now,
                                      Running& running) const {
    store::RunQuery query;
    query.filter.states = model::SetOf(model::RunState::kRunning);
    query.filter.type = type;
    query.limit = kLookPage;
    for (std::size_t looked = 0; looked < kMostLooked; looked += kLookPage) {
        const SteadyPoint steady = clock_.SteadyNow();
        KSANA_TRY(const store::Page<model::Run> page, store_.runs().List(query));
        for (const model::Run& run : page.items) {
            const auto expires = model::ExpiresAt(run);
            const Duration left = expires ? *expires - now : kEndless;
            if (left + kAfterLease <= Duration::zero()) continue;
            running.emplace(run.status.exec_id, steady + left + kAfterLease);
        }
        if (page.next.empty()) return {};
        query.cursor = page.next;
    }
    return Error(Code::kExhausted, "more runs of the type are under way than are looked at");
}

// `before`: the attempts that counted before the store was asked.
bool AgentLimits::Apply(const Running& before, const Running& running) {
    const SteadyPoint now = clock_.SteadyNow();
    bool room = false;
    const MutexLock lock(mutex_);
    for (const auto& [exec_id, until] : before) {
        const auto held = held_.find(exec_id);
        // Whoever was heard of meanwhile is known better than the store has said.
        if (held == held_.end() || held->second.until != until) continue;
        const auto goes_on = running.find(exec_id);
        if (goes_on != running.end()) {
            held->second.until = goes_on->second;
            continue;
        }
        book_.GiveBack(held->second.ticket, now);
        held_.erase(held);
        room = true;
    }
    first_silence_ = SteadyPoint::max();
    for (const auto& [exec_id, held] : held_) NoteSilence(held.until);
    return room;
}

}  // namespace ksana::engine
