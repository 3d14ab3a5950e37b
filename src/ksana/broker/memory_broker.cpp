#include "ksana/broker/memory_broker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ksana/broker/memory_link.hpp"

namespace ksana::broker {

MemoryBroker::MemoryBroker(Clock& clock, Random& random) : clock_(clock), random_(random) {}

MemoryBroker::~MemoryBroker() = default;

Result<std::unique_ptr<Link>> MemoryBroker::Open(std::string_view /*purpose*/) {
    auto link = std::make_unique<MemoryLink>(*this);
    const MutexLock lock(mutex_);
    if (down_) return Error(Code::kUnavailable, "the broker memory: is down");
    links_.insert(link.get());
    return std::unique_ptr<Link>(std::move(link));
}

void MemoryBroker::SetFaults(const MemoryFaults& faults) {
    const MutexLock lock(mutex_);
    faults_ = faults;
}

void MemoryBroker::SetBlocked(bool blocked) {
    const MutexLock lock(mutex_);
    blocked_ = blocked;
}

void MemoryBroker::SetDown(bool down) {
    const MutexLock lock(mutex_);
    down_ = down;
    if (down) BreakAll();
}

void MemoryBroker::BreakLinks() {
    const MutexLock lock(mutex_);
    BreakAll();
}

void MemoryBroker::Restart() {
    const MutexLock lock(mutex_);
    BreakAll();
    for (auto& [name, queue] : queues_) {
        std::erase_if(queue.waiting, [](const auto& entry) { return entry.second.transient; });
    }
}

void MemoryBroker::Delete(const std::string& queue) {
    const MutexLock lock(mutex_);
    if (const auto found = queues_.find(queue); found != queues_.end()) EndQueue(found);
}

void MemoryBroker::BreakAll() {
    const std::set<MemoryLink*> links = links_;
    for (MemoryLink* const link : links) link->Break();
}

bool MemoryBroker::Happens(std::uint32_t chance) {
    return chance > 0 && random_.Below(1000) < chance;
}

bool MemoryBroker::Full(const Queue& queue) {
    return queue.spec.max_length > 0 && queue.waiting.size() >= queue.spec.max_length;
}

void MemoryBroker::Put(Queue& queue, Stored message) {
    const std::int32_t rank = std::clamp(message.message.priority, 0, queue.spec.max_priority);
    PutBack(queue, {-rank, ++arrivals_}, std::move(message));
}

void MemoryBroker::PutBack(Queue& queue, const Place& place, Stored message) {
    // A repeated message may still be at its place.
    if (!queue.waiting.try_emplace(place, std::move(message)).second) return;
    for (MemoryLink* const consumer : queue.consumers) consumer->wakeup_.Notify();
}

void MemoryBroker::DeadLetter(const Queue& queue, Stored message) {
    const auto letters = queues_.find(queue.spec.dead_letters);
    if (letters == queues_.end() || Full(letters->second)) return;
    message.redelivered = false;
    Put(letters->second, std::move(message));
}

void MemoryBroker::EndQueue(std::map<std::string, Queue>::iterator queue) {
    for (MemoryLink* const consumer : queue->second.consumers) {
        consumer->consumed_.erase(queue->first);
        consumer->ended_ = Error(Code::kConflict,
                                 fmt::format("the broker ended the consumer of {}", queue->first));
        consumer->wakeup_.Notify();
    }
    queues_.erase(queue);
}

}  // namespace ksana::broker
