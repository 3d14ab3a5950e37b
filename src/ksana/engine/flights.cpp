#include "ksana/engine/flights.hpp"

#include <algorithm>
#include <iterator>

namespace ksana::engine {
namespace {

// An executor keeps the time by itself; this long after it, it is reminded.
constexpr Duration kOverdueSlack = std::chrono::milliseconds(500);

constexpr SteadyPoint kNever = SteadyPoint::max();

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

Duration Until(SteadyPoint when, SteadyPoint now) {
    return std::chrono::ceil<Duration>(std::max(when - now, SteadyPoint::duration::zero()));
}

}  // namespace

void Flights::LetWait(std::size_t claimed, std::size_t planned) {
    const std::lock_guard lock(mutex_);
    claimed_may_wait_ = claimed;
    planned_may_wait_ = planned;
}

std::size_t Flights::Reserve(std::size_t most) {
    const std::lock_guard lock(mutex_);
    const std::size_t may_wait = claims_wait_ ? 0 : planned_may_wait_;
    return Keep(std::min(most, Room(may_wait, landed_.size())));
}

std::size_t Flights::ReserveForClaim(std::size_t most) {
    const std::lock_guard lock(mutex_);
    return Keep(std::min(most, (RoomForClaim() + 1) / 2));
}

bool Flights::HasRoomForClaim() const {
    const std::lock_guard lock(mutex_);
    return RoomForClaim() > claimed_may_wait_ / 2;
}

void Flights::ClaimsWait(bool wait) {
    const std::lock_guard lock(mutex_);
    claims_wait_ = wait;
}

// What has landed is reported in the claim's own transaction.
std::size_t Flights::RoomForClaim() const { return Room(claimed_may_wait_, 0); }

std::size_t Flights::Room(std::size_t may_wait, std::size_t landed) const {
    const std::size_t used = flights_.size() + landed + reserved_;
    const std::size_t most = slots_ + may_wait;
    return closed_ || used >= most ? 0 : most - used;
}

std::size_t Flights::Keep(std::size_t given) {
    if (given == 0) wanted_ = true;
    reserved_ += given;
    return given;
}

void Flights::GiveBack(std::size_t slots) {
    if (slots == 0) return;
    bool tell = false;
    {
        const std::lock_guard lock(mutex_);
        reserved_ -= std::min(reserved_, slots);
        tell = std::exchange(wanted_, false);
    }
    if (tell) news_.landed();
}

void Flights::Take(const model::Run& run) {
    auto flight = std::make_unique<Flight>(Flight{.run = run,
                                                  .job_name = {},
                                                  .renew_at = clock_.SteadyNow() + lease_ / 3,
                                                  .overdue_at = kNever});
    const std::lock_guard lock(mutex_);
    reserved_ -= std::min<std::size_t>(reserved_, 1);
    attention_ = std::min(attention_, flight->renew_at);
    flights_.emplace(run.status.exec_id, std::move(flight));
}

void Flights::Depart(Task task, SteadyPoint due) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(task.run.status.exec_id);
    if (found == flights_.end()) return;
    if (task.job) found->second->job_name = task.job->name;
    departures_.emplace(due, std::move(task));
}

std::vector<Departure> Flights::TakeDue(SteadyPoint now) {
    std::vector<Departure> taken;
    const std::lock_guard lock(mutex_);
    while (CanDepart(now)) {
        auto node = departures_.extract(departures_.begin());
        const auto found = flights_.find(node.mapped().run.status.exec_id);
        if (found == flights_.end()) continue;  // stopped while it waited
        Flight& flight = *found->second;
        flight.begun = true;
        flight.started_at = now;
        flight.overdue_at = now + flight.run.policy.timeout + kOverdueSlack;
        attention_ = std::min(attention_, flight.overdue_at);
        ++under_way_;
        taken.push_back({.task = std::move(node.mapped()), .due = node.key()});
    }
    return taken;
}

bool Flights::CanDepart(SteadyPoint now) const {
    return !closed_ && under_way_ < slots_ && !departures_.empty() &&
           departures_.begin()->first <= now;
}

std::optional<Duration> Flights::UntilDeparture(SteadyPoint now) const {
    const std::lock_guard lock(mutex_);
    if (closed_ || under_way_ >= slots_ || departures_.empty()) return std::nullopt;
    return Until(departures_.begin()->first, now);
}

void Flights::Land(const std::string& exec_id, model::Event event) {
    const SteadyPoint now = clock_.SteadyNow();
    bool tell = false;
    bool departs = false;
    {
        const std::lock_guard lock(mutex_);
        auto node = flights_.extract(exec_id);
        if (node.empty()) return;
        if (node.mapped()->begun) --under_way_;
        event = AsStopped(std::move(event), node.mapped()->stop);
        event.exec_id = exec_id;
        landed_.push_back(
            {.flight = std::move(node.mapped()), .event = std::move(event), .at = now});
        tell = landed_.size() >= tell_;
        departs = CanDepart(now);
    }
    if (departs) news_.departs();
    if (tell) news_.landed();
}

std::vector<Landing> Flights::TakeLanded() {
    const std::lock_guard lock(mutex_);
    return std::exchange(landed_, {});
}

std::size_t Flights::Landed(std::size_t tell) {
    const std::lock_guard lock(mutex_);
    tell_ = tell;
    return landed_.size();
}

void Flights::PutBack(std::vector<Landing> landings) {
    const std::lock_guard lock(mutex_);
    landed_.insert(landed_.begin(), std::make_move_iterator(landings.begin()),
                   std::make_move_iterator(landings.end()));
}

std::vector<store::RunEvent> Flights::Renewals(SteadyPoint now, bool all) {
    std::vector<store::RunEvent> events;
    const std::lock_guard lock(mutex_);
    if (!all && now < attention_) return events;
    for (const auto& [exec_id, flight] : flights_) {
        if (flight->renew_at == kNever || (!all && flight->renew_at > now)) continue;
        model::Event event;
        event.kind = model::EventKind::kProgress;
        event.exec_id = exec_id;
        event.lease = lease_;
        events.push_back({.run_id = flight->run.id, .event = std::move(event)});
    }
    return events;
}

void Flights::Renewed(const std::string& exec_id, SteadyPoint asked_at) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(exec_id);
    if (found == flights_.end()) return;
    found->second->renew_at = asked_at + lease_ / 3;
    attention_ = std::min(attention_, found->second->renew_at);
}

void Flights::Lost(const std::string& exec_id) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(exec_id);
    if (found != flights_.end()) found->second->renew_at = kNever;
}

std::optional<StopReason> Flights::StopOf(const std::string& exec_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(exec_id);
    return found == flights_.end() ? std::nullopt : std::optional(found->second->stop);
}

Flights::Stopping Flights::Stop(const std::string& exec_id, StopReason reason) {
    const std::lock_guard lock(mutex_);
    const auto found = flights_.find(exec_id);
    if (found == flights_.end() || found->second->stop != StopReason::kNone) return Stopping::kNot;
    found->second->stop = reason;
    return found->second->begun ? Stopping::kUnderWay : Stopping::kWaits;
}

std::vector<std::string> Flights::Overdue(SteadyPoint now) {
    std::vector<std::string> overdue;
    const std::lock_guard lock(mutex_);
    if (now < attention_) return overdue;
    for (const auto& [exec_id, flight] : flights_) {
        if (flight->stop == StopReason::kNone && flight->overdue_at <= now)
            overdue.push_back(exec_id);
    }
    return overdue;
}

std::vector<std::string> Flights::All() const {
    std::vector<std::string> all;
    const std::lock_guard lock(mutex_);
    for (const auto& [exec_id, flight] : flights_) all.push_back(exec_id);
    return all;
}

std::vector<std::string> Flights::Waiting() const {
    std::vector<std::string> waiting;
    const std::lock_guard lock(mutex_);
    for (const auto& [exec_id, flight] : flights_) {
        if (!flight->begun) waiting.push_back(exec_id);
    }
    return waiting;
}

// Looked for only when the earliest that was known has passed: it may have landed since.
std::optional<Duration> Flights::UntilAttention(SteadyPoint now) {
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

void Flights::Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
}

void Flights::Open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
}

bool Flights::closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
}

std::size_t Flights::UnderWay() const {
    const std::lock_guard lock(mutex_);
    return flights_.size();
}

bool Flights::Idle() const {
    const std::lock_guard lock(mutex_);
    return flights_.empty() && landed_.empty() && reserved_ == 0;
}

}  // namespace ksana::engine
