#include "ksana/engine/limits/limit_queue.hpp"

#include <algorithm>
#include <iterator>

#include "ksana/model/run/claim_order.hpp"

namespace ksana::engine {
namespace {

// The most attempts in all lines together: each holds a lease that must be renewed.
constexpr std::size_t kMostWaiting = 2'000;

// The claim order, but by the run's nominal or creation time: an attempt that was sent away and
// comes back stands before those that came meanwhile.
std::int64_t RankOf(const model::Run& run) {
    return model::ClaimRank(run.nominal_at.value_or(run.created_at), run.priority);
}

}  // namespace

void LimitQueue::Advance(SteadyPoint now, AdmissionResult& admission) {
    std::vector<std::string> keys;
    keys.reserve(lines_.size());
    for (const auto& [key, line] : lines_) keys.push_back(key);
    for (const std::string& key : keys) Advance(key, now, admission);
}

// If another limit refuses the first attempt of a line, the attempt moves to the line of that
// limit, so that it does not block those behind it.
void LimitQueue::Advance(const std::string& key, SteadyPoint now, AdmissionResult& admission) {
    while (admission.room > 0 && !shut(now)) {
        const auto line = lines_.find(key);
        if (line == lines_.end()) return;
        const auto first = line->second.waiters.begin();
        LimitTracker::Answer answer = limits_.TryTake(first->second.subject, now);
        if (answer.kind == LimitTracker::Answer::Kind::kWaits && answer.key == key) {
            line->second.again = answer.again;
            first->second.breaker = answer.breaker;
            return;
        }
        Waiter waiter = Take(line, first);
        if (answer.kind != LimitTracker::Answer::Kind::kGranted) {
            Refuse(std::move(waiter), answer, now, admission);
            continue;
        }
        --admission.room;
        admission.admitted.push_back({.attempt = std::move(waiter.attempt),
                                      .ticket = std::move(answer.ticket),
                                      .waited = true});
    }
}

// Advance has just seen that the limit of each line refuses its first attempt. It refuses a new
// attempt too, so no waiting attempt is overtaken.
void LimitQueue::Enter(AttemptPointer attempt, SteadyPoint now, AdmissionResult& admission) {
    LimitSubject subject = SubjectOf(*attempt);
    LimitTracker::Answer answer = limits_.TryTake(subject, now);
    if (answer.kind == LimitTracker::Answer::Kind::kGranted) {
        --admission.room;
        admission.admitted.push_back(
            {.attempt = std::move(attempt), .ticket = std::move(answer.ticket)});
        return;
    }
    Refuse({.attempt = std::move(attempt), .subject = std::move(subject)}, answer, now, admission);
}

void LimitQueue::Refuse(Waiter waiter, const LimitTracker::Answer& answer, SteadyPoint now,
                        AdmissionResult& admission) {
    const model::Run& run = waiter.attempt->run;
    if (answer.kind == LimitTracker::Answer::Kind::kLater) {
        const model::WaitCause cause{
            .reason = model::WaitReason::kBreakerOpen, .key = answer.key, .before = 0};
        admission.given_back.push_back(
            {.attempt = std::move(waiter.attempt), .cause = cause, .after = answer.after});
        return;
    }
    waiter.breaker = answer.breaker;
    if (size() >= kMostWaiting) return GiveBack(waiter, answer.key, now, admission);
    const Place place(RankOf(run), run.id, run.status.fence);
    Line& line = lines_[answer.key];
    line.again = std::min(line.again, answer.again);
    places_.emplace(run.status.exec_id, std::pair(answer.key, place));
    line.waiters.emplace(place, std::move(waiter));
    if (line.waiters.size() <= limits_.MayWait(answer.key)) return;
    const auto found = lines_.find(answer.key);
    GiveBack(Take(found, std::prev(found->second.waiters.end())), answer.key, now, admission);
}

void LimitQueue::GiveBack(const Waiter& waiter, const std::string& key, SteadyPoint now,
                          AdmissionResult& admission) {
    const auto line = lines_.find(key);
    const std::size_t waiting = line == lines_.end() ? 0 : line->second.waiters.size();
    const LimitTracker::Place place = limits_.TakePlace(key, waiting, now);
    admission.given_back.push_back(
        {.attempt = waiter.attempt,
         .cause = {.reason = waiter.breaker ? model::WaitReason::kBreakerOpen
                                            : model::WaitReason::kLimited,
                   .key = key,
                   .before = static_cast<std::int64_t>(place.before)},
         .after = place.after});
}

LimitQueue::Waiter LimitQueue::Take(Lines::iterator line,
                                    std::map<Place, Waiter>::iterator waiter) {
    Waiter taken = std::move(waiter->second);
    places_.erase(taken.attempt->run.status.exec_id);
    line->second.waiters.erase(waiter);
    if (line->second.waiters.empty()) lines_.erase(line);
    return taken;
}

SteadyPoint LimitQueue::NextAt() const {
    SteadyPoint next = SteadyPoint::max();
    for (const auto& [key, line] : lines_) next = std::min(next, line.again);
    return next;
}

void LimitQueue::Remove(const ActiveAttempt& attempt) {
    const auto place = places_.find(attempt.run.status.exec_id);
    if (place == places_.end()) return;
    const auto line = lines_.find(place->second.first);
    Take(line, line->second.waiters.find(place->second.second));
}

std::vector<AttemptPointer> LimitQueue::TakeAll() {
    std::vector<AttemptPointer> all;
    for (auto& [key, line] : lines_) {
        for (auto& [place, waiter] : line.waiters) all.push_back(std::move(waiter.attempt));
    }
    lines_.clear();
    places_.clear();
    return all;
}

std::optional<model::WaitCause> LimitQueue::CauseOf(const ActiveAttempt& attempt) const {
    const auto place = places_.find(attempt.run.status.exec_id);
    if (place == places_.end()) return std::nullopt;
    const Line& line = lines_.at(place->second.first);
    const auto waiter = line.waiters.find(place->second.second);
    return model::WaitCause{.reason = waiter->second.breaker ? model::WaitReason::kBreakerOpen
                                                             : model::WaitReason::kLimited,
                            .key = place->second.first,
                            .before = std::distance(line.waiters.begin(), waiter)};
}

std::map<std::string, std::size_t> LimitQueue::Lengths() const {
    std::map<std::string, std::size_t> lengths;
    for (const auto& [key, line] : lines_) lengths.emplace(key, line.waiters.size());
    return lengths;
}

}  // namespace ksana::engine
