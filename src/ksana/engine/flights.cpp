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

}  // namespace

std::size_t Flights::Reserve(std::size_t most) {
    const std::lock_guard lock(mutex_);
    return Take(std::min(most, Room()));
}

std::size_t Flights::ReserveHalf(std::size_t most) {
    const std::lock_guard lock(mutex_);
    return Take(std::min(most, (Room() + 1) / 2));
}

std::size_t Flights::Take(std::size_t given) {
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
    if (tell) changed_();
}

void Flights::TakeOff(const Task& task) {
    const SteadyPoint now = clock_.SteadyNow();
    Flight flight{.run = task.run,
                  .job_name = task.job ? task.job->name : std::string(),
                  .started_at = now,
                  .renew_at = now + lease_ / 3,
                  .overdue_at = now + task.run.policy.timeout + kOverdueSlack,
                  .stop = StopReason::kNone};
    const std::lock_guard lock(mutex_);
    reserved_ -= std::min<std::size_t>(reserved_, 1);
    under_way_.emplace(task.run.status.exec_id, std::move(flight));
}

void Flights::Named(std::string_view exec_id, std::string job_name) {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(exec_id);
    if (found != under_way_.end()) found->second.job_name = std::move(job_name);
}

void Flights::Land(const std::string& exec_id, model::Event event) {
    const SteadyPoint now = clock_.SteadyNow();
    {
        const std::lock_guard lock(mutex_);
        auto node = under_way_.extract(exec_id);
        if (node.empty()) return;
        event = AsStopped(std::move(event), node.mapped().stop);
        event.exec_id = exec_id;
        landed_.push_back(
            {.flight = std::move(node.mapped()), .event = std::move(event), .at = now});
    }
    changed_();
}

std::vector<Landing> Flights::TakeLanded() {
    const std::lock_guard lock(mutex_);
    return std::exchange(landed_, {});
}

void Flights::PutBack(std::vector<Landing> landings) {
    const std::lock_guard lock(mutex_);
    landed_.insert(landed_.begin(), std::make_move_iterator(landings.begin()),
                   std::make_move_iterator(landings.end()));
}

std::vector<store::RunEvent> Flights::Renewals(SteadyPoint now, bool all) {
    std::vector<store::RunEvent> events;
    const std::lock_guard lock(mutex_);
    for (const auto& [exec_id, flight] : under_way_) {
        if (flight.renew_at == kNever || (!all && flight.renew_at > now)) continue;
        model::Event event;
        event.kind = model::EventKind::kProgress;
        event.exec_id = exec_id;
        event.lease = lease_;
        events.push_back({.run_id = flight.run.id, .event = std::move(event)});
    }
    return events;
}

void Flights::Renewed(const std::string& exec_id, SteadyPoint asked_at) {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(exec_id);
    if (found != under_way_.end()) found->second.renew_at = asked_at + lease_ / 3;
}

void Flights::Lost(const std::string& exec_id) {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(exec_id);
    if (found != under_way_.end()) found->second.renew_at = kNever;
}

std::optional<StopReason> Flights::StopOf(const std::string& exec_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(exec_id);
    return found == under_way_.end() ? std::nullopt : std::optional(found->second.stop);
}

bool Flights::Stop(const std::string& exec_id, StopReason reason) {
    const std::lock_guard lock(mutex_);
    const auto found = under_way_.find(exec_id);
    if (found == under_way_.end() || found->second.stop != StopReason::kNone) return false;
    found->second.stop = reason;
    return true;
}

std::vector<std::string> Flights::Overdue(SteadyPoint now) {
    std::vector<std::string> overdue;
    const std::lock_guard lock(mutex_);
    for (const auto& [exec_id, flight] : under_way_) {
        if (flight.stop == StopReason::kNone && flight.overdue_at <= now)
            overdue.push_back(exec_id);
    }
    return overdue;
}

std::vector<std::string> Flights::All() const {
    std::vector<std::string> all;
    const std::lock_guard lock(mutex_);
    for (const auto& [exec_id, flight] : under_way_) all.push_back(exec_id);
    return all;
}

std::optional<Duration> Flights::UntilAttention(SteadyPoint now) const {
    const std::lock_guard lock(mutex_);
    SteadyPoint first = kNever;
    for (const auto& [exec_id, flight] : under_way_) {
        first = std::min(first, flight.renew_at);
        if (flight.stop == StopReason::kNone) first = std::min(first, flight.overdue_at);
    }
    if (first == kNever) return std::nullopt;
    return std::chrono::ceil<Duration>(std::max(first - now, SteadyPoint::duration::zero()));
}

void Flights::Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
}

void Flights::Open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
}

bool Flights::HasRoom() const {
    const std::lock_guard lock(mutex_);
    return Room() > 0;
}

std::size_t Flights::Room() const {
    const std::size_t used = under_way_.size() + landed_.size() + reserved_;
    return closed_ || used >= slots_ ? 0 : slots_ - used;
}

std::size_t Flights::UnderWay() const {
    const std::lock_guard lock(mutex_);
    return under_way_.size();
}

bool Flights::Idle() const {
    const std::lock_guard lock(mutex_);
    return under_way_.empty() && landed_.empty() && reserved_ == 0;
}

}  // namespace ksana::engine
