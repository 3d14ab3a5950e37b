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
    std::unique_lock lock(mutex_);
    waiting_.push_back(&part);
    if (leader_ != nullptr && !leader_->taken && waiting_.size() >= company_) {
        leader_->changed.notify_one();
    }
    while (!part.done) {
        if (!part.taken && leader_ == nullptr) {
            Lead(part, lock);
        } else if (part.taken) {
            part.changed.wait(lock);  // the group keeps to the earliest deadline
        } else if (part.changed.wait_for(lock, deadline.Remaining()) == std::cv_status::timeout &&
                   !part.taken) {
            std::erase(waiting_, &part);
            return DeadlineFault("the calls before this one did not end").error;
        }
    }
    return std::move(part.result);
}

void AppendGatherer::AwaitCompany(Part& leader, std::unique_lock<std::mutex>& lock) {
    leader.changed.wait_for(lock, last_took_ / kPatience,
                            [this] { return waiting_.size() >= company_; });
}

// Runs the group of those who have waited longest; then somebody else may lead.
void AppendGatherer::Lead(Part& leader, std::unique_lock<std::mutex>& lock) {
    leader_ = &leader;
    if (company_ > 1) AwaitCompany(leader, lock);
    const std::size_t count = std::min(waiting_.size(), kMaxGroup);
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
    const Parts parts(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    for (Part* part : parts) part->taken = true;
    company_ = parts.size();
    lock.unlock();
    const SteadyPoint start = clock_.SteadyNow();
    run_(parts);
    const auto took = std::chrono::duration_cast<Duration>(clock_.SteadyNow() - start);
    lock.lock();
    last_took_ = std::min<Duration>(took, kMaxTook);
    leader_ = nullptr;
    for (Part* part : parts) {
        part->done = true;
        part->changed.notify_one();
    }
    if (!waiting_.empty()) waiting_.front()->changed.notify_one();
}

}  // namespace ksana::store_postgres
