#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ksana/base/ids/random.hpp"
#include "ksana/base/process/mutex.hpp"
#include "ksana/base/time/clock.hpp"
#include "ksana/broker/broker.hpp"

namespace ksana::broker {

// What goes wrong, in chances out of a thousand; the Random of the broker decides.
struct MemoryFaults {
    std::uint32_t lose = 0;        // a message is confirmed and lost
    std::uint32_t refuse = 0;      // a message is refused as if the queue was full
    std::uint32_t unknown = 0;     // a message has no answer; it is stored, or not
    std::uint32_t repeat = 0;      // a delivered message stays in the queue as well
    std::uint32_t reorder = 0;     // any message of the queue is delivered instead of the first
    std::uint32_t break_link = 0;  // a call ends the link
};

class MemoryLink;

// A broker inside the process: the contract of Link without a network and without threads. For
// tests and the simulator. Thread-safe; `clock` and `random` must outlive it, and `random` is used
// by whichever thread calls. A Receive waits by the clock; with a wait of 0 it never does. A
// Publish never waits: to a blocked broker it is kUnknown at once. Unlike RabbitMQ it gives a link
// its deliveries when it asks for them, and adds no headers to dead letters.
class MemoryBroker final : public Broker {
  public:
    MemoryBroker(Clock& clock, Random& random);
    ~MemoryBroker() override;

    Result<std::unique_ptr<Link>> Open(std::string_view purpose) override;
    const std::string& name() const override { return name_; }

    void SetFaults(const MemoryFaults& faults) KSANA_EXCLUDES(mutex_);
    void SetBlocked(bool blocked) KSANA_EXCLUDES(mutex_);
    // Unreachable: links break, Open fails.
    void SetDown(bool down) KSANA_EXCLUDES(mutex_);
    void BreakLinks() KSANA_EXCLUDES(mutex_);
    // Breaks the links and loses transient messages, as a restart does.
    void Restart() KSANA_EXCLUDES(mutex_);
    // Deletes the queue with its messages; its consumers are told.
    void Delete(const std::string& queue) KSANA_EXCLUDES(mutex_);

  private:
    friend class MemoryLink;

    // Higher priority first, then in the order of arrival.
    using Place = std::pair<std::int32_t, std::uint64_t>;
    struct Stored {
        Message message;
        bool transient = false;
        bool redelivered = false;
    };
    struct Queue {
        QueueSpec spec;
        const MemoryLink* owner = nullptr;  // of an exclusive queue
        std::map<Place, Stored> waiting;
        std::set<MemoryLink*> consumers;
    };

    bool Happens(std::uint32_t chance) KSANA_REQUIRES(mutex_);
    // Whether the queue is full.
    static bool Full(const Queue& queue);
    void Put(Queue& queue, Stored message) KSANA_REQUIRES(mutex_);
    void PutBack(Queue& queue, const Place& place, Stored message) KSANA_REQUIRES(mutex_);
    void DeadLetter(const Queue& queue, Stored message) KSANA_REQUIRES(mutex_);
    void EndQueue(std::map<std::string, Queue>::iterator queue) KSANA_REQUIRES(mutex_);
    void BreakAll() KSANA_REQUIRES(mutex_);

    Clock& clock_;
    Random& random_;
    const std::string name_ = "memory:";
    Mutex mutex_;
    MemoryFaults faults_ KSANA_GUARDED_BY(mutex_);
    bool blocked_ KSANA_GUARDED_BY(mutex_) = false;
    bool down_ KSANA_GUARDED_BY(mutex_) = false;
    std::uint64_t arrivals_ KSANA_GUARDED_BY(mutex_) = 0;
    std::map<std::string, Queue> queues_ KSANA_GUARDED_BY(mutex_);
    std::set<MemoryLink*> links_ KSANA_GUARDED_BY(mutex_);
};

}  // namespace ksana::broker
