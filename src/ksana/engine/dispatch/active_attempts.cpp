#include "ksana/engine/dispatch/active_attempts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ksana/codec/records/wait_cause_codec.hpp"

namespace ksana::engine {
namespace {

// The executor enforces the timeout itself. This long after it, the dispatcher asks it to stop.
constexpr Duration kOverdueSlack = std::chrono::milliseconds(500);

constexpr SteadyPoint kNever = SteadyPoint::max();

// An attempt that waits for a limit longer than kLongWait is stored as waiting. One that waited
// longer than kNoticedWait has its timeout counted from its start. Each costs a write, which short
// waits save.
constexpr Duration kLongWait = std::chrono::seconds(1);
constexpr Duration kNoticedWait = std::chrono::milliseconds(50);

// Extra room for a claim while limits hold runs back. Most of the extra runs are given back;
// without them each few runs would cost a transaction.
constexpr std::size_t kHeldBackRoom = 64;

// How long news of a running attempt wait for a renewal to go with: each costs a write.
constexpr Duration kNewsWait = std::chrono::seconds(1);

// Translates kCancelled into the event of the reason for which the attempt was asked to stop.
model::Event AsStopped(model::Event event, StopReason reason) {
    if (event.kind != model::EventKind::kCancelled) return event;
    if (reason == StopReason::kTimeout) {
        event.kind = model::EventKind::kTimeout;
        event.error = "stopped after its time was over";
    }
    if (reason == StopReason::kShutdown) event.kind = model::EventKind::kShutdown;
    return event;
}

// Returns the event that gives a run back before it began.
model::Event GivenBackEvent(const LimitQueue::GivenBack& away) {
    model::Event event;
    event.kind = model::EventKind::kSnooze;
    event.not_begun = true;
    event.after = away.after;
    event.detail = codec::WaitCauseToDetail(away.cause);
    return event;
}

// The lease expired while the attempt waited (the process was suspended), so another node may own
// the run.
model::Event LeaseRanOut() {
    model::Event event;
    event.kind = model::EventKind::kShutdown;
    event.error = "its lease ran out before it was started";
    return event;
}

Duration Until(SteadyPoint when, SteadyPoint now) {
    return std::chrono::ceil<Duration>(std::max(when - now, SteadyPoint::duration::zero()));
}

}  // namespace

void ActiveAttempts::SetPrefetch(std::size_t claimed, std::size_t planned) {
    const MutexLock lock(mutex_);
    claim_prefetch_ = claimed;
    plan_prefetch_ = planned;
}

std::size_t ActiveAttempts::Reserve(std::size_t most) {
    const MutexLock lock(mutex_);
    const std::size_t may_wait = claims_wait_ ? 0 : plan_prefetch_;
    return Keep(std::min(most, Room(may_wait, ended_.size())));
}

std::size_t ActiveAttempts::ReserveForClaim(std::size_t most) {
    const MutexLock lock(mutex_);
    return Keep(std::min(most, (RoomForClaim() + 1) / 2));
}

bool ActiveAttempts::HasRoomForClaim() {
    const MutexLock lock(mutex_);
    const std::size_t room = RoomForClaim();
    if (room == 0) wanted_ = true;
    return room > claim_prefetch_ / 2;
}

void ActiveAttempts::SetClaimsWait(bool wait) {
    const MutexLock lock(mutex_);
    claims_wait_ = wait;
}

bool ActiveAttempts::claims_wait() const {
    const MutexLock lock(mutex_);
    return claims_wait_;
}

// Ended attempts do not count: they are reported in the claim's own transaction.
std::size_t ActiveAttempts::RoomForClaim() const {
    const bool held_back = !limit_queue_.empty() || (gave_back_ && limit_queue_.active());
    return Room(claim_prefetch_ + (held_back ? kHeldBackRoom : 0), 0);
}

std::size_t ActiveAttempts::Room(std::size_t may_wait, std::size_t ended) const {
    // An attempt that waits for a limit does not keep others from a slot.
    const std::size_t used = attempts_.size() - limit_queue_.size() + ended + reserved_;
    const std::size_t most = slots_ + may_wait;
    return closed_ || used >= most ? 0 : most - used;
}

std::size_t ActiveAttempts::Keep(std::size_t given) {
    if (given == 0) wanted_ = true;
    reserved_ += given;
    return given;
}

void ActiveAttempts::GiveBack(std::size_t slots) {
    if (slots == 0) return;
    bool tell = false;
    {
        const MutexLock lock(mutex_);
        reserved_ -= std::min(reserved_, slots);
        tell = std::exchange(wanted_, false);
    }
    if (tell) signals_.ended();
}

void ActiveAttempts::Add(AttemptPointer attempt) {
    const MutexLock lock(mutex_);
    AddLocked(std::move(attempt));
}

void ActiveAttempts::AddReady(AttemptPointer attempt, SteadyPoint due) {
    attempt->due = due;
    const MutexLock lock(mutex_);
    ready_.emplace(due, attempt);
    AddLocked(std::move(attempt));
}

void ActiveAttempts::AddLocked(AttemptPointer attempt) {
    const SteadyPoint now = clock_.SteadyNow();
    attempt->leased_at = now;
    attempt->renew_at = now + lease_ / 3;
    attempt->overdue_at = kNever;
    reserved_ -= std::min<std::size_t>(reserved_, 1);
    next_check_at_ = std::min(next_check_at_, attempt->renew_at);
    const std::string_view exec_id = attempt->run.status.exec_id;
    attempts_.emplace(exec_id, std::move(attempt));
}

void ActiveAttempts::MakeReady(ActiveAttempt& attempt, std::shared_ptr<const model::Job> job,
                               std::shared_ptr<const CallbackCall> callback, SteadyPoint due) {
    const MutexLock lock(mutex_);
    if (attempt.ended) return;
    attempt.job = std::move(job);
    attempt.callback = std::move(callback);
    attempt.due = due;
    ready_.emplace(due, attempts_.at(attempt.run.status.exec_id));
}

std::vector<AttemptPointer> ActiveAttempts::TakeDue(SteadyPoint now) {
    std::vector<AttemptPointer> taken;
    bool tell = false;
    {
        const MutexLock lock(mutex_);
        if (limit_queue_.active()) {
            const std::size_t ended = ended_.size();
            TakeLimited(now, taken);
            tell = ended_.size() > ended || next_check_at_ <= now;
        }
        while (!limit_queue_.active() && CanStart(now)) {
            AttemptPointer attempt = std::move(ready_.extract(ready_.begin()).mapped());
            if (attempt->ended) continue;  // stopped while it waited
            Begin(*attempt, now);
            taken.push_back(std::move(attempt));
        }
    }
    if (tell) signals_.ended();
    return taken;
}

void ActiveAttempts::Begin(ActiveAttempt& attempt, SteadyPoint now) {
    attempt.begun = true;
    attempt.started_at = now;
    attempt.overdue_at = now + attempt.run.policy.timeout + kOverdueSlack;
    next_check_at_ = std::min(next_check_at_, attempt.overdue_at);
    ++under_way_;
}

void ActiveAttempts::TakeLimited(SteadyPoint now, std::vector<AttemptPointer>& taken) {
    if (closed_ || under_way_ >= slots_) return;
    LimitQueue::AdmissionResult admission;
    admission.room = slots_ - under_way_;
    limit_queue_.Advance(now, admission);
    while (admission.room > 0 && !ready_.empty() && ready_.begin()->first <= now &&
           !limit_queue_.shut(now)) {
        const AttemptPointer attempt = std::move(ready_.extract(ready_.begin()).mapped());
        if (attempt->ended) continue;
        limit_queue_.Enter(attempt, now, admission);
        NoteWaiting(*attempt, now);
    }
    for (LimitQueue::Admitted& admitted : admission.admitted) {
        BeginAdmitted(std::move(admitted), now, taken);
    }
    gave_back_ = !admission.given_back.empty();
    for (const LimitQueue::GivenBack& away : admission.given_back) {
        away.attempt->held_back = away.cause;
        EndLocked(*away.attempt, GivenBackEvent(away), now);
    }
}

// The timeout of an attempt counts from its start; the next renewal corrects the stored deadline.
void ActiveAttempts::BeginAdmitted(LimitQueue::Admitted admitted, SteadyPoint now,
                                   std::vector<AttemptPointer>& taken) {
    ActiveAttempt& attempt = *admitted.attempt;
    if (attempt.ended) return limits_.GiveBack(admitted.ticket, now);
    attempt.ticket = std::move(admitted.ticket);
    if (admitted.waited && now >= attempt.leased_at + lease_) {
        return EndLocked(attempt, LeaseRanOut(), now);
    }
    const auto waited = std::chrono::duration_cast<Duration>(now - attempt.due);
    Begin(attempt, now);
    if (admitted.waited && attempt.run.status.deadline) *attempt.run.status.deadline += waited;
    if (admitted.waited && waited > kNoticedWait && attempt.renew_at != kNever) {
        attempt.has_waited = true;
        attempt.renew_at = now;
        next_check_at_ = now;
    }
    taken.push_back(std::move(admitted.attempt));
}

// Renews the lease early enough for the deadline that was stored with the claim.
void ActiveAttempts::NoteWaiting(ActiveAttempt& attempt, SteadyPoint now) {
    if (attempt.renew_at == kNever || !limit_queue_.CauseOf(attempt)) return;
    attempt.renew_at =
        std::min(attempt.renew_at, now + std::min(kLongWait, attempt.run.policy.timeout / 2));
    next_check_at_ = std::min(next_check_at_, attempt.renew_at);
}

bool ActiveAttempts::CanStart(SteadyPoint now) const {
    return !closed_ && under_way_ < slots_ && !ready_.empty() && ready_.begin()->first <= now;
}

std::optional<Duration> ActiveAttempts::UntilDue(SteadyPoint now) const {
    const MutexLock lock(mutex_);
    if (closed_ || under_way_ >= slots_) return std::nullopt;
    SteadyPoint next = ready_.empty() ? kNever : ready_.begin()->first;
    if (limit_queue_.active())
        next = std::max(std::min(next, limit_queue_.NextAt()), limits_.NodeFreeAt());
    if (next == kNever) return std::nullopt;
    return Until(next, now);
}

void ActiveAttempts::End(ActiveAttempt& attempt, model::Event event) {
    const SteadyPoint now = clock_.SteadyNow();
    bool tell = false;
    bool due = false;
    {
        const MutexLock lock(mutex_);
        if (attempt.ended) return;
        EndLocked(attempt, std::move(event), now);
        tell = ended_.size() >= tell_;
        // Starters of other dispatchers are signaled too: they share the limits.
        due = CanStart(now) || (!closed_ && limit_queue_.active());
    }
    if (due) signals_.due();
    if (tell) signals_.ended();
}

void ActiveAttempts::EndLocked(ActiveAttempt& attempt, model::Event event, SteadyPoint now) {
    if (attempt.begun) --under_way_;
    if (!limit_queue_.empty()) limit_queue_.Remove(attempt);
    if (limits_.active() || event.target > model::TargetHealth::kAnswered) {
        ReleaseLimits(attempt, event, now);
    }
    attempt.event = AsStopped(std::move(event), attempt.stop);
    attempt.event.exec_id = attempt.run.status.exec_id;
    attempt.ended_at = now;
    attempt.ended = true;
    ended_.push_back(std::move(attempts_.extract(attempt.run.status.exec_id).mapped()));
}

// Frees the attempt's limits and tells the breaker what the attempt learned about its destination.
// If the attempt was the probe of an open breaker and the destination is still down, that is no
// failure of the run: the event becomes a snooze.
void ActiveAttempts::ReleaseLimits(ActiveAttempt& attempt, model::Event& event, SteadyPoint now) {
    limits_.GiveBack(attempt.ticket, now);
    const LimitTracker::Ticket ticket = std::exchange(attempt.ticket, {});
    if (!ticket.probes() && event.target == model::TargetHealth::kNone) return;
    const auto next_probe = limits_.Tell({.subject = SubjectOf(attempt),
                                          .sign = event.target,
                                          .began = attempt.started_at,
                                          .probe = ticket.probe,
                                          .path_probe = ticket.path_probe,
                                          .retry_after = event.after},
                                         now);
    const bool failed = event.kind == model::EventKind::kRetryableFailure ||
                        event.kind == model::EventKind::kTimeout;
    if (!next_probe || !failed) return;
    event.kind = model::EventKind::kSnooze;
    event.after = next_probe;
}

std::vector<AttemptPointer> ActiveAttempts::TakeEnded() {
    const MutexLock lock(mutex_);
    for (const AttemptPointer& attempt : ended_) {
        // The end of an attempt says nothing of progress, only its log matters.
        Append(attempt->telling, std::exchange(attempt->news, {}));
        if (attempt->telling.log.empty()) continue;
        Append(attempt->telling, {.log = std::move(attempt->event.log)});
        attempt->event.log = std::exchange(attempt->telling, {}).log;
    }
    return std::exchange(ended_, {});
}

std::size_t ActiveAttempts::CountEnded(std::size_t tell) {
    const MutexLock lock(mutex_);
    tell_ = tell;
    return ended_.size();
}

void ActiveAttempts::PutBack(std::vector<AttemptPointer> ended) {
    const MutexLock lock(mutex_);
    ended_.insert(ended_.begin(), std::make_move_iterator(ended.begin()),
                  std::make_move_iterator(ended.end()));
}

std::vector<ActiveAttempts::Renewal> ActiveAttempts::Renewals(SteadyPoint now, bool all) {
    std::vector<Renewal> renewals;
    const MutexLock lock(mutex_);
    if (!all && now < next_check_at_) return renewals;
    for (const auto& [exec_id, attempt] : attempts_) {
        if (attempt->renew_at == kNever || (!all && attempt->renew_at > now)) continue;
        model::Event event;
        event.kind = model::EventKind::kProgress;
        event.exec_id = exec_id;
        event.lease = lease_;
        if (attempt->has_waited) event.not_begun = attempt->told_begun = true;
        if (const auto cause = attempt->begun ? std::nullopt : limit_queue_.CauseOf(*attempt)) {
            event.not_begun = true;
            event.detail = codec::WaitCauseToDetail(*cause);
        }
        Append(attempt->telling, std::exchange(attempt->news, {}));
        PutInto(event, attempt->telling);
        renewals.push_back({.attempt = attempt, .event = std::move(event)});
    }
    return renewals;
}

void ActiveAttempts::Tell(ActiveAttempt& attempt, AttemptNews news) {
    const SteadyPoint latest = clock_.SteadyNow() + kNewsWait;
    {
        const MutexLock lock(mutex_);
        if (attempt.ended) return;
        Append(attempt.news, std::move(news));
        if (attempt.renew_at == kNever || attempt.renew_at <= latest) return;
        attempt.renew_at = latest;
        if (next_check_at_ <= latest) return;
        next_check_at_ = latest;
    }
    signals_.ended();
}

void ActiveAttempts::NoteRenewed(ActiveAttempt& attempt, SteadyPoint asked_at) {
    const MutexLock lock(mutex_);
    attempt.telling = {};
    if (attempt.ended) return;
    const Duration next = lease_ / 3;
    attempt.renew_at = asked_at + (attempt.news.empty() ? next : std::min(next, kNewsWait));
    attempt.leased_at = asked_at;
    if (std::exchange(attempt.told_begun, false)) {
        attempt.has_waited = false;
    } else if (attempt.has_waited) {  // it began while the renewal was in flight
        attempt.renew_at = asked_at;
    }
    next_check_at_ = std::min(next_check_at_, attempt.renew_at);
}

void ActiveAttempts::NoteLost(ActiveAttempt& attempt) {
    const MutexLock lock(mutex_);
    attempt.renew_at = kNever;
}

std::optional<StopReason> ActiveAttempts::StopOf(const ActiveAttempt& attempt) const {
    const MutexLock lock(mutex_);
    return attempt.ended ? std::nullopt : std::optional(attempt.stop);
}

ActiveAttempts::Stopping ActiveAttempts::Stop(ActiveAttempt& attempt, StopReason reason) {
    const MutexLock lock(mutex_);
    if (attempt.ended || attempt.stop != StopReason::kNone) return Stopping::kNot;
    attempt.stop = reason;
    ++stops_;
    return attempt.begun ? Stopping::kUnderWay : Stopping::kWaits;
}

std::vector<AttemptPointer> ActiveAttempts::Overdue(SteadyPoint now) {
    std::vector<AttemptPointer> overdue;
    const MutexLock lock(mutex_);
    if (now < next_check_at_) return overdue;
    for (const auto& [exec_id, attempt] : attempts_) {
        if (attempt->stop == StopReason::kNone && attempt->overdue_at <= now) {
            overdue.push_back(attempt);
        }
    }
    return overdue;
}

std::vector<AttemptPointer> ActiveAttempts::All() const {
    std::vector<AttemptPointer> all;
    const MutexLock lock(mutex_);
    for (const auto& [exec_id, attempt] : attempts_) all.push_back(attempt);
    return all;
}

std::vector<AttemptPointer> ActiveAttempts::Waiting() const {
    std::vector<AttemptPointer> waiting;
    const MutexLock lock(mutex_);
    for (const auto& [exec_id, attempt] : attempts_) {
        if (!attempt->begun) waiting.push_back(attempt);
    }
    return waiting;
}

void ActiveAttempts::LimitsChanged() {
    const SteadyPoint now = clock_.SteadyNow();
    {
        const MutexLock lock(mutex_);
        for (const auto& [exec_id, attempt] : attempts_) {
            if (!attempt->begun) continue;
            limits_.Join(attempt->ticket, SubjectOf(*attempt), now);
        }
        for (AttemptPointer& attempt : limit_queue_.TakeAll()) {
            const SteadyPoint due = attempt->due;
            ready_.emplace(due, std::move(attempt));
        }
    }
    signals_.due();
}

std::map<std::string, std::size_t> ActiveAttempts::WaitingForLimits() const {
    const MutexLock lock(mutex_);
    return limit_queue_.Lengths();
}

GroupUse ActiveAttempts::UseOfGroup(const std::string& group) const {
    GroupUse use;
    const MutexLock lock(mutex_);
    for (const auto& [exec_id, attempt] : attempts_) {
        if (!attempt->job || attempt->job->group != group) continue;
        ++(attempt->begun ? use.under_way : use.waiting);
    }
    return use;
}

// Recomputes next_check_at_ only after it has passed: the attempt that it belonged to may have
// ended.
std::optional<Duration> ActiveAttempts::UntilNextCheck(SteadyPoint now) {
    const MutexLock lock(mutex_);
    if (next_check_at_ <= now) {
        next_check_at_ = kNever;
        for (const auto& [exec_id, attempt] : attempts_) {
            next_check_at_ = std::min(next_check_at_, attempt->renew_at);
            if (attempt->stop == StopReason::kNone) {
                next_check_at_ = std::min(next_check_at_, attempt->overdue_at);
            }
        }
    }
    if (next_check_at_ == kNever) return std::nullopt;
    return Until(next_check_at_, now);
}

void ActiveAttempts::Close() {
    const MutexLock lock(mutex_);
    closed_ = true;
}

void ActiveAttempts::Open() {
    const MutexLock lock(mutex_);
    closed_ = false;
}

bool ActiveAttempts::closed() const {
    const MutexLock lock(mutex_);
    return closed_;
}

std::size_t ActiveAttempts::UnderWay() const {
    const MutexLock lock(mutex_);
    return attempts_.size() - limit_queue_.size();
}

bool ActiveAttempts::Idle() const {
    const MutexLock lock(mutex_);
    return attempts_.empty() && ended_.empty() && reserved_ == 0;
}

}  // namespace ksana::engine
