#include "ksana/engine/dispatch/active_attempts.hpp"

#include <algorithm>
#include <iterator>

#include "ksana/codec/records/wait_cause_codec.hpp"

namespace ksana::engine {
namespace {

// An executor keeps the time by itself; this long after it, it is reminded.
constexpr Duration kOverdueSlack = std::chrono::milliseconds(500);

constexpr SteadyPoint kNever = SteadyPoint::max();

// Who waits longer than this for a limit is stored as waiting, and who has waited longer than this
// has its time counted from its start: a write each, which short waits are spared.
constexpr Duration kLongWait = std::chrono::seconds(1);
constexpr Duration kNoticedWait = std::chrono::milliseconds(50);

// While limits hold runs back, so many more are claimed at once: most of them are given back, and
// else each few would take a transaction.
constexpr std::size_t kHeldBackRoom = 64;

// What a report is, seen from why the attempt was asked to stop.
model::Event AsStopped(model::Event event, StopReason reason) {
    if (event.kind != model::EventKind::kCancelled) return event;
    if (reason == StopReason::kTimeout) {
        event.kind = model::EventKind::kTimeout;
        event.error = "stopped after its time was over";
    }
    if (reason == StopReason::kShutdown) event.kind = model::EventKind::kShutdown;
    return event;
}

// Given back without having begun.
model::Event SentAwayEvent(const LimitQueue::SentAway& away) {
    model::Event event;
    event.kind = model::EventKind::kSnooze;
    event.not_begun = true;
    event.after = away.after;
    event.detail = codec::WaitCauseToDetail(away.cause);
    return event;
}

// The lease ran out while it waited (the process was stopped): it may be somebody else's by now.
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

void ActiveAttempts::LetWait(std::size_t claimed, std::size_t planned) {
    const std::lock_guard lock(mutex_);
    claimed_may_wait_ = claimed;
    planned_may_wait_ = planned;
}

std::size_t ActiveAttempts::Reserve(std::size_t most) {
    const std::lock_guard lock(mutex_);
    const std::size_t may_wait = claims_wait_ ? 0 : planned_may_wait_;
    return Keep(std::min(most, Room(may_wait, landed_.size())));
}

std::size_t ActiveAttempts::ReserveForClaim(std::size_t most) {
    const std::lock_guard lock(mutex_);
    return Keep(std::min(most, (RoomForClaim() + 1) / 2));
}

bool ActiveAttempts::HasRoomForClaim() {
    const std::lock_guard lock(mutex_);
    const std::size_t room = RoomForClaim();
    if (room == 0) wanted_ = true;
    return room > claimed_may_wait_ / 2;
}

void ActiveAttempts::ClaimsWait(bool wait) {
    const std::lock_guard lock(mutex_);
    claims_wait_ = wait;
}

bool ActiveAttempts::claims_wait() const {
    const std::lock_guard lock(mutex_);
    return claims_wait_;
}

// What has landed is reported in the claim's own transaction.
std::size_t ActiveAttempts::RoomForClaim() const {
    const bool held_back = !limit_queue_.empty() || (sent_away_ && limit_queue_.active());
    return Room(claimed_may_wait_ + (held_back ? kHeldBackRoom : 0), 0);
}

std::size_t ActiveAttempts::Room(std::size_t may_wait, std::size_t landed) const {
    // Who waits for a limit keeps nobody else from a slot.
    const std::size_t used = flights_.size() - limit_queue_.size() + landed + reserved_;
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
        const std::lock_guard lock(mutex_);
        reserved_ -= std::min(reserved_, slots);
        tell = std::exchange(wanted_, false);
    }
    if (tell) news_.landed();
}

void ActiveAttempts::Take(const model::Run& run) {
    auto flight = NewFlight(run);
    const std::lock_guard lock(mutex_);
    Add(std::move(flight));
}

void ActiveAttempts::TakeToDepart(std::unique_ptr<Task> task, SteadyPoint due) {
    auto flight = NewFlight(task->run);
    flight->job = task->job;
    flight->callback = task->callback;
    const std::lock_guard lock(mutex_);
    Add(std::move(flight));
    departures_.emplace(due, std::move(task));
}

std::unique_ptr<ActiveAttempt> ActiveAttempts::NewFlight(const model::Run& run) const {
    const SteadyPoint now = clock_.SteadyNow();
    auto flight = std::make_unique<ActiveAttempt>();
    flight->run = run;
    flight->leased_at = now;
    flight->renew_at = now + lease_ / 3;
    flight->overdue_at = kNever;
    return flight;
}

void ActiveAttempts::Add(std::unique_ptr<ActiveAttempt> flight) {
    reserved_ -= std::min<std::size_t>(reserved_, 1);
    attention_ = std::min(attention_, flight->renew_at);
    const std::string& exec_id = flight->run.status.exec_id;
    flights_.emplace(exec_id, std::move(flight));
}

void ActiveAttempts::Depart(std::unique_ptr<Task> task, SteadyPoint due) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(task->run.status.exec_id);
    if (found == flights_.end()) return;
    found->second->job = task->job;
    found->second->callback = task->callback;
    departures_.emplace(due, std::move(task));
}

std::vector<Departure> ActiveAttempts::TakeDue(SteadyPoint now) {
    std::vector<Departure> taken;
    bool tell = false;
    {
        const std::lock_guard lock(mutex_);
        if (limit_queue_.active()) {
            const std::size_t landed = landed_.size();
            TakeLimited(now, taken);
            tell = landed_.size() > landed || attention_ <= now;
        }
        while (!limit_queue_.active() && CanDepart(now)) {
            auto node = departures_.extract(departures_.begin());
            const auto found = flights_.find(node.mapped()->run.status.exec_id);
            if (found == flights_.end()) continue;  // stopped while it waited
            Begin(*found->second, now);
            taken.push_back({.task = std::move(node.mapped()), .due = node.key()});
        }
    }
    if (tell) news_.landed();
    return taken;
}

void ActiveAttempts::Begin(ActiveAttempt& flight, SteadyPoint now) {
    flight.begun = true;
    flight.started_at = now;
    flight.overdue_at = now + flight.run.policy.timeout + kOverdueSlack;
    attention_ = std::min(attention_, flight.overdue_at);
    ++under_way_;
}

void ActiveAttempts::TakeLimited(SteadyPoint now, std::vector<Departure>& taken) {
    if (closed_ || under_way_ >= slots_) return;
    LimitQueue::Passage passage;
    passage.room = slots_ - under_way_;
    limit_queue_.Advance(now, passage);
    while (passage.room > 0 && !departures_.empty() && departures_.begin()->first <= now &&
           !limit_queue_.shut(now)) {
        auto node = departures_.extract(departures_.begin());
        const std::string exec_id = node.mapped()->run.status.exec_id;
        if (!flights_.contains(exec_id)) continue;
        limit_queue_.Enter({.task = std::move(node.mapped()), .due = node.key()}, now, passage);
        NoteWaiting(exec_id, now);
    }
    for (LimitQueue::Admitted& admitted : passage.admitted) {
        BeginAdmitted(std::move(admitted), now, taken);
    }
    sent_away_ = !passage.sent_away.empty();
    for (const LimitQueue::SentAway& away : passage.sent_away) {
        LandHeld(away.exec_id, SentAwayEvent(away), now);
    }
}

// The time that an attempt has begins with it. What is stored about it is set right by a renewal.
void ActiveAttempts::BeginAdmitted(LimitQueue::Admitted admitted, SteadyPoint now,
                                   std::vector<Departure>& taken) {
    Task& task = *admitted.departure.task;
    const auto found = flights_.find(task.run.status.exec_id);
    if (found == flights_.end()) return limits_.GiveBack(admitted.ticket, now);
    ActiveAttempt& flight = *found->second;
    flight.ticket = std::move(admitted.ticket);
    if (admitted.waited && now >= flight.leased_at + lease_) {
        return LandHeld(task.run.status.exec_id, LeaseRanOut(), now);
    }
    const auto waited = std::chrono::duration_cast<Duration>(now - admitted.departure.due);
    Begin(flight, now);
    if (admitted.waited && task.run.status.deadline) *task.run.status.deadline += waited;
    if (admitted.waited && waited > kNoticedWait && flight.renew_at != kNever) {
        flight.has_waited = true;
        flight.renew_at = now;
        attention_ = now;
    }
    taken.push_back(std::move(admitted.departure));
}

// Soon enough for the deadline that was stored when it was claimed.
void ActiveAttempts::NoteWaiting(const std::string& exec_id, SteadyPoint now) {
    if (!limit_queue_.CauseOf(exec_id)) return;
    ActiveAttempt& flight = *flights_.at(exec_id);
    if (flight.renew_at == kNever) return;
    flight.renew_at =
        std::min(flight.renew_at, now + std::min(kLongWait, flight.run.policy.timeout / 2));
    attention_ = std::min(attention_, flight.renew_at);
}

bool ActiveAttempts::CanDepart(SteadyPoint now) const {
    return !closed_ && under_way_ < slots_ && !departures_.empty() &&
           departures_.begin()->first <= now;
}

std::optional<Duration> ActiveAttempts::UntilDeparture(SteadyPoint now) const {
    const std::lock_guard lock(mutex_);
    if (closed_ || under_way_ >= slots_) return std::nullopt;
    SteadyPoint next = departures_.empty() ? kNever : departures_.begin()->first;
    if (limit_queue_.active())
        next = std::max(std::min(next, limit_queue_.NextAt()), limits_.NodeFreeAt());
    if (next == kNever) return std::nullopt;
    return Until(next, now);
}

void ActiveAttempts::Land(const std::string& exec_id, model::Event event) {
    const SteadyPoint now = clock_.SteadyNow();
    bool tell = false;
    bool departs = false;
    {
        const std::lock_guard lock(mutex_);
        const std::size_t landed = landed_.size();
        LandHeld(exec_id, std::move(event), now);
        if (landed_.size() == landed) return;
        tell = landed_.size() >= tell_;
        // Also for what waits at other dispatchers: they share the limits.
        departs = CanDepart(now) || (!closed_ && limit_queue_.active());
    }
    if (departs) news_.departs();
    if (tell) news_.landed();
}

void ActiveAttempts::LandHeld(const std::string& exec_id, model::Event event, SteadyPoint now) {
    auto node = flights_.extract(exec_id);
    if (node.empty()) return;
    ActiveAttempt& flight = *node.mapped();
    if (flight.begun) --under_way_;
    if (!limit_queue_.empty()) limit_queue_.Remove(exec_id);
    if (limits_.active() || event.target == model::TargetHealth::kDown) GiveUp(flight, event, now);
    event = AsStopped(std::move(event), flight.stop);
    event.exec_id = exec_id;
    landed_.push_back({.flight = std::move(node.mapped()), .event = std::move(event), .at = now});
}

// What it held of limits, and what it tells about its destination. That a destination which is
// known to be down is still down is no failure of the run that was sent to see.
void ActiveAttempts::GiveUp(ActiveAttempt& flight, model::Event& event, SteadyPoint now) {
    limits_.GiveBack(flight.ticket, now);
    const bool probe = std::exchange(flight.ticket, {}).probe;
    if (!probe && event.target == model::TargetHealth::kNone) return;
    const auto next_probe = limits_.Tell({.host = SubjectOf(flight).host,
                                          .sign = event.target,
                                          .began = flight.started_at,
                                          .probe = probe,
                                          .retry_after = event.after},
                                         now);
    const bool failed = event.kind == model::EventKind::kRetryableFailure ||
                        event.kind == model::EventKind::kTimeout;
    if (!next_probe || !failed) return;
    event.kind = model::EventKind::kSnooze;
    event.after = next_probe;
}

std::vector<Landing> ActiveAttempts::TakeLanded() {
    const std::lock_guard lock(mutex_);
    return std::exchange(landed_, {});
}

std::size_t ActiveAttempts::Landed(std::size_t tell) {
    const std::lock_guard lock(mutex_);
    tell_ = tell;
    return landed_.size();
}

void ActiveAttempts::PutBack(std::vector<Landing> landings) {
    const std::lock_guard lock(mutex_);
    landed_.insert(landed_.begin(), std::make_move_iterator(landings.begin()),
                   std::make_move_iterator(landings.end()));
}

std::vector<store::RunEvent> ActiveAttempts::Renewals(SteadyPoint now, bool all) {
    std::vector<store::RunEvent> events;
    const std::lock_guard lock(mutex_);
    if (!all && now < attention_) return events;
    for (const auto& [exec_id, flight] : flights_) {
        if (flight->renew_at == kNever || (!all && flight->renew_at > now)) continue;
        model::Event event;
        event.kind = model::EventKind::kProgress;
        event.exec_id = exec_id;
        event.lease = lease_;
        if (flight->has_waited) event.not_begun = flight->told_begun = true;
        if (const auto cause = flight->begun ? std::nullopt : limit_queue_.CauseOf(exec_id)) {
            event.not_begun = true;
            event.detail = codec::WaitCauseToDetail(*cause);
        }
        events.push_back({.run_id = flight->run.id, .event = std::move(event)});
    }
    return events;
}

void ActiveAttempts::Renewed(const std::string& exec_id, SteadyPoint asked_at) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(exec_id);
    if (found == flights_.end()) return;
    ActiveAttempt& flight = *found->second;
    flight.renew_at = asked_at + lease_ / 3;
    flight.leased_at = asked_at;
    if (std::exchange(flight.told_begun, false)) {
        flight.has_waited = false;
    } else if (flight.has_waited) {  // began while the renewal was under way
        flight.renew_at = asked_at;
    }
    attention_ = std::min(attention_, flight.renew_at);
}

void ActiveAttempts::Lost(const std::string& exec_id) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(exec_id);
    if (found != flights_.end()) found->second->renew_at = kNever;
}

std::optional<StopReason> ActiveAttempts::StopOf(const std::string& exec_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(exec_id);
    return found == flights_.end() ? std::nullopt : std::optional(found->second->stop);
}

ActiveAttempts::Stopping ActiveAttempts::Stop(const std::string& exec_id, StopReason reason) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(exec_id);
    if (found == flights_.end() || found->second->stop != StopReason::kNone) return Stopping::kNot;
    found->second->stop = reason;
    ++stops_;
    return found->second->begun ? Stopping::kUnderWay : Stopping::kWaits;
}

std::vector<std::string> ActiveAttempts::Overdue(SteadyPoint now) {
    std::vector<std::string> overdue;
    const std::lock_guard lock(mutex_);
    if (now < attention_) return overdue;
    for (const auto& [exec_id, flight] : flights_) {
        if (flight->stop == StopReason::kNone && flight->overdue_at <= now)
            overdue.push_back(exec_id);
    }
    return overdue;
}

std::vector<std::string> ActiveAttempts::All() const {
    std::vector<std::string> all;
    const std::lock_guard lock(mutex_);
    for (const auto& [exec_id, flight] : flights_) all.push_back(exec_id);
    return all;
}

std::vector<std::string> ActiveAttempts::Waiting() const {
    std::vector<std::string> waiting;
    const std::lock_guard lock(mutex_);
    for (const auto& [exec_id, flight] : flights_) {
        if (!flight->begun) waiting.push_back(exec_id);
    }
    return waiting;
}

void ActiveAttempts::LimitsChanged() {
    const SteadyPoint now = clock_.SteadyNow();
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [exec_id, flight] : flights_) {
            if (!flight->begun) continue;
            limits_.Join(flight->ticket, SubjectOf(*flight), now);
        }
        for (Departure& departure : limit_queue_.TakeAll()) {
            departures_.emplace(departure.due, std::move(departure.task));
        }
    }
    news_.departs();
}

std::map<std::string, std::size_t> ActiveAttempts::WaitingForLimits() const {
    const std::lock_guard lock(mutex_);
    return limit_queue_.Lengths();
}

ActiveAttempts::GroupUse ActiveAttempts::UseOfGroup(const std::string& group) const {
    GroupUse use;
    const std::lock_guard lock(mutex_);
    for (const auto& [exec_id, flight] : flights_) {
        if (!flight->job || flight->job->group != group) continue;
        ++(flight->begun ? use.under_way : use.waiting);
    }
    return use;
}

// Looked for only when the earliest that was known has passed: it may have landed since.
std::optional<Duration> ActiveAttempts::UntilAttention(SteadyPoint now) {
    const std::lock_guard lock(mutex_);
    if (attention_ <= now) {
        attention_ = kNever;
        for (const auto& [exec_id, flight] : flights_) {
            attention_ = std::min(attention_, flight->renew_at);
            if (flight->stop == StopReason::kNone) {
                attention_ = std::min(attention_, flight->overdue_at);
            }
        }
    }
    if (attention_ == kNever) return std::nullopt;
    return Until(attention_, now);
}

void ActiveAttempts::Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
}

void ActiveAttempts::Open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
}

bool ActiveAttempts::closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

std::size_t ActiveAttempts::UnderWay() const {
    const std::lock_guard lock(mutex_);
    return flights_.size() - limit_queue_.size();
}

bool ActiveAttempts::Idle() const {
    const std::lock_guard lock(mutex_);
    return flights_.empty() && landed_.empty() && reserved_ == 0;
}

}  // namespace ksana::engine
