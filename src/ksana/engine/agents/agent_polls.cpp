#include "ksana/engine/agents/agent_polls.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::engine {
namespace {

// Polls of one filter in one transaction: one commit seldom makes more runs ready.
constexpr std::size_t kFirstOfAGroup = 16;
constexpr std::size_t kMaxClaims = 256;
// Filters that a new run is matched against before it is queued.
constexpr std::size_t kMaxOffers = 32;
// After a few looks in a row that find no run, further looks keep a distance, so that polls for one
// type do not slow down the rest. A look that has to read through a long queue of runs for other
// agents takes at most a fifth of the store's time.
constexpr std::size_t kFreeLooks = 8;
constexpr Duration kVainPause = std::chrono::milliseconds(5);
constexpr Duration kLongestVainPause = std::chrono::seconds(1);
constexpr int kPausePerLook = 4;
constexpr Duration kErrorPause = std::chrono::seconds(1);
// How many runs the poll's worker has room for, as far as that is known: 0 of an agent.
std::int32_t FreeSlots(const model::AgentClaim& claim) { return IsWorker(claim) ? claim.max : 0; }

// Returns the key of the group that a claim belongs to: claims with equal filters can be served by
// the same runs. Texts that contain separators may put different filters into one group. This costs
// a claim in vain at most, because each poll claims with its own filter.
std::string KeyOf(const model::AgentClaim& claim) {
    std::string key = claim.tenant + '\x01' + claim.creator + '\x01';
    for (const model::ActionKind kind : claim.kinds) key += model::NameOf(kind);
    key += IsWorker(claim) ? "\x01w\x01" : "\x01";
    for (const std::string& type : claim.types) key += type + '\x02';
    key += '\x01';
    for (const std::string& category : claim.categories) key += category + '\x02';
    key += '\x01';
    for (const std::string& type : claim.without) key += type + '\x02';
    key += '\x01';
    for (const auto& [name, value] : claim.labels) key += name + '\x03' + value + '\x02';
    return key;
}

}  // namespace

AgentPolls::AgentPolls(AgentService& agents, store::Store& store, Clock& clock,
                       const Options& options)
    : agents_(agents),
      store_(store),
      clock_(clock),
      options_(options),
      thread_("agents", [this](const std::stop_token& stop) { Run(stop); }),
      subscription_(store.changes().Subscribe(store::Topic::kTasks | store::Topic::kReady |
                                                  store::Topic::kWorkers | store::Topic::kFinished,
                                              [this](store::Topics topics) { Hear(topics); })) {}

AgentPolls::~AgentPolls() { Stop(); }

void AgentPolls::Hear(store::Topics topics) {
    const bool over = topics.Has(store::Topic::kFinished) || topics.Has(store::Topic::kTasks) ||
                      topics.Has(store::Topic::kReady);
    const bool counted = over && agents_.limits() != nullptr && agents_.limits()->Hear();
    if (counted) signal_->wakeup.Notify();
    const bool ready = topics.Has(store::Topic::kReady) && other_kinds_wait_;
    if (topics.Has(store::Topic::kTasks) || ready) return Notify();
    if (topics.Has(store::Topic::kWorkers) && workers_wait_) signal_->wakeup.Notify();
}

void AgentPolls::Notify() {
    ++commits_;  // before parked_ is read: Park writes parked_ and then reads commits_
    if (parked_ > 0) signal_->wakeup.Notify();
}

Result<void> AgentPolls::Start() {
    const MutexLock service(service_mutex_);
    draining_ = false;
    return thread_.Start();
}

void AgentPolls::Stop() {
    const MutexLock service(service_mutex_);
    Drain();
    thread_.Stop();
    Drain();  // a safeguard: no poll is kept while draining_ is set
}

void AgentPolls::Claim(AgentPoll poll) {
    const std::uint64_t seen = commits_;
    if (OthersWait(poll.claim)) return Park(std::move(poll), std::nullopt);
    auto exchanged = agents_.Exchange({}, poll.claim);
    if (!exchanged) {
        poll.client->Fail(exchanged.error());
        return;
    }
    Settle(std::move(poll), std::move(exchanged->claimed.runs), seen);
}

void AgentPolls::Settle(AgentPoll poll, std::vector<model::Run> runs,
                        std::optional<std::uint64_t> seen) {
    if (runs.empty() && poll.claim.wait > Duration::zero()) return Park(std::move(poll), seen);
    Answer(poll, std::move(runs));
}

bool AgentPolls::OthersWait(const model::AgentClaim& claim) const {
    if (claim.wait == Duration::zero() || parked_ == 0) return false;
    // A run may name this very worker.
    if (IsWorker(claim)) return false;
    const MutexLock lock(mutex_);
    return groups_.contains(KeyOf(claim));
}

void AgentPolls::Park(AgentPoll poll, std::optional<std::uint64_t> seen) {
    const SteadyPoint deadline = clock_.SteadyNow() + poll.claim.wait;
    const Key key = KeyOf(poll.claim);
    poll.client->OnGone([signal = signal_] {
        signal->gone = true;
        signal->wakeup.Notify();
    });
    MutexLock lock(mutex_);
    if (draining_ || parked_ >= options_.max_polls) {
        lock.Unlock();
        return Refuse(poll);
    }
    const Group& group = groups_[key];
    const bool first = parked_++ == 0;
    if (IsWorker(poll.claim)) workers_wait_ = true;
    // Commits of runs of other kinds were not counted before the first such poll.
    const bool other_kinds = poll.claim.kinds != model::AgentClaim{}.kinds;
    if (other_kinds && !other_kinds_wait_.exchange(true)) look_ = true;
    first_deadline_ = first ? deadline : std::min(first_deadline_, deadline);
    read_due_ = read_due_ || first;
    // A run may have become ready since the claim of this poll; or it made no claim, and the polls
    // before it are gone or taken.
    look_ = look_ || (seen ? *seen != commits_ : group.empty());
    // An agent that left before this line set `gone` while a sweep could not find its poll.
    if (poll.client->gone()) signal_->gone = true;
    Insert({std::move(poll), deadline}, key, false);
    lock.Unlock();
    signal_->wakeup.Notify();
}

// `first`: before those with as many free slots.
void AgentPolls::Insert(Waiting waiting, const Key& key, bool first) {
    Group& group = groups_[key];
    const std::int32_t slots = FreeSlots(waiting.poll.claim);
    const auto free = [](const Waiting& one) { return FreeSlots(one.poll.claim); };
    const auto place = first ? std::ranges::lower_bound(group, slots, std::greater(), free)
                             : std::ranges::upper_bound(group, slots, std::greater(), free);
    group.insert(place, std::move(waiting));
}

void AgentPolls::Refuse(AgentPoll& poll) const {
    if (draining_) return poll.client->Send({});
    poll.client->Fail(
        Error(Code::kExhausted, fmt::format("{} polls wait already", options_.max_polls)));
}

void AgentPolls::Answer(AgentPoll& poll, std::vector<model::Run> runs) {
    if (!runs.empty() && poll.client->gone()) {
        agents_.GiveBack(runs);
        runs.clear();
    }
    auto jobs = JobsOf(runs);
    if (!jobs) {
        agents_.GiveBack(runs);
        return poll.client->Fail(jobs.error());
    }
    if (jobs->empty()) return poll.client->Send(std::move(runs));
    poll.client->SendWith(std::move(runs), *std::move(jobs));
}

void AgentPolls::SendEmpty(std::vector<Waiting> polls) {
    for (Waiting& one : polls) one.poll.client->Send({});
}

void AgentPolls::Drain() {
    draining_ = true;
    std::vector<Waiting> all;
    {
        const MutexLock lock(mutex_);
        for (auto& [key, group] : groups_) std::ranges::move(group, std::back_inserter(all));
        groups_.clear();
        parked_ -= all.size();
    }
    SendEmpty(std::move(all));
}

void AgentPolls::Run(const std::stop_token& stop) {
    while (!stop.stop_requested()) clock_.Wait(signal_->wakeup, RunOnce(), stop);
}

// With the look for attempts that count toward a limit and are over, whether polls wait or not:
// other nodes may wait for the room.
SteadyPoint AgentPolls::RunOnce() {
    if (agents_.limits() == nullptr) return ServeOnce();
    agents_.limits()->Refresh();
    const SteadyPoint next = ServeOnce();
    return std::min(next, std::max(agents_.limits()->LookAt(), clock_.SteadyNow()));
}

SteadyPoint AgentPolls::ServeOnce() {
    const SteadyPoint now = clock_.SteadyNow();
    Sweep(now);
    Recheck();
    if (waiting() == 0) {
        due_at_.reset();
        workers_wait_ = false;
        other_kinds_wait_ = false;
        return now + std::chrono::hours(1);
    }
    SteadyPoint next = now + options_.longest_sleep;
    if (WantsLook(now)) {
        const bool too_soon = empty_looks_ > kFreeLooks && now < looked_at_ + empty_look_pause_;
        if (too_soon) return looked_at_ + empty_look_pause_;
        looked_at_ = now;
        const auto again = Look();
        const auto took = std::chrono::ceil<Duration>(clock_.SteadyNow() - now);
        empty_look_pause_ = std::clamp(kPausePerLook * took, kVainPause, kLongestVainPause);
        if (!again) {
            if (!std::exchange(failing_, true)) {
                Log(LogLevel::kError, "no runs can be claimed for agents",
                    {{"error", again.error().Describe()}});
            }
            due_at_.reset();
            next = std::min<SteadyPoint>(next, now + kErrorPause);
        } else {
            failing_ = false;
            if (*again) return now;
        }
    }
    if (waiting() == 0) return now + std::chrono::hours(1);
    const MutexLock lock(mutex_);
    if (due_at_) next = std::min(next, std::max(*due_at_, now));
    if (agents_.limits() != nullptr)
        next = std::min(next, std::max(agents_.limits()->RoomAgainAt(), now));
    return std::min(next, first_deadline_);
}

// Answers the polls whose client has disconnected or whose deadline has passed.
void AgentPolls::Sweep(SteadyPoint now) {
    const bool gone = signal_->gone.exchange(false);
    std::vector<Waiting> over;
    {
        const MutexLock lock(mutex_);
        if (parked_ == 0 || (!gone && now < first_deadline_)) return;
        first_deadline_ = SteadyPoint::max();
        for (auto& [key, group] : groups_) {
            const auto rest = std::ranges::stable_partition(group, [&](const Waiting& one) {
                return one.deadline > now && !one.poll.client->gone();
            });
            std::move(rest.begin(), rest.end(), std::back_inserter(over));
            group.erase(rest.begin(), rest.end());
            for (const Waiting& one : group) {
                first_deadline_ = std::min(first_deadline_, one.deadline);
            }
        }
        parked_ -= over.size();
        std::erase_if(groups_, [](const auto& entry) { return entry.second.empty(); });
    }
    SendEmpty(std::move(over));
}

bool AgentPolls::WantsLook(SteadyPoint now) {
    bool read_due = false;
    bool look = false;
    {
        const MutexLock lock(mutex_);
        read_due = std::exchange(read_due_, false);
        look = look_;
    }
    // The first poll has just claimed for itself and found nothing: no look is needed now.
    if (read_due) {
        looked_at_ = std::max(looked_at_, now);
        (void)ReadNextDue(now);
    }
    if (agents_.limits() != nullptr && agents_.limits()->RoomAgainAt() <= now) {
        agents_.limits()->ForgetRoomAgain();
        look = true;
    }
    return look || commits_ != seen_ || (due_at_ && *due_at_ <= now) ||
           now >= looked_at_ + options_.longest_sleep;
}

// Claims runs for the first polls of the groups. Returns true if there is more to do at once.
Result<bool> AgentPolls::Look() {
    seen_ = commits_.load();
    KSANA_TRY(bool again, ClaimFor(TakeFirst(), AgentService::Aim::kCommon));
    if (again) return true;
    KSANA_TRY(const bool queued, ReadNextDue(clock_.SteadyNow()));
    if (!queued || !workers_wait_) return false;
    return LookForNamed();
}

Result<bool> AgentPolls::ClaimFor(std::vector<Taken> taken, AgentService::Aim aim) {
    if (taken.empty()) return false;
    std::vector<model::AgentClaim> claims;
    claims.reserve(taken.size());
    for (const Taken& one : taken) claims.push_back(one.waiting.poll.claim);
    auto claimed = agents_.ClaimAll(claims, aim);
    if (!claimed) {
        PutBack(std::move(taken));
        const MutexLock lock(mutex_);
        look_ = true;  // the runs of these commits were not looked at
        return std::move(claimed).error();
    }
    return Serve(std::move(taken), *std::move(claimed));
}

// The first polls of every group, beginning with the group of this turn.
std::vector<AgentPolls::Taken> AgentPolls::TakeFirst() {
    std::vector<Taken> taken;
    const MutexLock lock(mutex_);
    look_ = false;
    if (groups_.empty()) return taken;
    std::vector<std::map<Key, Group>::iterator> order;
    order.reserve(groups_.size());
    for (auto group = groups_.begin(); group != groups_.end(); ++group) order.push_back(group);
    const auto turn = static_cast<std::ptrdiff_t>(turn_++ % order.size());
    std::ranges::rotate(order, order.begin() + turn);
    // Workers of different groups may serve the same runs: the one with most free slots first.
    std::ranges::stable_sort(order, std::greater(), [](const auto& group) {
        return group->second.empty() ? 0 : FreeSlots(group->second.front().poll.claim);
    });
    for (const auto& group : order) {
        if (taken.size() >= kMaxClaims) {
            look_ = true;  // polls of other filters were left out
            break;
        }
        for (std::size_t i = 0; i < kFirstOfAGroup && !group->second.empty(); ++i) {
            taken.push_back({group->first, std::move(group->second.front())});
            group->second.pop_front();
        }
    }
    return taken;
}

bool AgentPolls::Serve(std::vector<Taken> taken, std::vector<store::Claimed> claimed) {
    std::vector<Taken> unserved;
    std::size_t served = 0;
    std::vector<Key> filled;
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const bool last = i + 1 == taken.size() || taken[i + 1].key != taken[i].key;
        if (last && claimed[i].more) filled.push_back(taken[i].key);
        if (claimed[i].runs.empty()) {
            unserved.push_back(std::move(taken[i]));
        } else {
            Answer(taken[i].waiting.poll, std::move(claimed[i].runs));
            ++served;
        }
    }
    empty_looks_ = served > 0 ? 0 : empty_looks_ + 1;
    {
        const MutexLock lock(mutex_);
        parked_ -= served;
    }
    PutBack(std::move(unserved));
    const MutexLock lock(mutex_);
    return look_ || std::ranges::any_of(filled, [this](const Key& key) KSANA_REQUIRES(mutex_) {
               return groups_.contains(key);
           });
}

// Puts polls back in front of those that came after them.
void AgentPolls::PutBack(std::vector<Taken> taken) {
    std::vector<Waiting> over;
    {
        const MutexLock lock(mutex_);
        for (auto entry = taken.rbegin(); entry != taken.rend(); ++entry) {
            if (draining_) {
                over.push_back(std::move(entry->waiting));
            } else {
                // Sweep may have computed the first deadline without these polls.
                first_deadline_ = std::min(first_deadline_, entry->waiting.deadline);
                Insert(std::move(entry->waiting), entry->key, true);
            }
        }
        parked_ -= over.size();
        std::erase_if(groups_, [](const auto& group) { return group.second.empty(); });
    }
    SendEmpty(std::move(over));
}

AgentPolls::Reservation::~Reservation() {
    if (!given_) polls_.PutBackReserved(std::move(taken_));
}

store::StartAs AgentPolls::Reservation::start() const {
    const model::AgentClaim& claim = taken_.waiting.poll.claim;
    return {.owner = model::OwnerName(claim.worker, claim.incarnation),
            .lease = claim.lease,
            .kind = model::ActionKind::kQueue,
            .limit = 1};
}

void AgentPolls::Reservation::Give(model::Run run) {
    given_ = true;
    polls_.Give(taken_, std::move(run));
}

std::unique_ptr<AgentPolls::Reservation> AgentPolls::Reserve(const model::Run& run) {
    // A store starts no run at once that has a selector or a preference.
    if (parked_ == 0 || !run.selector.empty() || !run.prefer.empty()) return nullptr;
    if (agents_.limits() != nullptr && agents_.limits()->Concern(run.type)) return nullptr;
    const MutexLock lock(mutex_);
    // Runs that were ready before go first: RunOnce is about to claim them.
    if (groups_.empty() || look_ || draining_ || commits_ != seen_) return nullptr;
    auto group =
        std::next(groups_.begin(), static_cast<std::ptrdiff_t>(offer_turn_++ % groups_.size()));
    auto best = groups_.end();
    std::int32_t most = 0;
    for (std::size_t n = std::min(groups_.size(), kMaxOffers); n > 0; --n) {
        if (!group->second.empty()) {
            const model::AgentClaim& claim = group->second.front().poll.claim;
            // Agents tell nothing about their load: the first one gets it.
            const bool better = best == groups_.end() || (most > 0 && FreeSlots(claim) > most);
            if (better && AgentService::Wants(claim, run, TimePoint::max())) {
                best = group;
                most = FreeSlots(claim);
                if (most == 0) break;
            }
        }
        if (++group == groups_.end()) group = groups_.begin();
    }
    if (best == groups_.end()) return nullptr;
    Taken taken{best->first, std::move(best->second.front())};
    best->second.pop_front();
    return std::make_unique<Reservation>(*this, std::move(taken));
}

void AgentPolls::Give(Taken& taken, model::Run run) {
    {
        const MutexLock lock(mutex_);
        --parked_;
        const auto group = groups_.find(taken.key);
        if (group != groups_.end() && group->second.empty()) groups_.erase(group);
    }
    agents_.NoteStarted(run);
    std::vector<model::Run> runs;
    runs.push_back(std::move(run));
    Answer(taken.waiting.poll, std::move(runs));
}

// RunOnce may have missed a run for this poll while it was reserved: it looks again.
void AgentPolls::PutBackReserved(Taken taken) {
    std::vector<Taken> one;
    one.push_back(std::move(taken));
    PutBack(std::move(one));
    {
        const MutexLock lock(mutex_);
        look_ = true;
    }
    signal_->wakeup.Notify();
}

// Reads when the next run comes due by itself. Returns whether runs are ready.
Result<bool> AgentPolls::ReadNextDue(SteadyPoint now) {
    KSANA_TRY(const store::WakeTimes times, store_.runs().NextWake());
    due_at_.reset();
    if (times.ready) due_at_ = now + std::max(*times.ready - times.now, Duration::zero());
    return times.queued;
}

}  // namespace ksana::engine
