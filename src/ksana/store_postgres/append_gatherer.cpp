#include "ksana/store_postgres/append_gatherer.hpp"

#include <algorithm>

#include "ksana/store_postgres/fault.hpp"

namespace ksana::store_postgres {
namespace {

// One slow group is no reason to let the next one wait.
constexpr Duration kMaxTook = std::chrono::milliseconds(20);

}  // namespace

Result<void> AppendGatherer::Append(const Body& body, const Deadline& deadline) {
    Part part{.body = body, .deadline = deadline, .result = {}};
    if (Join(part)) {
        Lead(part);
        return std::move(part.result);
    }
    if (!part.bell.AwaitUntil(deadline.at())) {
        if (Leave(part)) return DeadlineFault("the calls before this one did not end").error;
        part.bell.Await();  // a group keeps to the earliest deadline
    }
    if (part.leads) Lead(part);
    return std::move(part.result);
}

// True: nobody leads, so that it has to.
bool AppendGatherer::Join(Part& part) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&part);
    if (leader_ == nullptr) {
        leader_ = &part;
        return true;
    }
    if (gathering_ && waiting_.size() >= company_) {
        gathering_ = false;
        leader_->bell.Ring();
    }
    return false;
}

// False: too late, its bell will ring.
bool AppendGatherer::Leave(Part& part) {
    const std::lock_guard lock(mutex_);
    if (part.taken || leader_ == &part) return false;
    std::erase(waiting_, &part);
    return true;
}

// Those who have waited longest.
AppendGatherer::Parts AppendGatherer::Gather(Part& leader) {
    std::unique_lock lock(mutex_);
    if (waiting_.size() < company_) {
        gathering_ = true;
        const Duration patience = last_took_ / kPatience;
        lock.unlock();
        leader.bell.AwaitUntil(clock_.SteadyNow() + patience);
        lock.lock();
        gathering_ = false;
    }
    // The leader leads its own group, however many were before it.
    std::erase(waiting_, &leader);
    Parts parts = {&leader};
    while (!waiting_.empty() && parts.size() < kMaxGroup) {
        parts.push_back(waiting_.front());
        waiting_.pop_front();
    }
    for (Part* part : parts) part->taken = true;
    return parts;
}

// Who leads next, if somebody waits: the leader itself, if it is not done. What is left of the
// group has waited longest.
AppendGatherer::Part* AppendGatherer::HandOver(Part& leader, const Led& led) {
    const std::lock_guard lock(mutex_);
    last_took_ = std::min(led.took, kMaxTook);
    for (Part* part : led.rest) part->taken = false;
    waiting_.insert(waiting_.begin(), led.rest.begin(), led.rest.end());
    company_ = std::min(led.parts.size() + waiting_.size(), kMaxGroup);
    if (std::ranges::find(led.rest, &leader) != led.rest.end()) return leader_;
    leader_ = waiting_.empty() ? nullptr : waiting_.front();
    if (leader_ != nullptr) leader_->leads = true;
    return leader_;
}

void AppendGatherer::Lead(Part& leader) {
    while (!LeadGroup(leader)) {
    }
}

// False: the leader is not done. The next leader is woken first: it starts while the others of this
// group are told.
bool AppendGatherer::LeadGroup(Part& leader) {
    prepare_(leader.deadline);
    Led led{.parts = Gather(leader), .rest = {}, .took = {}};
    const SteadyPoint start = clock_.SteadyNow();
    led.rest = run_(led.parts);
    led.took = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - start);
    // Who was given back is another's from here on.
    std::erase_if(led.parts,
                  [&](Part* part) { return std::ranges::find(led.rest, part) != led.rest.end(); });
    Part* const next = HandOver(leader, led);
    if (next != nullptr && next != &leader) next->bell.Ring();
    for (Part* part : led.parts) {
        if (part != &leader) part->bell.Ring();
    }
    return next != &leader;
}

}  // namespace ksana::store_postgres
