#include "ksana/broker/memory_link.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ksana/broker/check.hpp"

namespace ksana::broker {

MemoryLink::~MemoryLink() {
    const MutexLock lock(broker_.mutex_);
    Break();
}

void MemoryLink::Break() {
    if (broken_) return;
    broken_ = true;
    broker_.links_.erase(this);
    for (const std::string& name : consumed_) {
        const auto queue = broker_.queues_.find(name);
        if (queue != broker_.queues_.end()) queue->second.consumers.erase(this);
    }
    for (auto& [tag, taken] : unacknowledged_) {
        const auto queue = broker_.queues_.find(taken.queue);
        if (queue == broker_.queues_.end()) continue;
        taken.stored.redelivered = true;
        broker_.PutBack(queue->second, taken.place, std::move(taken.stored));
    }
    unacknowledged_.clear();
    for (auto queue = broker_.queues_.begin(); queue != broker_.queues_.end();) {
        const auto next = std::next(queue);
        if (queue->second.owner == this) broker_.EndQueue(queue);
        queue = next;
    }
    wakeup_.Notify();
}

Result<void> MemoryLink::Use() {
    if (!broken_ && broker_.Happens(broker_.faults_.break_link)) Break();
    if (broken_) return Error(Code::kUnavailable, "the link to the broker memory: is broken");
    return {};
}

Result<MemoryBroker::Queue*> MemoryLink::Find(const std::string& name) {
    const auto queue = broker_.queues_.find(name);
    if (queue == broker_.queues_.end()) {
        return Error(Code::kNotFound, fmt::format("the broker has no queue {}", name));
    }
    if (queue->second.owner != nullptr && queue->second.owner != this) {
        return Error(Code::kConflict, fmt::format("the queue {} belongs to another link", name));
    }
    return &queue->second;
}

Result<void> MemoryLink::Declare(const QueueSpec& queue) {
    KSANA_TRY_VOID(CheckQueue(queue));
    const MutexLock lock(broker_.mutex_);
    KSANA_TRY_VOID(Use());
    const auto found = Find(queue.name);
    if (!found && found.error().code == Code::kNotFound) {
        MemoryBroker::Queue made{.spec = queue, .owner = nullptr, .waiting = {}, .consumers = {}};
        if (queue.exclusive) made.owner = this;
        broker_.queues_.emplace(queue.name, std::move(made));
        return {};
    }
    if (!found) return found.error();
    const QueueSpec& spec = (*found)->spec;
    const char* const differs = spec.max_priority != queue.max_priority   ? "max_priority"
                                : spec.max_length != queue.max_length     ? "max_length"
                                : spec.dead_letters != queue.dead_letters ? "dead_letters"
                                : spec.exclusive != queue.exclusive       ? "exclusive"
                                                                          : nullptr;
    if (differs == nullptr) return {};
    return Error(Code::kConflict,
                 fmt::format("the queue {} exists with another {}", queue.name, differs));
}

Result<QueueState> MemoryLink::Inspect(const std::string& queue) {
    KSANA_TRY_VOID(CheckQueueName(queue));
    const MutexLock lock(broker_.mutex_);
    KSANA_TRY_VOID(Use());
    KSANA_TRY(const MemoryBroker::Queue* const found, Find(queue));
    return QueueState{.messages = found->waiting.size(), .consumers = found->consumers.size()};
}

Result<void> MemoryLink::Purge(const std::string& queue) {
    KSANA_TRY_VOID(CheckQueueName(queue));
    const MutexLock lock(broker_.mutex_);
    KSANA_TRY_VOID(Use());
    KSANA_TRY(MemoryBroker::Queue* const found, Find(queue));
    found->waiting.clear();
    return {};
}

PublishVerdict MemoryLink::Store(const OutMessage& out) {
    const auto queue = broker_.queues_.find(out.queue);
    if (queue == broker_.queues_.end()) {
        return out.transient ? PublishVerdict::kStored : PublishVerdict::kNoQueue;
    }
    const MemoryFaults faults = broker_.faults_;
    if (MemoryBroker::Full(queue->second) || broker_.Happens(faults.refuse)) {
        return PublishVerdict::kRefused;
    }
    const bool unknown = broker_.Happens(faults.unknown);
    const bool lost = unknown ? broker_.random_.Below(2) == 0 : broker_.Happens(faults.lose);
    if (!lost) {
        broker_.Put(queue->second, {.message = out.message, .transient = out.transient});
    }
    return unknown ? PublishVerdict::kUnknown : PublishVerdict::kStored;
}

Result<std::vector<PublishVerdict>> MemoryLink::Publish(const std::vector<OutMessage>& messages,
                                                        Duration /*within*/) {
    KSANA_TRY_VOID(CheckMessages(messages));
    const MutexLock lock(broker_.mutex_);
    KSANA_TRY_VOID(Use());
    std::vector<PublishVerdict> verdicts(messages.size(), PublishVerdict::kUnknown);
    if (broker_.blocked_) return verdicts;
    for (std::size_t i = 0; i < messages.size(); ++i) {
        // The first was sent at least, so the call does not fail; whether others arrived is open.
        if (i > 0 && !Use()) return verdicts;
        verdicts[i] = Store(messages[i]);
    }
    return verdicts;
}

Result<void> MemoryLink::Consume(const std::string& queue, std::size_t prefetch) {
    KSANA_TRY_VOID(CheckQueueName(queue));
    KSANA_TRY_VOID(CheckPrefetch(prefetch));
    const MutexLock lock(broker_.mutex_);
    KSANA_TRY_VOID(Use());
    KSANA_TRY(MemoryBroker::Queue* const found, Find(queue));
    prefetch_ = prefetch;
    found->consumers.insert(this);
    consumed_.insert(queue);
    return {};
}

Result<void> MemoryLink::StopConsuming() {
    const MutexLock lock(broker_.mutex_);
    KSANA_TRY_VOID(Use());
    for (const std::string& name : consumed_) {
        const auto queue = broker_.queues_.find(name);
        if (queue != broker_.queues_.end()) queue->second.consumers.erase(this);
    }
    consumed_.clear();
    return {};
}

// Whether Take would return something.
bool MemoryLink::HasMessages() const {
    if (unacknowledged_.size() >= prefetch_) return false;
    for (const std::string& name : consumed_) {
        const auto queue = broker_.queues_.find(name);
        if (queue != broker_.queues_.end() && !queue->second.waiting.empty()) return true;
    }
    return false;
}

Delivery MemoryLink::TakeFrom(MemoryBroker::Queue& queue) {
    auto first = queue.waiting.begin();
    if (queue.waiting.size() > 1 && broker_.Happens(broker_.faults_.reorder)) {
        std::advance(first, broker_.random_.Below(queue.waiting.size()));
    }
    const bool repeats = broker_.Happens(broker_.faults_.repeat);
    Unacknowledged taken{.queue = queue.spec.name, .place = first->first, .stored = first->second};
    if (repeats) {
        first->second.redelivered = true;
    } else {
        queue.waiting.erase(first);
    }
    Delivery delivery{.message = taken.stored.message,
                      .tag = ++last_tag_,
                      .redelivered = taken.stored.redelivered};
    unacknowledged_.emplace(delivery.tag, std::move(taken));
    return delivery;
}

std::vector<Delivery> MemoryLink::Take(std::size_t most) {
    std::vector<Delivery> deliveries;
    std::size_t bytes = 0;
    for (bool found = true; found && bytes < kMaxReceivedBytes;) {
        found = false;
        for (const std::string& name : consumed_) {
            MemoryBroker::Queue& queue = broker_.queues_.at(name);
            if (deliveries.size() == most || unacknowledged_.size() >= prefetch_) {
                return deliveries;
            }
            if (queue.waiting.empty() || bytes >= kMaxReceivedBytes) continue;
            deliveries.push_back(TakeFrom(queue));
            bytes += deliveries.back().message.body.size();
            found = true;
        }
    }
    return deliveries;
}

Result<std::vector<Delivery>> MemoryLink::Receive(Duration wait, std::size_t most) {
    const SteadyPoint deadline = broker_.clock_.SteadyNow() + wait;
    for (;;) {
        MutexLock lock(broker_.mutex_);
        KSANA_TRY_VOID(Use());
        std::vector<Delivery> deliveries = Take(most);
        if (!deliveries.empty() || (most == 0 && HasMessages())) return deliveries;
        if (ended_) return *std::exchange(ended_, std::nullopt);
        if (std::exchange(interrupted_, false)) return deliveries;
        lock.Unlock();
        if (wait <= Duration::zero()) return deliveries;
        if (broker_.clock_.Wait(wakeup_, deadline, {}) == WaitOutcome::kDeadline) {
            wait = Duration::zero();  // looks once more
        }
    }
}

Result<void> MemoryLink::Acknowledge(const std::vector<std::uint64_t>& tags) {
    const MutexLock lock(broker_.mutex_);
    KSANA_TRY_VOID(Use());
    for (const std::uint64_t tag : tags) unacknowledged_.erase(tag);
    return {};
}

Result<void> MemoryLink::Reject(const std::vector<std::uint64_t>& tags, bool requeue) {
    const MutexLock lock(broker_.mutex_);
    KSANA_TRY_VOID(Use());
    for (const std::uint64_t tag : tags) {
        auto taken = unacknowledged_.extract(tag);
        if (taken.empty()) continue;
        const auto queue = broker_.queues_.find(taken.mapped().queue);
        if (queue == broker_.queues_.end()) continue;
        MemoryBroker::Stored& stored = taken.mapped().stored;
        if (requeue) {
            stored.redelivered = true;
            broker_.PutBack(queue->second, taken.mapped().place, std::move(stored));
        } else {
            broker_.DeadLetter(queue->second, std::move(stored));
        }
    }
    return {};
}

void MemoryLink::Interrupt() {
    const MutexLock lock(broker_.mutex_);
    interrupted_ = true;
    wakeup_.Notify();
}

bool MemoryLink::blocked() const {
    const MutexLock lock(broker_.mutex_);
    return broker_.blocked_;
}

}  // namespace ksana::broker
