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
        part.bell.Await();  // the group keeps to the earliest deadline
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

// Who leads next, if somebody waits.
AppendGatherer::Part* AppendGatherer::HandOver(const Parts& parts, Duration took) {
    const std::lock_guard lock(mutex_);
    last_took_ = std::min(took, kMaxTook);
    company_ = std::min(parts.size() + waiting_.size(), kMaxGroup);
    leader_ = waiting_.empty() ? nullptr : waiting_.front();
    if (leader_ != nullptr) leader_->leads = true;
    return leader_;
}

// The next leader is woken first: it starts while the others of this group are told.
void AppendGatherer::Lead(Part& leader) {
    prepare_(leader.deadline);
    const Parts parts = Gather(leader);
    const SteadyPoint start = clock_.SteadyNow();
    run_(parts);
    const auto took = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - start);
    if (Part* next = HandOver(parts, took)) next->bell.Ring();
    for (Part* part : parts) {
        if (part == &leader) continue;
        part->leads = false;
        part->bell.Ring();
    }
}

}  // namespace ksana::store_postgres
