#include "ksana/api/agents/agent_polls.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ksana/base/log/log.hpp"
#include "ksana/codec/v1/agent_codec.hpp"
#include "ksana/store/run_store.hpp"

namespace ksana::api {
namespace {

using http_server::Response;

// Polls of one filter in one transaction: a commit seldom makes more runs ready.
constexpr std::size_t kFirstOfAGroup = 16;
constexpr std::size_t kMaxClaims = 256;
// Filters that a new run is offered to before it is queued.
constexpr std::size_t kMaxOffers = 32;
// Looks that find nothing although something was committed: after kFreeLooks of them, looks keep a
// distance, so that polls for one type do not slow down other work. The distance is kPausePerLook
// times the duration of a look: a look that reads through a long queue of runs it may not claim
// takes at most a fifth of the store's time.
constexpr std::size_t kFreeLooks = 8;
constexpr Duration kVainPause = std::chrono::milliseconds(5);
constexpr Duration kLongestVainPause = std::chrono::seconds(1);
constexpr int kPausePerLook = 4;
constexpr Duration kErrorPause = std::chrono::seconds(1);

// Returns the key of the group that a claim belongs to: claims with equal filters can be served by
// the same runs. Texts that contain separators may put different filters into one group. This costs
// a claim in vain at most, because each poll claims with its own filter.
std::string KeyOf(const model::AgentClaim& claim) {
    std::string key = claim.tenant + '\x01' + claim.creator + '\x01';
    for (const std::string& type : claim.types) key += type + '\x02';
    key += '\x01';
    for (const std::string& category : claim.categories) key += category + '\x02';
    key += '\x01';
    for (const auto& [name, value] : claim.labels) key += name + '\x03' + value + '\x02';
    return key;
}

Response EmptyAnswer(const AgentPoll& poll) {
    if (!poll.reports) return http_server::NoContent();
    return http_server::JsonResponse(200, codec::ExchangeToJson(*poll.reports, {}));
}

}  // namespace

AgentPolls::AgentPolls(engine::AgentService& context, store::Store& store, Clock& clock,
                       const Options& options)
    : desk_(context),
      store_(store),
      clock_(clock),
      options_(options),
      thread_("agents", [this](const std::stop_token& stop) { Run(stop); }),
      subscription_(
          store.changes().Subscribe(store::Topic::kTasks, [this](store::Topics) { Ring(); })) {}

AgentPolls::~AgentPolls() { Stop(); }

void AgentPolls::Ring() {
    ++commits_;  // before parked_ is read: Park does both in reverse order
    if (parked_ > 0) bell_->wakeup.Notify();
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
    auto exchanged = desk_.Exchange({}, poll.claim);
    if (!exchanged) {
        poll.reply.Fail(exchanged.error());
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
    const MutexLock lock(mutex_);
    return groups_.contains(KeyOf(claim));
}

void AgentPolls::Park(AgentPoll poll, std::optional<std::uint64_t> seen) {
    const SteadyPoint deadline = clock_.SteadyNow() + poll.claim.wait;
    const Key key = KeyOf(poll.claim);
    poll.reply.OnClientGone([bell = bell_] {
        bell->gone = true;
        bell->wakeup.Notify();
    });
    MutexLock lock(mutex_);
    if (draining_ || parked_ >= options_.max_polls) {
        lock.Unlock();
        return Refuse(poll);
    }
    Group& group = groups_[key];
    const bool first = parked_++ == 0;
    first_deadline_ = first ? deadline : std::min(first_deadline_, deadline);
    ask_time_ = ask_time_ || first;
    // A commit came after the poll's own claim; or the poll made no claim (`seen` is none) and the
    // polls before it are gone or taken out for a claim.
    look_ = look_ || (seen ? *seen != commits_ : group.empty());
    group.push_back({std::move(poll), deadline});
    // A client that disconnected before the push rang for a poll that Sweep could not find yet.
    if (group.back().poll.reply.client_gone()) bell_->gone = true;
    lock.Unlock();
    bell_->wakeup.Notify();
}

void AgentPolls::Refuse(AgentPoll& poll) const {
    if (poll.reports || draining_) {
        poll.reply.Send(EmptyAnswer(poll));
        return;
    }
    poll.reply.Fail(
        Error(Code::kExhausted, fmt::format("{} polls wait already", options_.max_polls)));
}

void AgentPolls::Answer(AgentPoll& poll, std::vector<model::Run> runs) {
    if (!runs.empty() && poll.reply.client_gone()) {
        desk_.GiveBack(runs);
        runs.clear();
    }
    if (runs.empty()) {
        poll.reply.Send(EmptyAnswer(poll));
        return;
    }
    std::string body = poll.reports ? codec::ExchangeToJson(*std::move(poll.reports), runs)
                                    : codec::ClaimedRunsToJson(runs);
    poll.reply.Send(http_server::JsonResponse(200, std::move(body)));
}

void AgentPolls::SendEmpty(std::vector<Waiting> polls) {
    for (Waiting& one : polls) one.poll.reply.Send(EmptyAnswer(one.poll));
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
    while (!stop.stop_requested()) clock_.Wait(bell_->wakeup, RunOnce(), stop);
}

SteadyPoint AgentPolls::RunOnce() {
    const SteadyPoint now = clock_.SteadyNow();
    Sweep(now);
    if (waiting() == 0) {
        due_at_.reset();
        return now + std::chrono::hours(1);
    }
    SteadyPoint next = now + options_.longest_sleep;
    if (WantsLook(now)) {
        const bool too_soon = in_vain_ > kFreeLooks && now < looked_at_ + vain_pause_;
        if (too_soon) return looked_at_ + vain_pause_;
        looked_at_ = now;
        const auto again = Look();
        const auto took = std::chrono::ceil<Duration>(clock_.SteadyNow() - now);
        vain_pause_ = std::clamp(kPausePerLook * took, kVainPause, kLongestVainPause);
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
    if (desk_.limits() != nullptr)
        next = std::min(next, std::max(desk_.limits()->RoomAgainAt(), now));
    return std::min(next, first_deadline_);
}

// Answers the polls whose client has disconnected or whose deadline has passed.
void AgentPolls::Sweep(SteadyPoint now) {
    const bool gone = bell_->gone.exchange(false);
    std::vector<Waiting> over;
    {
        const MutexLock lock(mutex_);
        if (parked_ == 0 || (!gone && now < first_deadline_)) return;
        first_deadline_ = SteadyPoint::max();
        for (auto& [key, group] : groups_) {
            const auto rest = std::ranges::stable_partition(group, [&](const Waiting& one) {
                return one.deadline > now && !one.poll.reply.client_gone();
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
    bool ask_time = false;
    bool look = false;
    {
        const MutexLock lock(mutex_);
        ask_time = std::exchange(ask_time_, false);
        look = look_;
    }
    // The poll that was parked first has just claimed in vain: this counts as a look.
    if (ask_time) {
        looked_at_ = std::max(looked_at_, now);
        (void)AskForTime(now);
    }
    if (desk_.limits() != nullptr && desk_.limits()->RoomAgainAt() <= now) {
        desk_.limits()->ForgetRoomAgain();
        look = true;
    }
    return look || commits_ != seen_ || (due_at_ && *due_at_ <= now) ||
           now >= looked_at_ + options_.longest_sleep;
}

// Claims runs for the first polls of the groups. Returns true if there is more to do at once.
Result<bool> AgentPolls::Look() {
    seen_ = commits_.load();
    std::vector<Asked> asked = TakeFirst();
    if (asked.empty()) return false;
    std::vector<model::AgentClaim> claims;
    claims.reserve(asked.size());
    for (const Asked& one : asked) claims.push_back(one.waiting.poll.claim);
    auto claimed = desk_.ClaimAll(claims);
    if (!claimed) {
        PutBack(std::move(asked));
        return std::move(claimed).error();
    }
    const bool again = Serve(std::move(asked), *std::move(claimed));
    if (!again) KSANA_TRY_VOID(AskForTime(clock_.SteadyNow()));
    return again;
}

// Takes the first polls of every group out, beginning with the group of this turn.
std::vector<AgentPolls::Asked> AgentPolls::TakeFirst() {
    std::vector<Asked> asked;
    const MutexLock lock(mutex_);
    look_ = false;
    if (groups_.empty()) return asked;
    const auto turn = static_cast<std::ptrdiff_t>(turn_++ % groups_.size());
    auto group = std::next(groups_.begin(), turn);
    for (std::size_t n = groups_.size(); n > 0; --n) {
        if (asked.size() >= kMaxClaims) {
            look_ = true;  // groups remain whose turn has not come
            break;
        }
        for (std::size_t i = 0; i < kFirstOfAGroup && !group->second.empty(); ++i) {
            asked.push_back({group->first, std::move(group->second.front())});
            group->second.pop_front();
        }
        if (++group == groups_.end()) group = groups_.begin();
    }
    return asked;
}

bool AgentPolls::Serve(std::vector<Asked> asked, std::vector<store::Claimed> claimed) {
    std::vector<Asked> unserved;
    std::size_t served = 0;
    std::vector<Key> filled;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        const bool last = i + 1 == asked.size() || asked[i + 1].key != asked[i].key;
        if (last && claimed[i].more) filled.push_back(asked[i].key);
        if (claimed[i].runs.empty()) {
            unserved.push_back(std::move(asked[i]));
        } else {
            Answer(asked[i].waiting.poll, std::move(claimed[i].runs));
            ++served;
        }
    }
    in_vain_ = served > 0 ? 0 : in_vain_ + 1;
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

// Puts polls back in front of those that came later. Answers them without runs if the server
// drains.
void AgentPolls::PutBack(std::vector<Asked> asked) {
    std::vector<Waiting> over;
    {
        const MutexLock lock(mutex_);
        for (auto entry = asked.rbegin(); entry != asked.rend(); ++entry) {
            if (draining_) {
                over.push_back(std::move(entry->waiting));
            } else {
                // Sweep may have computed the first deadline without these polls.
                first_deadline_ = std::min(first_deadline_, entry->waiting.deadline);
                groups_[entry->key].push_front(std::move(entry->waiting));
            }
        }
        parked_ -= over.size();
        std::erase_if(groups_, [](const auto& group) { return group.second.empty(); });
    }
    SendEmpty(std::move(over));
}

// A poll that was taken out of its group for a run that is about to be stored. Unless it is given
// the run, its destructor puts it back. `hub` must outlive it.
class AgentPolls::FirstInLine final : public engine::WaitingConsumer {
  public:
    FirstInLine(AgentPolls& hub, Asked asked) : hub_(hub), asked_(std::move(asked)) {}
    ~FirstInLine() override {
        if (!given_) hub_.WaitOn(std::move(asked_));
    }

    store::StartAs start() const override {
        const model::AgentClaim& claim = asked_.waiting.poll.claim;
        return {.owner = claim.worker,
                .lease = claim.lease,
                .kind = model::ActionKind::kQueue,
                .limit = 1};
    }
    void Give(model::Run run) override {
        given_ = true;
        hub_.Give(asked_, std::move(run));
    }

  private:
    AgentPolls& hub_;
    Asked asked_;
    bool given_ = false;
};

std::unique_ptr<engine::WaitingConsumer> AgentPolls::TakerFor(const model::Run& run) {
    // Stores do not start a run with a selector when they insert it.
    if (parked_ == 0 || !run.selector.empty()) return nullptr;
    if (desk_.limits() != nullptr && desk_.limits()->Concern(run.type)) return nullptr;
    const MutexLock lock(mutex_);
    // Runs that were ready before go first: RunOnce is about to claim them.
    if (groups_.empty() || look_ || draining_ || commits_ != seen_) return nullptr;
    auto group =
        std::next(groups_.begin(), static_cast<std::ptrdiff_t>(offer_turn_++ % groups_.size()));
    for (std::size_t n = std::min(groups_.size(), kMaxOffers); n > 0; --n) {
        if (!group->second.empty()) {
            Waiting& first = group->second.front();
            if (store::Matches(engine::AgentService::FilterOf(first.poll.claim), run)) {
                Asked asked{group->first, std::move(first)};
                group->second.pop_front();
                return std::make_unique<FirstInLine>(*this, std::move(asked));
            }
        }
        if (++group == groups_.end()) group = groups_.begin();
    }
    return nullptr;
}

void AgentPolls::Give(Asked& asked, model::Run run) {
    {
        const MutexLock lock(mutex_);
        --parked_;
        const auto group = groups_.find(asked.key);
        if (group != groups_.end() && group->second.empty()) groups_.erase(group);
    }
    desk_.NoteStarted(run);
    std::vector<model::Run> runs;
    runs.push_back(std::move(run));
    Answer(asked.waiting.poll, std::move(runs));
}

// Puts the poll back and asks for a look: while the poll was taken out, RunOnce may have looked
// without it.
void AgentPolls::WaitOn(Asked asked) {
    std::vector<Asked> one;
    one.push_back(std::move(asked));
    PutBack(std::move(one));
    {
        const MutexLock lock(mutex_);
        look_ = true;
    }
    bell_->wakeup.Notify();
}

// Reads when the next scheduled run becomes due.
Result<void> AgentPolls::AskForTime(SteadyPoint now) {
    KSANA_TRY(const store::WakeTimes times, store_.runs().NextWake());
    due_at_.reset();
    if (times.ready) due_at_ = now + std::max(*times.ready - times.now, Duration::zero());
    return {};
}

}  // namespace ksana::api
